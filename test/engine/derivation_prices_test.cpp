#include "tc/cache/derivation_prices.h"

#include "tc/engine/graph/graph_derivations.h"
#include "test/cache/cache_fixture.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

/// Prices of derived programs, as a cache keeps them.
namespace tc::engine {
namespace {

using cache::find_derivation;
using cache::keep_derivation;
using cache::MeasuredDerivation;
using cache::parse_measured_derivation;

MeasuredDerivation example() {
  CompileOptions options;
  options.libraries = "openblas";
  return {derivation_key("def f() {\n}\n", {"W", "b"}, options),
          0.25,
          {{"def g()\n", 0.125}, {"", 0.5}},
          "program\nx\n",
          1700000000};
}

TEST(DerivationPrices, TextsParseBack) {
  const auto measured = example();
  const auto text = to_string(measured);
  const auto back = parse_measured_derivation(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->key, measured.key);
  EXPECT_EQ(back->seconds, 0.25);
  ASSERT_EQ(back->others.size(), 2u);
  EXPECT_EQ(back->others[0].text, "def g()\n");
  EXPECT_EQ(back->others[1].seconds, 0.5);
  EXPECT_EQ(back->certificate, "program\nx\n");
}

TEST(DerivationPrices, WhatIsCutOrLongerIsNone) {
  const auto text = to_string(example());
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(parse_measured_derivation(text.substr(0, size))) << size;
  EXPECT_FALSE(parse_measured_derivation(text + "\n"));
  auto loud = example();
  loud.certificate = "\x1b[2J";
  EXPECT_FALSE(parse_measured_derivation(to_string(loud))) << "a text that commands a terminal";
}

std::shared_ptr<cache::Cache> cache_in(const cache::TemporaryFolder& folder) {
  cache::CacheSettings settings;
  settings.folder = folder.path();
  return std::make_shared<cache::Cache>(settings);
}

TEST(DerivationPrices, AreFoundByTheirKeyAlone) {
  const cache::TemporaryFolder folder;
  const auto cache = cache_in(folder);
  auto measured = example();
  ASSERT_TRUE(keep_derivation(*cache, measured));
  const auto found = find_derivation(*cache, measured.key);
  ASSERT_TRUE(found);
  EXPECT_GT(found->taken_at, measured.taken_at);
  measured.taken_at = found->taken_at;
  EXPECT_EQ(to_string(*found), to_string(measured));
  measured.key.constants = {"W"};
  EXPECT_FALSE(find_derivation(*cache, measured.key));
}

/// A chain that the model takes from the other end.
const char* const chain =
    "def f(float(M,K) A, float(K,L) B, float(L) v) -> (y) { T(m,l) +=! A(m,k) * B(k,l)  y(m) +=! T(m,l) * v(l) }";

std::vector<TensorSpec> chain_inputs() {
  return {contiguous(DType::Float32, {64, 48}), contiguous(DType::Float32, {48, 56}), contiguous(DType::Float32, {56})};
}

std::shared_ptr<const Executable> chain_with(const CompileOptions& options) {
  return compile(define(chain).functions.front(), chain_inputs(), {}, options);
}

TEST(DerivationPrices, DecideWhatACompileTakesAndAreProvedAgain) {
  const cache::TemporaryFolder folder;
  const auto cache = cache_in(folder);
  CompileOptions options;
  options.derive = 3;
  const auto by_model = chain_with(options)->stats().derived;
  ASSERT_EQ(by_model.size(), 1u);
  const auto& certificate = by_model.front().certificate;
  const auto function = define(chain).functions.front();
  const auto arguments = make_arguments(*function, chain_inputs(), {});
  const auto parts = derivable_parts(function, arguments, options, 8);
  ASSERT_FALSE(parts.empty());
  options.cache = cache;
  MeasuredDerivation measured{parts.front().key, 2e-3, {{by_model.front().text, 1e-3}}, certificate};
  ASSERT_TRUE(keep_derivation(*options.cache, measured));
  const auto taken = chain_with(options)->stats().derived;
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken.front().source, "measured");
  EXPECT_DOUBLE_EQ(taken.front().before_us, 2000);
  EXPECT_DOUBLE_EQ(taken.front().after_us, 1000);

  measured.certificate = "";
  ASSERT_TRUE(keep_derivation(*options.cache, measured));
  EXPECT_TRUE(chain_with(options)->stats().derived.empty()) << "the def was the fastest";

  measured.certificate = certificate;
  const auto at = measured.certificate.rfind("A(");
  ASSERT_NE(at, std::string::npos);
  measured.certificate.replace(at, 2, "B(");
  ASSERT_TRUE(keep_derivation(*options.cache, measured));
  EXPECT_TRUE(chain_with(options)->stats().derived.empty()) << "a certificate that proves nothing was taken";
  EXPECT_NE(why_unproved(measured), "");
  measured.certificate = certificate;
  EXPECT_EQ(why_unproved(measured), "");
  measured.key.program = "def g() {}";
  EXPECT_EQ(why_unproved(measured), "it is about another program");
}

/// A program that takes 40 GB for what needs none, as long as no strips keep it small, is proved as well as another.
TEST(DerivationPrices, AProgramThatNeedsMuchMoreMemoryIsAWarning) {
  const cache::TemporaryFolder folder;
  const auto function = define(R"(def f(float(M,K) A, float(K,L) B, float(L) v) -> (y) {
    T(k) +=! B(k,l) * v(l)  y(m) +=! A(m,k) * T(k) })")
                            .functions.front();
  const std::vector<TensorSpec> inputs{contiguous(DType::Float32, {100000, 1}), contiguous(DType::Float32, {1, 100000}),
                                       contiguous(DType::Float32, {100000})};
  CompileOptions options;
  options.derive = 3;
  options.mapping = options::MappingOptions::parse("parallel=0");
  const auto parts = derivable_parts(function, make_arguments(*function, inputs, {}), options, 200);
  int large = 0;
  for (const auto& part : parts)
    for (const auto& program : part.programs) {
      CompileOptions given;
      given.derivation = program.certificate;
      given.mapping = options.mapping;
      if (compile(function, inputs, {}, given)->image().workspace_bytes < 40000000000u) continue;
      ++large;
      auto how = options;
      how.cache = cache_in(folder);
      ASSERT_TRUE(keep_derivation(*how.cache, {part.key, 2e-3, {{program.text, 1e-3}}, program.certificate}));
      const auto made = compile(function, inputs, {}, how);
      EXPECT_TRUE(made->stats().derived.empty());
      EXPECT_LT(made->image().workspace_bytes, 1000000u);
      const auto warnings = how.cache->take_warnings();
      ASSERT_EQ(warnings.size(), 1u);
      EXPECT_NE(warnings.front().find("is not taken: it is too large"), std::string::npos) << warnings.front();
      return;
    }
  EXPECT_GT(large, 0) << "nothing derived takes much memory";
}

TEST(DerivationPrices, ADerivationIsTakenAsItIsGiven) {
  CompileOptions options;
  options.derive = 3;
  const auto by_model = chain_with(options)->stats().derived;
  ASSERT_EQ(by_model.size(), 1u);
  CompileOptions given;
  given.derivation = by_model.front().certificate;
  const auto taken = chain_with(given)->stats().derived;
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken.front().source, "given");
  EXPECT_EQ(taken.front().text, by_model.front().text);
  const auto at = given.derivation.rfind("A(");
  given.derivation.replace(at, 2, "B(");
  EXPECT_ERROR(chain_with(given), OptionsError, "is not proved");
}

}  // namespace
}  // namespace tc::engine
