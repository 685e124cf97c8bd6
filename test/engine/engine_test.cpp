#include "tc/engine/engine.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <thread>

#include "tc/base/str.h"

namespace tc::engine {
namespace {

/// A tensor that owns its memory.
template <typename T>
struct Array : TensorView {
  explicit Array(std::vector<std::int64_t> extents, T fill = 0) {
    static_cast<TensorSpec&>(*this) = contiguous(type(), std::move(extents));
    values.assign(static_cast<std::size_t>(element_count()), fill);
    data = values.data();
  }
  static DType type() {
    if (std::is_same_v<T, float>) return DType::Float32;
    if (std::is_same_v<T, double>) return DType::Float64;
    return std::is_same_v<T, std::int32_t> ? DType::Int32 : DType::Int64;
  }
  std::vector<T> values;
};
using Floats = Array<float>;

Floats count_up(std::vector<std::int64_t> shape) {
  Floats array(std::move(shape));
  for (std::size_t i = 0; i < array.values.size(); ++i) array.values[i] = static_cast<float>(i % 7) - 3;
  return array;
}

std::vector<float> product(const Floats& a, const Floats& b) {
  auto m = a.shape[0], k = a.shape[1], n = b.shape[1];
  std::vector<float> c(m * n, 0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < k; ++l) c[i * n + j] += a.values[i * k + l] * b.values[l * n + j];
  return c;
}

/// The laws run in every compile of the tests.
CompileOptions checked() {
  CompileOptions options;
  options.stages.verify = true;
  return options;
}

const char* const mm = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

template <typename E, typename F>
std::string message(F&& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Engine, MatrixProduct) {
  ExecutionEngine engine;
  engine.define(mm);
  EXPECT_EQ(engine.functions(), std::vector<std::string>{"mm"});
  auto a = count_up({5, 7}), b = count_up({7, 9});
  auto info = engine.infer_output_tensor_info("mm", ExecutionEngine::Specs{a, b});
  ASSERT_EQ(info.size(), 1u);
  EXPECT_EQ(info[0].name, "C");
  EXPECT_EQ(TensorSpec(info[0]), contiguous(DType::Float32, {5, 9}));
  EXPECT_EQ(info[0].mins, (std::vector<std::int64_t>{0, 0}));
  Floats c({5, 9}, 100);
  auto handle = engine.compile("mm", ExecutionEngine::Specs{a, b}, {c}, checked());
  engine.run(handle, {a, b}, {c});
  EXPECT_EQ(c.values, product(a, b));
  EXPECT_EQ(engine.compile("mm", ExecutionEngine::Specs{a, b}, {}, checked()), handle);

  std::fill(c.values.begin(), c.values.end(), 0.f);
  void* pointers[] = {a.data, b.data, c.data};
  engine.run_unchecked(handle, pointers);
  EXPECT_EQ(c.values, product(a, b));
  auto profile = engine.profile(handle, {a, b}, {c});
  EXPECT_GE(profile.total, profile.kernels);
}

TEST(Engine, StridedTensors) {
  ExecutionEngine engine;
  engine.define(mm);
  auto a = count_up({5, 7}), b = count_up({7, 9});
  Floats storage({9, 5});
  TensorView c = storage;
  c.shape = {5, 9};
  c.strides = {1, 5};
  auto handle = engine.compile("mm", ExecutionEngine::Specs{a, b}, {c}, checked());
  engine.run(handle, {a, b}, {c});
  auto expected = product(a, b);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 9; ++j) EXPECT_EQ(storage.values[j * 5 + i], expected[i * 9 + j]);
}

TEST(Engine, ExpandedInput) {
  ExecutionEngine engine;
  engine.define("def add(float(M,N) A, float(M,N) B) -> (C) { C(m,n) = A(m,n) + B(m,n) }");
  auto a = count_up({4, 6});
  Floats row({6}, 2);
  TensorView b = row;
  b.shape = {4, 6};
  b.strides = {0, 1};
  Floats c({4, 6});
  engine.run(engine.compile("add", ExecutionEngine::Specs{a, b}, {}, checked()), {a, b}, {c});
  for (std::size_t i = 0; i < c.values.size(); ++i) EXPECT_EQ(c.values[i], a.values[i] + 2);
}

TEST(Engine, EmptyAndRankZeroTensors) {
  ExecutionEngine engine;
  engine.define("def total(float(N) A, float s) -> (t) { t +=! A(n) * s }");
  Floats none({0}), s({}, 2), t({}, 77);
  engine.run(engine.compile("total", ExecutionEngine::Specs{none, s}, {}, checked()), {none, s}, {t});
  EXPECT_EQ(t.values[0], 0);
  Floats some({3}, 1.5);
  engine.run(engine.compile("total", ExecutionEngine::Specs{some, s}, {}, checked()), {some, s}, {t});
  EXPECT_EQ(t.values[0], 9);
  engine.define("def copy(float(M,N) A) -> (B) { B(m,n) = A(m,n) }");
  Floats a({3, 0}), b({3, 0});
  engine.run(engine.compile("copy", ExecutionEngine::Specs{a}, {}, checked()), {a}, {b});
}

TEST(Engine, ArgumentsAreCheckedBeforeAnythingIsWritten) {
  ExecutionEngine engine;
  engine.define(mm);
  engine.define("def twice(float(N) A) -> (B) { B(n) = A(n) * 2 }\ndef shift(float(N) A) -> (B) { B(n) = A(n+1) }");
  auto a = count_up({5, 7}), b = count_up({7, 9});
  Floats c({5, 9}, 1);
  auto handle = engine.compile("mm", ExecutionEngine::Specs{a, b});
  auto run = [&](ExecutionEngine::Views inputs, ExecutionEngine::Views outputs) {
    return message<ArgumentError>([&] { engine.run(handle, inputs, outputs); });
  };
  EXPECT_EQ(run({a}, {c}), "'mm' takes 2 inputs and 1 outputs, 1 and 1 were given");
  EXPECT_EQ(run({b, a}, {c}), "input 'A' of 'mm' was compiled for float32(5, 7), float32(7, 9) was given");
  TensorView strided = a;
  strided.strides = {1, 5};
  EXPECT_EQ(run({strided, b}, {c}),
            "input 'A' of 'mm' was compiled for float32(5, 7), float32(5, 7) strides (1, 5) was given");
  TensorView shared = c;
  shared.data = b.data;
  EXPECT_EQ(run({a, b}, {shared}),
            "output 'C' shares memory with input 'B', which would change the result: pass a tensor of its own");
  EXPECT_EQ(c.values, Floats({5, 9}, 1).values);

  auto x = count_up({8});
  auto twice = engine.compile("twice", ExecutionEngine::Specs{x}, {}, checked());
  auto expected = x.values;
  for (auto& value : expected) value *= 2;
  engine.run(twice, {x}, {x});
  EXPECT_EQ(x.values, expected);
  TensorView next = x;
  next.shape = {7};
  auto shift = engine.compile("shift", ExecutionEngine::Specs{x}, {}, checked());
  EXPECT_THROW(engine.run(shift, {x}, {next}), ArgumentError);
  EXPECT_EQ(x.values, expected);
}

TEST(Engine, OutputThatOverlapsItself) {
  ExecutionEngine engine;
  engine.define("def twice(float(M,N) A) -> (B) { B(m,n) = A(m,n) * 2 }");
  auto a = count_up({3, 4});
  Floats row({4});
  TensorView b = row;
  b.shape = {3, 4};
  b.strides = {0, 1};
  auto handle = engine.compile("twice", ExecutionEngine::Specs{a}, {b});
  EXPECT_THROW(engine.run(handle, {a}, {b}), ArgumentError);
}

TEST(Engine, IndexTensorsAreChecked) {
  ExecutionEngine engine;
  engine.define("def gather(float(E,D) T, int32(N) I) -> (O) { O(n,d) = T(I(n), d) }");
  auto table = count_up({4, 3});
  Array<std::int32_t> index({2});
  index.values = {3, 1};
  Floats out({2, 3}, 5);
  auto handle = engine.compile("gather", ExecutionEngine::Specs{table, index}, {}, checked());
  engine.run(handle, {table, index}, {out});
  EXPECT_EQ(out.values[0], table.values[9]);
  auto before = out.values;
  for (int bad : {4, -1}) {
    index.values[1] = bad;
    EXPECT_THROW(engine.run(handle, {table, index}, {out}), ArgumentError);
    EXPECT_EQ(out.values, before);
  }
}

TEST(Engine, ErrorsAreTyped) {
  ExecutionEngine engine;
  EXPECT_THROW(engine.define("def f(float(N) A) -> (B) { B(n) = }"), SyntaxError);
  EXPECT_THROW(engine.define("def f(float(N) A) -> (B) { B(n) = C(n) }"), SemanticError);
  EXPECT_TRUE(engine.functions().empty());
  engine.define(mm);
  EXPECT_THROW(engine.compile("nn", ExecutionEngine::Specs{}), ArgumentError);
  EXPECT_THROW(engine.compile("mm", ExecutionEngine::Specs{contiguous(DType::Float32, {2, 3})}), ArgumentError);
  EXPECT_THROW(engine.compile("mm", ExecutionEngine::Specs{contiguous(DType::Float64, {2, 3}),
                                                           contiguous(DType::Float32, {3, 2})}),
               ArgumentError);
  EXPECT_THROW(engine.compile("mm", ExecutionEngine::Specs{contiguous(DType::Float32, {2, 3}),
                                                           contiguous(DType::Float32, {4, 2})}),
               ArgumentError);
  EXPECT_THROW(engine.run(3, ExecutionEngine::Views{}, ExecutionEngine::Views{}), ArgumentError);
  auto options = checked();
  options.stages.replace["shedule"] = "";
  ExecutionEngine::Specs specs{contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})};
  EXPECT_THROW(engine.compile("mm", specs, {}, options), OptionsError);
}

TEST(Engine, ErrorsOfAllDefsAreReportedTogether) {
  try {
    define("def f(float(N) A) -> (B) { B(i) = 1 }\ndef g(float(N) A) -> (B) { B(j) = 2 }");
    FAIL();
  } catch (const SemanticError& error) {
    EXPECT_GE(error.diagnostics().size(), 2u);
  }
}

TEST(Engine, CancelledCompile) {
  ExecutionEngine engine;
  engine.define(mm);
  CompileOptions options;
  options.stages.cancellation.cancel();
  ExecutionEngine::Specs specs{contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})};
  EXPECT_THROW(engine.compile("mm", specs, {}, options), CancelledError);
  CompileOptions limited;
  limited.time_limit = 1e-9;
  EXPECT_THROW(engine.compile("mm", specs, {}, limited), ResourceError);
  engine.compile("mm", specs);
}

TEST(Engine, MemoryLimit) {
  auto module = define(mm);
  CompileOptions options;
  options.memory_limit = 16 << 20;
  std::vector<char> hoard;
  options.stages.mutate = [&](const std::string& stage, CompileState&) {
    if (stage == "lower") hoard.assign(64 << 20, 1);
  };
  auto text = message<ResourceError>([&] {
    compile(module.functions[0], {contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})}, {}, options);
  });
  EXPECT_NE(text.find("memory limit of 16777216 bytes"), std::string::npos) << text;
}

TEST(Engine, DumpsAreNumberedInOrder) {
  auto module = define(mm);
  auto folder = std::filesystem::temp_directory_path() / str("tc_engine_dump_", ::getpid());
  CompileOptions options;
  options.stages.dump_directory = folder;
  compile(module.functions[0], {contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})}, {}, options);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "mm")) names.insert(entry.path().filename());
  EXPECT_EQ(join(names, " "),
            "00_lower.txt 01_extract.txt 02_depend.txt 03_schedule.txt 04_map.txt 05_generate.txt 06_raise.txt");
  std::filesystem::remove_all(folder);
}

TEST(Engine, AScheduleThatBreaksALawIsRefused) {
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
  auto text = message<InternalError>([&] {
    compile(module.functions[0], {contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})}, {}, options);
  });
  EXPECT_NE(text.find("dependences"), std::string::npos) << text;
}

TEST(Engine, ThreadsThatAskForOneKeyShareOneCompile) {
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

TEST(Engine, EqualProgramsShareACompile) {
  ExecutableCache cache;
  auto a = count_up({6, 7}), b = count_up({7, 8});
  auto first = define(mm), second = define("def mm(float(P,Q) A, float(Q,R) B) -> (C) { C(i,j) +=! A(i,l) * B(l,j) }");
  auto renamed = define("def mm(float(P,Q) X, float(Q,R) B) -> (C) { C(i,j) +=! X(i,l) * B(l,j) }");
  EXPECT_EQ(compile_cached(cache, first.functions[0], {a, b}), compile_cached(cache, second.functions[0], {a, b}));
  EXPECT_EQ(compile_cached(cache, renamed.functions[0], {a, b})->image().arguments[0].name, "X");
}

TEST(Engine, ThreadsCompileAndRunAtOnce) {
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

TEST(Engine, AnExecutableIsSavedAndLoaded) {
  auto module = define(mm);
  auto a = count_up({5, 7}), b = count_up({7, 9});
  auto executable = compile(module.functions[0], {a, b}, {}, checked());
  auto bytes = executable->image().serialise();
  Executable loaded(Image::deserialise(bytes));
  Floats c({5, 9});
  loaded.run(std::vector<TensorView>{a, b}, std::vector<TensorView>{c});
  EXPECT_EQ(c.values, product(a, b));
  EXPECT_THROW(Image::deserialise(bytes.substr(0, bytes.size() - 1)), ArgumentError);
  EXPECT_THROW(Image::deserialise("nonsense"), ArgumentError);
  for (std::size_t i = 0; i < bytes.size(); i += 97) {
    auto damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_THROW(Image::deserialise(damaged), ArgumentError) << "at byte " << i;
  }
}

TEST(Engine, StageTextsAndReplacedSchedule) {
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
  EXPECT_EQ(join(names, " "), "parse check inline infer lower extract depend schedule map generate raise emit build");
  auto options = checked();
  options.stages.replace["schedule"] = schedule;
  Floats c({5, 9});
  engine.run(engine.compile("mm", ExecutionEngine::Specs{a, b}, {}, options), {a, b}, {c});
  EXPECT_EQ(c.values, product(a, b));
  options.stages.replace["schedule"] = "not a tree";
  EXPECT_THROW(engine.compile("mm", ExecutionEngine::Specs{a, b}, {}, options), OptionsError);
}

TEST(Engine, ASmallQuotaFallsBackToASimplerSchedule) {
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

TEST(Engine, TheInterpreterRunsToo) {
  auto module = define(mm);
  auto a = count_up({5, 7}), b = count_up({7, 9});
  CompileOptions options;
  options.interpret = true;
  auto executable = compile(module.functions[0], {a, b}, {}, options);
  EXPECT_TRUE(executable->interpreted());
  Floats c({5, 9});
  executable->run(std::vector<TensorView>{a, b}, std::vector<TensorView>{c});
  EXPECT_EQ(c.values, product(a, b));
}

TEST(Engine, InOutReturnsAreRead) {
  ExecutionEngine engine;
  engine.define("def acc(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }");
  auto a = count_up({5, 7}), b = count_up({7, 9});
  EXPECT_TRUE(engine.infer_output_tensor_info("acc", ExecutionEngine::Specs{a, b})[0].read);
  Floats c({5, 9}, 10);
  engine.run(engine.compile("acc", ExecutionEngine::Specs{a, b}, {}, checked()), {a, b}, {c});
  auto expected = product(a, b);
  for (auto& value : expected) value += 10;
  EXPECT_EQ(c.values, expected);
}

TEST(Engine, DLPackTensors) {
  ExecutionEngine engine;
  engine.define(mm);
  auto a = count_up({5, 7}), b = count_up({7, 9});
  Floats c({5, 9});
  auto dl = [](Floats& array) {
    DLTensor tensor{};
    tensor.data = array.data;
    tensor.device = {kDLCPU, 0};
    tensor.ndim = array.rank();
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = array.shape.data();
    return tensor;
  };
  auto da = dl(a), db = dl(b), dc = dl(c);
  std::vector<const DLTensor*> inputs{&da, &db}, outputs{&dc};
  auto handle = engine.compile("mm", inputs, outputs);
  engine.run(handle, inputs, outputs);
  EXPECT_EQ(c.values, product(a, b));
}

}  // namespace
}  // namespace tc::engine
