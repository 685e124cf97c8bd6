#include "tc/engine/persistent.h"

#include "tc/cpu/thread_pool.h"
#include "test/cache/cache_fixture.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

namespace tc::engine {
namespace {

using cache::TemporaryFolder;
using options::MappingOptions;

/// Compiles as several processes would: each with a cache of executables of its own, all with one folder.
class Processes {
 public:
  Processes() { settings_.folder = folder_ / "cache"; }

  cache::CacheSettings& settings() { return settings_; }
  const std::string& folder() const { return settings_.folder; }
  std::shared_ptr<cache::Cache> cache() const { return std::make_shared<cache::Cache>(settings_); }

  /// Compiles the first def of \p text in a new process.
  std::shared_ptr<const Executable> compile(const std::string& text, const std::vector<TensorSpec>& inputs,
                                            CompileOptions options) {
    options.cache = last_ = cache();
    ExecutableCache executables;
    return compile_cached(executables, define(text).functions.at(0), inputs, {}, options);
  }
  /// The warnings of the last one.
  std::vector<std::string> warnings() { return last_->take_warnings(); }

  void put(const std::string& text, const std::vector<TensorSpec>& inputs, const MappingOptions& options) {
    auto function = define(text).functions.at(0);
    ASSERT_TRUE(cache()->put(options_entry(*function, make_arguments(*function, inputs, {}), Target::host(), options)));
  }

 private:
  TemporaryFolder folder_;
  cache::CacheSettings settings_;
  std::shared_ptr<cache::Cache> last_;
};

CompileOptions cached() {
  auto options = checked();
  options.mapping_from = MappingFrom::Cached;
  return options;
}

const std::vector<TensorSpec> matrices = {contiguous(DType::Float32, {8, 9}), contiguous(DType::Float32, {9, 10})};

void expect_product(const Executable& executable) {
  auto a = count_up({8, 9}), b = count_up({9, 10});
  Floats c({8, 10});
  executable.run(std::vector<TensorView>{a, b}, std::vector<TensorView>{c});
  EXPECT_EQ(c.values, product(a, b));
}

/// What shapes of the same program were tuned to, for a construction to begin from.
TEST(Persistent, AConstructionBeginsFromTheNearestShapes) {
  Processes processes;
  auto function = define(mm).functions.at(0);
  CompileOptions options;
  options.cache = processes.cache();
  auto nearest = [&](const CompileOptions& how) {
    return nearest_mapping(*function, make_arguments(*function, matrices, {}), how);
  };
  options.mapping = MappingOptions::parse("construct");
  EXPECT_FALSE(nearest(options)) << "the cache is empty";
  const std::vector<TensorSpec> others = {contiguous(DType::Float32, {16, 9}), contiguous(DType::Float32, {9, 10})};
  processes.put(mm, others, MappingOptions::parse("tile=4x8,vector_along=n"));
  ASSERT_TRUE(nearest(options));
  EXPECT_EQ(nearest(options)->to_text(), "tile=4x8");
  for (const char* policy : {"construct", "construct:roller", "construct:gensor"}) {
    options.mapping = MappingOptions::parse(policy);
    expect_product(*compile(function, matrices, {}, options));
  }
  options.mapping = MappingOptions();
  EXPECT_FALSE(nearest(options)) << "rules choose";
}

TEST(Persistent, TheSecondProcessReadsWhatTheFirstCompiled) {
  Processes processes;
  auto first = processes.compile(mm, matrices, cached());
  EXPECT_FALSE(first->stats().from_cache);
  expect_product(*first);
  auto second = processes.compile(mm, matrices, cached());
  EXPECT_TRUE(second->stats().from_cache);
  expect_product(*second);
  EXPECT_EQ(second->image().serialise(), first->image().serialise());
  EXPECT_TRUE(processes.warnings().empty());
}

TEST(Persistent, TheEntryHoldsWhatTheCompileMade) {
  Processes processes;
  auto executable = processes.compile(mm, matrices, cached());
  auto code = cache::list_code(processes.folder());
  ASSERT_EQ(code.size(), 1u);
  const auto& entry = code[0].entry;
  EXPECT_EQ(entry.source, "def mm(float32(M, K) A, float32(K, N) B) -> (C) {\n  C(m, n) +=! A(m, k) * B(k, n)\n}\n");
  EXPECT_NE(entry.generated.find("for "), std::string::npos) << entry.generated;
  EXPECT_EQ(entry.image, executable->image().serialise());
  EXPECT_NE(join(entry.verified_stages).find("schedule"), std::string::npos);
  EXPECT_GT(entry.compile_milliseconds, 0);
  EXPECT_EQ(entry.key.target, to_string(Target::host()));
}

TEST(Persistent, OtherProgramsTensorsAndOptionsAreCompiled) {
  Processes processes;
  processes.compile(mm, matrices, cached());
  auto is_read = [&](const std::string& text, const std::vector<TensorSpec>& inputs, const CompileOptions& options) {
    return processes.compile(text, inputs, options)->stats().from_cache;
  };
  auto other = matrices;
  other[0].strides = {1, 8};
  EXPECT_FALSE(is_read(mm, other, cached()));
  auto tiled = checked();
  tiled.mapping = MappingOptions().with_tile({4, 4});
  EXPECT_FALSE(is_read(mm, matrices, tiled));
  EXPECT_TRUE(is_read(mm, matrices, tiled));
  auto plain = checked();
  plain.target = Target::parse("cpu:plain");
  EXPECT_FALSE(is_read(mm, matrices, plain));
  const char* renamed = "def product(float(A,B) X, float(B,C) Y) -> (Z) { Z(i,j) +=! X(i,k) * Y(k,j) }";
  EXPECT_FALSE(is_read(renamed, matrices, cached())) << "its messages have other names";
  EXPECT_TRUE(is_read(mm, matrices, checked()));
}

TEST(Persistent, CodeWhoseLawsWereNotAskedIsMadeAnewWhereTheyAre) {
  Processes processes;
  auto unchecked = cached();
  unchecked.stages.verify = false;
  EXPECT_FALSE(processes.compile(mm, matrices, unchecked)->stats().from_cache);
  EXPECT_TRUE(processes.compile(mm, matrices, unchecked)->stats().from_cache);
  EXPECT_FALSE(processes.compile(mm, matrices, cached())->stats().from_cache);
  EXPECT_TRUE(processes.compile(mm, matrices, cached())->stats().from_cache);
  EXPECT_TRUE(processes.compile(mm, matrices, unchecked)->stats().from_cache);
}

TEST(Persistent, DamagedCodeCostsACompile) {
  Processes processes;
  processes.compile(mm, matrices, cached());
  auto file = cache::only_code(processes.folder());
  auto bytes = cache::text_of(file);
  bytes[bytes.size() / 2] ^= 1;
  cache::write_text(file, bytes);
  auto executable = processes.compile(mm, matrices, cached());
  EXPECT_FALSE(executable->stats().from_cache);
  EXPECT_EQ(processes.warnings().size(), 1u);
  expect_product(*executable);
  EXPECT_TRUE(processes.compile(mm, matrices, cached())->stats().from_cache) << "it is whole again";
}

/// Under a right checksum: what another library might have written.
TEST(Persistent, ForeignImagesCostACompile) {
  for (const std::string& image : {std::string(), std::string("no image"), std::string(5000, '\xff')}) {
    Processes processes;
    processes.compile(mm, matrices, cached());
    auto stored = cache::list_code(processes.folder()).at(0);
    stored.entry.image = image;
    ASSERT_TRUE(processes.cache()->put(stored.entry));
    auto executable = processes.compile(mm, matrices, cached());
    EXPECT_FALSE(executable->stats().from_cache);
    EXPECT_EQ(processes.warnings().size(), 1u);
    expect_product(*executable);
  }
}

TEST(Persistent, ImagesForOtherTensorsCostACompile) {
  Processes processes;
  const std::vector<TensorSpec> others = {contiguous(DType::Float32, {7, 9}), contiguous(DType::Float32, {9, 10})};
  auto small = processes.compile(mm, others, cached())->image().serialise();
  processes.compile(mm, matrices, cached());
  for (auto& stored : cache::list_code(processes.folder())) {
    stored.entry.image = small;
    ASSERT_TRUE(processes.cache()->put(stored.entry));
  }
  auto executable = processes.compile(mm, matrices, cached());
  EXPECT_FALSE(executable->stats().from_cache);
  expect_product(*executable);
}

TEST(Persistent, OptionsComeFromTheCacheWhereTheyAreAskedFor) {
  Processes processes;
  auto tuned = cached();
  tuned.mapping_from = MappingFrom::Tuned;
  auto text = message<OptionsError>([&] { processes.compile(mm, matrices, tuned); });
  EXPECT_NE(text.find("no tuned options for 'mm' with float32(8, 9), float32(9, 10) -> float32(8, 10)"),
            std::string::npos)
      << text;
  processes.put(mm, matrices, MappingOptions().with_tile({4, 5}));
  auto used = [&](const CompileOptions& options) { return processes.compile(mm, matrices, options)->image().options; };
  EXPECT_EQ(used(tuned), "tile=4x5");
  EXPECT_EQ(used(cached()), "tile=4x5");
  EXPECT_EQ(used(checked()), "");
  expect_product(*processes.compile(mm, matrices, cached()));
  const char* renamed = "def product(float(A,B) X, float(B,C) Y) -> (Z) { Z(i,j) +=! X(i,k) * Y(k,j) }";
  EXPECT_EQ(processes.compile(renamed, matrices, cached())->image().options, "tile=4x5");
}

TEST(Persistent, OptionsMeasuredHereGoBeforeThoseThatWereFasterElsewhere) {
  Processes processes;
  auto function = define(mm).functions.at(0);
  auto put = [&](const char* options, double nanoseconds, const char* machine, int threads) {
    auto entry = options_entry(*function, make_arguments(*function, matrices, {}), Target::host(),
                               MappingOptions::parse(options));
    entry.measured = cache::measurement_here();
    if (machine) entry.measured->machine = machine;
    entry.measured->threads = threads;
    entry.measured->median_ns = nanoseconds;
    ASSERT_TRUE(processes.cache()->put(entry));
  };
  const int threads = cpu::num_threads();
  put("tile=2x2", 10, "elsewhere", threads);
  EXPECT_EQ(processes.compile(mm, matrices, cached())->image().options, "tile=2x2");
  put("tile=3x3", 1000, nullptr, threads + 1);
  EXPECT_EQ(processes.compile(mm, matrices, cached())->image().options, "tile=3x3");
  put("tile=4x4", 2000, nullptr, threads);
  EXPECT_EQ(processes.compile(mm, matrices, cached())->image().options, "tile=4x4");
  EXPECT_EQ(circumstances_here(Target::parse("cuda:sm_90")), cache::Circumstances());
}

TEST(Persistent, OptionsThatTheCompilerRefusesAreLeftOut) {
  Processes processes;
  processes.put(mm, matrices, MappingOptions().with_vector_along({"nobody"}));
  auto executable = processes.compile(mm, matrices, cached());
  EXPECT_EQ(executable->image().options, "");
  expect_product(*executable);
  ASSERT_EQ(processes.warnings().size(), 1u);
  auto tuned = cached();
  tuned.mapping_from = MappingFrom::Tuned;
  EXPECT_ERROR(processes.compile(mm, matrices, tuned), OptionsError,
               "mapping option 'vector_along=nobody': 'mm' has no iterator 'nobody', it has k, m, n");
}

TEST(Persistent, IteratorsAreNamedAsTheProgramNamesThem) {
  Processes processes;
  const char* pair = "def f(float(N,M) X) -> (Y, Z) { Y(n,m) = X(n,m) + 1  Z(n,m) = Y(n,m) * 2 }";
  const char* other = "def g(float(A,B) P) -> (Q, R) { Q(i,j) = P(i,j) + 1  R(k,l) = Q(k,l) * 2 }";
  const std::vector<TensorSpec> input = {contiguous(DType::Float32, {64, 64})};
  auto options = MappingOptions().with_vector_along({"n"}).with_parallel_along({"m", "n"});
  processes.put(pair, input, options);
  EXPECT_EQ(processes.compile(pair, input, cached())->image().options, options.to_text());
  EXPECT_EQ(processes.compile(other, input, cached())->image().options, "parallel_along=j/l/i/k,vector_along=i/k");
}

TEST(Persistent, NothingIsKeptOfWhatIsNotTheCompilersOwn) {
  Processes processes;
  auto interpreted = cached();
  interpreted.interpret = true;
  processes.compile(mm, matrices, interpreted);
  auto mutated = cached();
  mutated.stages.mutate = [](const std::string&, CompileState&) {};
  processes.compile(mm, matrices, mutated);
  EXPECT_EQ(cache::stat(processes.folder()).code.files, 0u);
}

TEST(Persistent, ReadOnlyCachesStayAsTheyAre) {
  Processes processes;
  processes.settings().writable = false;
  EXPECT_FALSE(processes.compile(mm, matrices, cached())->stats().from_cache);
  EXPECT_FALSE(std::filesystem::exists(processes.folder()));
  processes.settings().writable = true;
  processes.compile(mm, matrices, cached());
  processes.settings().writable = false;
  EXPECT_TRUE(processes.compile(mm, matrices, cached())->stats().from_cache);
}

TEST(Persistent, TextsOfStagesAreThoseOfTheOptionsInUse) {
  Processes processes;
  processes.put(mm, matrices, MappingOptions().with_parallel(false).with_tile({4, 4}));
  ExecutionEngine engine;
  engine.define(mm);
  auto options = cached();
  options.cache = processes.cache();
  for (int i = 0; i < 2; ++i) {
    auto handle = engine.compile("mm", matrices, {}, options);
    EXPECT_EQ(engine.executable(handle)->image().options, "tile=4x4,parallel=0");
    std::string schedule;
    for (const auto& record : engine.stage_texts(handle))
      if (record.name == "map") schedule = record.text;
    EXPECT_NE(schedule, "");
    EXPECT_EQ(schedule.find("parallel"), std::string::npos) << schedule;
  }
}

}  // namespace
}  // namespace tc::engine
