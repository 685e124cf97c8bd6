#include "tc/engine/graph/compile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

namespace tc::engine {
namespace {

TEST(Compile, CancelledCompile) {
  ExecutionEngine engine;
  engine.define(mm);
  CompileOptions options;
  options.stages.cancellation.cancel();
  ExecutionEngine::Specs specs{contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})};
  EXPECT_ERROR(engine.compile("mm", specs, {}, options), CancelledError, "cancelled in the compiler");
  CompileOptions limited;
  limited.time_limit = 1e-9;
  EXPECT_ERROR(engine.compile("mm", specs, {}, limited), ResourceError, "the time limit was reached in the compiler");
  engine.compile("mm", specs);
}

TEST(Compile, MemoryLimit) {
  auto module = define(mm);
  CompileOptions options;
  options.memory_limit = 16 << 20;
  options.stages.mutate = [hoard = std::make_shared<std::vector<char>>()](const std::string& stage, CompileState&) {
    if (stage == "lower") hoard->assign(64 << 20, 1);
  };
  auto text = message<ResourceError>([&] {
    compile(module.functions[0], {contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})}, {}, options);
  });
  EXPECT_NE(text.find("memory limit of 16777216 bytes"), std::string::npos) << text;
}

/// Compiles for extents around 2^30 to 2^32 end, and keep all laws: no size passes through 32 bits.
TEST(Compile, ExtentsAroundPowersOfTwo) {
  const char* const texts[] = {
      "def f(int8(N) X) -> (Y) { Y(i) = X(i) + int8(1) }",
      "def f(int8(N) X) -> (Y) { Y() +=! X(i) }",
      "def f(int8(N) X) -> (Y) { Y(i) = X(N - 1 - i) }",
      "def f(int8(N, 2) X) -> (Y) { Y(i) max=! X(i, j) }",
      "def f(int8(2, N) X) -> (Y) { Y(i, j) = X(j % 2, j) where i in 0:2, j in 0:N }",
      "def f(int8(3, N) X, int8(3) W) -> (Y) { Y(i) +=! X(k, i) * W(k) }",
      "def f(int8(N) X) -> (Y) { T(i) = X(i) * int8(3)  Y(i) = i > 0 ? T(i - 1) : int8(0) where i in 0:N }",
  };
  for (const char* text : texts)
    for (std::int64_t extent : {(1LL << 30) + 1, (1LL << 31) - 1, (1LL << 32) + 3}) {
      SCOPED_TRACE(str(text, ", N = ", extent));
      auto function = define(text).functions[0];
      std::vector<TensorSpec> inputs;
      for (const auto& param : function->def.params) {
        std::vector<std::int64_t> shape;
        for (const auto& dim : *param.dims) {
          const auto* number = std::get_if<lang::IntLiteral>(&dim->node);
          shape.push_back(number ? static_cast<std::int64_t>(number->value) : extent);
        }
        inputs.push_back(contiguous(DType::Int8, shape));
      }
      EXPECT_NO_THROW(compile(function, inputs, {}, checked()));
      auto on_gpu = checked();
      on_gpu.target = Target::parse("cuda:sm_80");
      if (extent > INT32_MAX) {
        EXPECT_NO_THROW(compile(function, inputs, {}, on_gpu));
      }
    }
}

TEST(Compile, DumpsAreNumberedInOrder) {
  auto module = define(mm);
  auto folder = std::filesystem::temp_directory_path() / str("tc_engine_dump_", ::getpid());
  CompileOptions options;
  options.stages.dump_directory = folder;
  compile(module.functions[0], {contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})}, {}, options);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "mm")) names.insert(entry.path().filename());
  std::set<std::string> expected;
  for (const auto& stage : stage_names(Target::parse("cpu"))) {
    auto number = expected.size();
    if (stage != "emit") expected.insert(str(number < 10 ? "0" : "", number, "_", stage, ".txt"));
  }
  EXPECT_EQ(join(names, " "), join(expected, " "));
  std::filesystem::remove_all(folder);
}

TEST(Compile, AScheduleThatBreaksALawIsRefused) {
  auto module = define(mm);
  auto options = checked();
  options.stages.replace["schedule"] = R"(
domain: "{ S0[m, n] : 0 <= m <= 1 and 0 <= n <= 1; S1[m, n, k] : 0 <= m <= 1 and 0 <= n <= 1 and 0 <= k <= 2 }"
child:
  sequence:
  - filter: "{ S1[m, n, k] }"
    child:
      schedule: "[{ S1[m, n, k] -> [(m)] }, { S1[m, n, k] -> [(n)] }, { S1[m, n, k] -> [(k)] }]"
  - filter: "{ S0[m, n] }"
    child:
      schedule: "[{ S0[m, n] -> [(m)] }, { S0[m, n] -> [(n)] }]"
)";
  for (bool verified : {false, true}) {
    if (!verified) options.stages.verify = false;
    auto text = message<OptionsError>([&] {
      compile(module.functions[0], {contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})}, {},
              options);
    });
    EXPECT_NE(text.find("dependences"), std::string::npos) << text;
  }
}

TEST(Compile, ACacheHoldsTheExecutablesThatWereAskedForLast) {
  ExecutableCache cache(2);
  auto module = define(mm);
  const auto made = [&](std::int64_t size) {
    return compile_cached(cache, module.functions[0], {count_up({size, 3}), count_up({3, 4})});
  };
  std::weak_ptr<const Executable> first = made(2), second = made(3);
  const auto held = made(4);
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(made(3), second.lock());
  made(5), made(6);
  EXPECT_TRUE(second.expired());
  EXPECT_EQ(made(4), held) << "one that somebody holds is not compiled again";
  EXPECT_LE(cache.size(), 3u);
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
}

/// The memory areas of this process.
long mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

/// The linker holds a program in two areas, for its code and for its data.
TEST(Compile, ThePagesOfProgramsThatAreLetGoOfAreGivenBack) {
  ExecutableCache cache(2);
  auto module = define("def f(float(N) X) -> (Y) { Y(i) = X(i) + 1 }");
  const auto make = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t size = first; size < last; ++size) compile_cached(cache, module.functions[0], {count_up({size})});
  };
  make(1, 5);
  const long before = mappings();
  make(5, 25);
  EXPECT_LT(mappings(), before + 20);
}

TEST(Compile, ThreadsThatAskForOneKeyShareOneCompile) {
  ExecutableCache cache;
  auto module = define(mm);
  auto a = count_up({6, 7}), b = count_up({7, 8});
  std::vector<ExecutableCache::Entry> entries(4);
  std::vector<std::thread> threads;
  for (auto& entry : entries) threads.emplace_back([&] { entry = compile_cached(cache, module.functions[0], {a, b}); });
  for (auto& thread : threads) thread.join();
  for (auto& entry : entries) EXPECT_EQ(entry, entries[0]);
  EXPECT_EQ(cache.size(), 1u);
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
}

TEST(Compile, EqualProgramsShareACompile) {
  ExecutableCache cache;
  auto a = count_up({6, 7}), b = count_up({7, 8});
  auto first = define(mm), second = define("def mm(float(P,Q) A, float(Q,R) B) -> (C) { C(i,j) +=! A(i,l) * B(l,j) }");
  auto renamed = define("def mm(float(P,Q) X, float(Q,R) B) -> (C) { C(i,j) +=! X(i,l) * B(l,j) }");
  EXPECT_EQ(compile_cached(cache, first.functions[0], {a, b}), compile_cached(cache, second.functions[0], {a, b}));
  EXPECT_EQ(compile_cached(cache, renamed.functions[0], {a, b})->image().arguments[0].name, "X");
}

TEST(Compile, ThreadsCompileAndRunAtOnce) {
  ExecutionEngine engine;
  engine.define(mm);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto a = count_up({3 + t % 2, 5}), b = count_up({5, 4});
      Floats c({3 + t % 2, 4});
      auto handle = engine.compile("mm", ExecutionEngine::Specs{a, b});
      for (int i = 0; i < 50; ++i) {
        engine.run(handle, {a, b}, {c});
        if (c.values != product(a, b)) ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Compile, AnExecutableIsSavedAndLoaded) {
  auto module = define(mm);
  auto a = count_up({5, 7}), b = count_up({7, 9});
  auto executable = compile(module.functions[0], {a, b}, {}, checked());
  auto bytes = executable->image().serialise();
  Executable loaded(Image::deserialise(bytes));
  Floats c({5, 9});
  loaded.run(std::vector<TensorView>{a, b}, std::vector<TensorView>{c});
  EXPECT_EQ(c.values, product(a, b));
  EXPECT_ERROR(Image::deserialise(bytes.substr(0, bytes.size() - 1)), ArgumentError,
               "the bytes of an executable are damaged");
  EXPECT_ERROR(Image::deserialise("nonsense"), ArgumentError,
               "these are not the bytes of an executable of this version");
  for (std::size_t i = 0; i < bytes.size(); i += 97) {
    auto damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_ERROR(Image::deserialise(damaged), ArgumentError, " of an executable") << "at byte " << i;
  }
}

TEST(Compile, StageTextsAndReplacedSchedule) {
  ExecutionEngine engine;
  engine.define(mm);
  auto a = count_up({5, 7}), b = count_up({7, 9});
  auto handle = engine.compile("mm", ExecutionEngine::Specs{a, b});
  std::vector<std::string> names;
  std::string schedule;
  for (const auto& record : engine.stage_texts(handle)) {
    names.push_back(record.name);
    if (record.name == "schedule") schedule = record.text;
  }
  EXPECT_EQ(join(names, " "), "parse check inline infer " + join(stage_names(Target::parse("cpu")), " ") + " build");
  auto options = checked();
  options.stages.replace["schedule"] = schedule;
  Floats c({5, 9});
  engine.run(engine.compile("mm", ExecutionEngine::Specs{a, b}, {}, options), {a, b}, {c});
  EXPECT_EQ(c.values, product(a, b));
  options.stages.replace["schedule"] = "not a tree";
  EXPECT_ERROR(engine.compile("mm", ExecutionEngine::Specs{a, b}, {}, options), OptionsError,
               "the replacement of stage 'schedule' is not a schedule tree: ");
}

TEST(Compile, ASmallQuotaFallsBackToASimplerSchedule) {
  auto module = define(mm);
  auto a = count_up({5, 7}), b = count_up({7, 9});
  auto options = checked();
  for (unsigned long quota : {1, 30, 1000, 5000, 20000, 100000}) {
    options.mapping = options.mapping.with_quota(quota);
    auto executable = compile(module.functions[0], {a, b}, {}, options);
    EXPECT_TRUE(quota > 100 || !executable->stats().fallbacks.empty());
    Floats c({5, 9});
    executable->run(std::vector<TensorView>{a, b}, std::vector<TensorView>{c});
    EXPECT_EQ(c.values, product(a, b)) << quota;
  }
}

/// \p layers products of 24 x 24, each added to, one after the other.
std::shared_ptr<const Executable> compile_layers(int layers, unsigned long quota) {
  std::string params = "float(N,N) Y0", body;
  std::vector<TensorSpec> inputs{contiguous(DType::Float32, {24, 24})};
  for (int i = 0; i < layers; ++i) {
    params += str(", float(N,N) W", i, ", float(N) b", i);
    body += str("Y", i + 1, "(n,o) +=! Y", i, "(n,k) * W", i, "(o,k)  Y", i + 1, "(n,o) = Y", i + 1, "(n,o) + b", i,
                "(o)\n");
    inputs.push_back(contiguous(DType::Float32, {24, 24}));
    inputs.push_back(contiguous(DType::Float32, {24}));
  }
  auto module = define(str("def f(", params, ") -> (Y", layers, ") {\n", body, "}"));
  CompileOptions options;
  options.mapping = options.mapping.with_quota(quota);
  return compile(module.functions[0], inputs, {}, options);
}

/// What a cluster takes grows with the statements around it, less than twice for seven more layers.
TEST(Compile, AQuotaThatSufficesForOneLayerSufficesForMany) {
  unsigned long quota = 10000;
  while (!compile_layers(1, quota)->stats().fallbacks.empty()) quota *= 2;
  EXPECT_GT(quota, 10000) << "the quota binds nothing here";
  EXPECT_EQ(join(compile_layers(8, 2 * quota)->stats().fallbacks), "");
}

TEST(Compile, AClusterThatRunsOutOfItsQuotaLeavesTheOthersMapped) {
  auto module = define(R"(def f(float(M,K) A, float(K,N) B) -> (C, D) {
    C(m,n) +=! A(m,k) * B(k,n)
    D(k) +=! B(k,n)
  })");
  Floats a = count_up({40, 33}), b = count_up({33, 50});
  bool seen = false;
  for (unsigned long quota = 2000; quota < 200000 && !seen; quota += quota / 4) {
    auto options = checked();
    options.mapping = options.mapping.with_quota(quota);
    auto executable = compile(module.functions[0], {a, b}, {}, options);
    auto told = join(executable->stats().fallbacks);
    seen = told.find("the loops of S0, S1 are neither") != std::string::npos &&
           told.find("the loops of S2, S3") == std::string::npos && executable->stats().fallbacks.size() == 1;
    Floats c({40, 50}), d({33});
    executable->run(std::vector<TensorView>{a, b}, std::vector<TensorView>{c, d});
    EXPECT_EQ(c.values, product(a, b)) << quota;
  }
  EXPECT_TRUE(seen) << "no quota left one cluster alone unmapped";
}

}  // namespace
}  // namespace tc::engine
