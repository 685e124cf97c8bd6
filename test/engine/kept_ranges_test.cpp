#include <gtest/gtest.h>

#include "tc/engine/graph/symbolic_sizes.h"
#include "tc/engine/recheck.h"
#include "test/cache/cache_fixture.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

/// Code for ranges of sizes in the cache on disk, and in bytes.
namespace tc::engine::kept_ranges_test {
namespace {

std::vector<TensorSpec> matrices(std::int64_t rows) {
  return {contiguous(DType::Float32, {rows, 7}), contiguous(DType::Float32, {7, 9})};
}

void expect_product(const Executable& executable, std::int64_t rows) {
  auto a = count_up({rows, 7}), b = count_up({7, 9});
  Floats c({rows, 9}, 100);
  executable.run(std::vector<TensorView>{a, b}, std::vector<TensorView>{c});
  EXPECT_EQ(c.values, product(a, b));
}

/// Compiles with dynamic sizes as several processes would, with one folder.
class Processes {
 public:
  Processes() { settings_.folder = folder_ / "cache"; }

  std::shared_ptr<const Executable> compile(const std::string& text, const std::vector<TensorSpec>& inputs,
                                            CompileOptions options = {}) {
    options.cache = cache();
    if (options.dynamic.empty()) options.dynamic = {"M"};
    ExecutableCache executables;
    return compile_cached(executables, define(text).functions.back(), inputs, {}, options);
  }
  std::shared_ptr<cache::Cache> cache() const { return std::make_shared<cache::Cache>(settings_); }
  /// Makes later compiles forget the graphs that this process knows for the folder.
  void rename_folder() {
    const auto before = settings_.folder;
    settings_.folder += "2";
    std::filesystem::rename(before, settings_.folder);
  }
  std::vector<cache::StoredCode> kept() const { return cache::list_code(settings_.folder); }

 private:
  cache::TemporaryFolder folder_;
  cache::CacheSettings settings_;
};

TEST(KeptRanges, AnEntryServesAllSizesOfItsRange) {
  Processes processes;
  EXPECT_FALSE(processes.compile(mm, matrices(17))->stats().from_cache);
  for (const std::int64_t rows : {17, 20, 33, 64}) {
    const auto read = processes.compile(mm, matrices(rows));
    EXPECT_TRUE(read->stats().from_cache);
    EXPECT_EQ(read->stats().sizes, "M from 17 to 64");
    expect_product(*read, rows);
  }
  ASSERT_EQ(processes.kept().size(), 1u);
  const auto entry = processes.kept().front().entry;
  EXPECT_EQ(cache::tensors_text(entry.key), "float32(64, 7), float32(7, 9) -> float32(64, 9), M from 17 to 64");
  EXPECT_NE(entry.generated.find("for "), std::string::npos);
  EXPECT_FALSE(processes.compile(mm, matrices(16))->stats().from_cache) << "of another range";
  EXPECT_EQ(processes.kept().size(), 2u);
}

/// The largest tensors are those of code for these alone.
TEST(KeptRanges, CodeOfOneSizeIsAnotherEntry) {
  Processes processes;
  EXPECT_FALSE(processes.compile(mm, matrices(64))->stats().from_cache);
  CompileOptions fixed;
  fixed.dynamic = {"Q"};
  const auto alone = processes.compile(mm, matrices(64), fixed);
  EXPECT_FALSE(alone->stats().from_cache);
  EXPECT_EQ(alone->stats().sizes, "");
  EXPECT_EQ(processes.kept().size(), 2u);
  EXPECT_EQ(processes.compile(mm, matrices(64))->stats().sizes, "M from 17 to 64");
}

TEST(KeptRanges, OthersImagesAndRangesCostACompile) {
  Processes processes;
  processes.compile(mm, matrices(64));
  auto ranged = processes.kept().front().entry;
  auto refuse = [&](const Image& image) {
    auto stale = ranged;
    stale.image = image.serialise();
    ASSERT_TRUE(processes.cache()->put(stale));
    const auto executable = processes.compile(mm, matrices(20));
    EXPECT_FALSE(executable->stats().from_cache);
    expect_product(*executable, 20);
  };
  const auto whole = Image::deserialise(ranged.image);
  auto narrower = whole;
  narrower.symbolic["M"].min = 19;
  refuse(narrower);
  auto other = whole;
  other.symbolic = {{"K", {1, 7}}};
  refuse(other);
  refuse(bind_sizes(std::make_shared<Executable>(whole), *define(mm).functions.back(), matrices(20))->image());
  CompileOptions fixed;
  fixed.dynamic = {"Q"};
  refuse(processes.compile(mm, matrices(64), fixed)->image());
  ASSERT_TRUE(processes.cache()->put(ranged));
  EXPECT_TRUE(processes.compile(mm, matrices(20))->stats().from_cache);
}

constexpr const char* chain = R"(
def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }
def positive(float(N,K) X) -> (Y) { Y(n,k) = fmax(X(n,k), 0) }
def two(float(M,C) X, float(C,C) W) -> (Y) { A = fc(X, W)  B = positive(A)  Y = fc(B, W) })";

TEST(KeptRanges, PartsOfAGraphAreRead) {
  Processes processes;
  CompileOptions options;
  options.partition = graph::Partition::Each;
  auto inputs = [](std::int64_t rows) {
    return std::vector<TensorSpec>{contiguous(DType::Float32, {rows, 6}), contiguous(DType::Float32, {6, 6})};
  };
  const auto first = processes.compile(chain, inputs(5), options);
  EXPECT_GT(first->image().parts, 1u);
  EXPECT_FALSE(first->stats().from_cache);
  const auto kept = processes.kept().size();
  EXPECT_GT(kept, 1u);
  processes.rename_folder();
  const auto second = processes.compile(chain, inputs(7), options);
  EXPECT_TRUE(second->stats().from_cache);
  EXPECT_EQ(processes.kept().size(), kept);
  auto x = count_up({7, 6}), w = count_up({6, 6});
  Floats y({7, 6}, 100);
  second->run(std::vector<TensorView>{x, w}, std::vector<TensorView>{y});
  Floats hidden({7, 6});
  const auto transposed = [&] {
    Floats result({6, 6});
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) result.values[6 * i + j] = w.values[6 * j + i];
    return result;
  }();
  hidden.values = product(x, transposed);
  for (auto& value : hidden.values) value = std::max(value, 0.0f);
  EXPECT_EQ(y.values, product(hidden, transposed));
}

TEST(KeptRanges, EntriesCompileToThemselvesAgain) {
  Processes processes;
  processes.compile(mm, matrices(20));
  CompileOptions grid;
  grid.target = Target::parse("cuda:sm_90");
  processes.compile(mm, matrices(20), grid);
  ASSERT_EQ(processes.kept().size(), 2u);
  for (auto& stored : processes.kept()) {
    EXPECT_EQ(recheck(stored.entry), "") << stored.entry.key.target;
    ++stored.entry.key.sizes.at(0).least;
    EXPECT_NE(recheck(stored.entry), "") << stored.entry.key.target;
    stored.entry.key.sizes.clear();
    EXPECT_NE(recheck(stored.entry), "") << stored.entry.key.target;
  }
}

TEST(KeptRanges, KernelsOfGpusAreRead) {
  Processes processes;
  CompileOptions grid;
  grid.target = Target::parse("cuda:sm_90");
  const auto first = processes.compile(mm, matrices(20), grid), second = processes.compile(mm, matrices(33), grid);
  EXPECT_FALSE(first->stats().from_cache);
  EXPECT_TRUE(second->stats().from_cache);
  EXPECT_EQ(second->stats().sizes, "M from 17 to 64");
  EXPECT_EQ(second->image().modules.front().text, first->image().modules.front().text);
  EXPECT_EQ(Image::deserialise(second->image().serialise()).serialise(), second->image().serialise());
}

TEST(KeptRanges, BytesServeAllSizesOfTheirRange) {
  CompileOptions options;
  options.dynamic = {"M"};
  const auto function = define(mm).functions.back();
  const auto saved = compile(function, matrices(20), {}, options)->image().serialise();
  const auto loaded = std::make_shared<const Executable>(Image::deserialise(saved));
  expect_product(*loaded, 20);
  EXPECT_EQ(ranges_text(loaded->image()), "M from 17 to 64");
  for (const std::int64_t rows : {17, 21, 64}) expect_product(*for_inputs(loaded, matrices(rows)), rows);
  expect_product(*loaded, 20);
  EXPECT_ERROR(for_inputs(loaded, matrices(65)), ArgumentError, "this code of 'mm' is for M from 17 to 64, not for 65");
  EXPECT_ERROR(for_inputs(compile(function, matrices(20), {}, {}), matrices(20)), ArgumentError,
               "the code of 'mm' is for the sizes of its tensors alone");
}

/// Constants are no arguments of what is bound, but have strides that are told.
TEST(KeptRanges, ConstantsAndStridesThatAreTold) {
  CompileOptions options;
  options.dynamic = {"M"};
  auto w = count_up({7, 9});
  auto constant = allocate_constant("B", contiguous(DType::Float32, {7, 9}));
  std::copy(w.values.begin(), w.values.end(), static_cast<float*>(constant.data.get()));
  options.constants = {constant};
  const char* text = "def f(float(K,N) B, float(K,M) A) -> (C) { C(n,m) +=! A(k,m) * B(k,n) }";
  auto inputs = [](std::int64_t m) {
    return std::vector<TensorSpec>{contiguous(DType::Float32, {7, 9}), contiguous(DType::Float32, {7, m})};
  };
  const auto made = compile(define(text).functions.back(), inputs(20), {}, options);
  EXPECT_EQ(made->stats().sizes, "M from 17 to 64");
  const auto loaded = std::make_shared<const Executable>(Image::deserialise(made->image().serialise()));
  for (const std::int64_t m : {20, 33}) {
    const auto bound = for_inputs(loaded, {inputs(m)[1]});
    auto a = count_up({7, m});
    Floats c({9, m}, 100);
    bound->run(std::vector<TensorView>{a}, std::vector<TensorView>{c});
    for (std::int64_t n = 0; n < 9; ++n)
      for (std::int64_t j = 0; j < m; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < 7; ++k) sum += a.values[k * m + j] * w.values[k * 9 + n];
        ASSERT_EQ(c.values[n * m + j], sum) << n << " " << j;
      }
  }
}

}  // namespace
}  // namespace tc::engine::kept_ranges_test
