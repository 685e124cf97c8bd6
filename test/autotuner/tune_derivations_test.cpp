#include "tc/autotuner/tune_derivations.h"

#include "tc/cpu/thread_pool.h"
#include "tc/engine/graph/compile.h"
#include "test/support/expect_error.h"
#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

/// A chain of two products that takes a fiftieth of the operations from the other end.
const char* const chain =
    "def f(float(M,K) A, float(K,L) B, float(L) v) -> (y) { T(m,l) +=! A(m,k) * B(k,l)  y(m) +=! T(m,l) * v(l) }";

engine::CompileOptions derive_to(int depth, const TuneSettings& settings) {
  engine::CompileOptions how;
  how.target = settings.target;
  how.cache = settings.cache;
  how.derive = depth;
  return how;
}

std::shared_ptr<const engine::Executable> compiled(const std::vector<TensorSpec>& specs,
                                                   const engine::CompileOptions& how) {
  return engine::compile(function_of(chain), specs, {}, how);
}

TEST(TuneDerivations, WhatWasMeasuredIsWhatCompilesTake) {
  const std::vector<TensorSpec> specs{matrix(192, 192), matrix(192, 192), contiguous(DType::Float32, {192})};
  Folder folder;
  auto settings = quick(6);
  settings.cache = cache_in(folder.path());
  const auto how = derive_to(3, settings);
  EXPECT_EQ(compiled(specs, how)->stats().derived.front().source, "model");
  const auto tuning = tune_derivations(function_of(chain), specs, settings, how);
  ASSERT_FALSE(tuning.parts.empty());
  const auto& part = tuning.parts.front();
  EXPECT_TRUE(part.kept);
  ASSERT_GT(part.best, 0u);
  EXPECT_LT(part.programs[part.best].seconds, part.programs.front().seconds);
  for (const auto& program : part.programs)
    EXPECT_TRUE(program.measured.usable() || program.measured.status == Status::Slow) << program.measured.note;
  cpu::set_num_threads(settings.threads);
  const auto derived = compiled(specs, how)->stats().derived;
  ASSERT_EQ(derived.size(), 1u);
  EXPECT_EQ(derived.front().source, "measured");
  EXPECT_EQ(derived.front().text, part.programs[part.best].program.text);
  EXPECT_NEAR(derived.front().after_us, 1e6 * part.programs[part.best].seconds, 1e-3 * derived.front().after_us);
}

TEST(TuneDerivations, ConstantsAreThoseOfTheCompile) {
  Folder folder;
  auto settings = quick(3);
  settings.cache = cache_in(folder.path());
  auto how = derive_to(2, settings);
  how.constants = {{"nothing", {}, nullptr, std::nullopt}};
  const std::vector<TensorSpec> specs{matrix(24, 24), matrix(24, 24), contiguous(DType::Float32, {24})};
  EXPECT_ERROR(tune_derivations(function_of(chain), specs, settings, how), ArgumentError, "takes no 'nothing'");
  how.constants = {{"B", {}, nullptr, std::nullopt}};
  const auto tuning = tune_derivations(function_of(chain), specs, settings, how);
  ASSERT_FALSE(tuning.parts.empty());
  for (const auto& program : tuning.parts.front().programs)
    EXPECT_TRUE(program.measured.usable() || program.measured.status == Status::Slow) << program.measured.note;
}

TEST(TuneDerivations, NothingIsMeasuredWhereNothingIsDerived) {
  auto settings = quick(3);
  const auto how = derive_to(2, settings);
  const auto tuning = tune_derivations(function_of("def f(float(N) A) -> (B) { B(i) = exp(A(i)) }"),
                                       {contiguous(DType::Float32, {24})}, settings, how);
  EXPECT_TRUE(tuning.parts.empty());
  EXPECT_ERROR(tune_derivations(function_of(chain), {}, settings, derive_to(0, settings)), OptionsError, "derive=0");
}

}  // namespace
}  // namespace tc::autotuner
