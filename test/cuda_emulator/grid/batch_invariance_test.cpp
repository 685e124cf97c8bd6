// With batch_invariant=1 the results of kernels have the same bits for every number of rows, and no thread shares a sum with others.

#include <gtest/gtest.h>

#include <random>

#include "test/cuda_emulator/device_program.h"
#include "test/support/program_file.h"

namespace tc::test {
namespace {

/// Programs whose first tensor and result have N rows, which lie one after the other.
struct Rows {
  const char *name, *text;
  lang::SizeMap sizes;  ///< but N
};

const Rows programs_of_rows[] = {
    {"Product", "def f(float(N,K) A, float(K,M) B) -> (C) { C(n,m) +=! A(n,k) * B(k,m) / 3 }", {{"K", 40}, {"M", 17}}},
    {"ProductOfRows",
     "def f(float(N,K) A, float(M,K) B) -> (C) { C(n,m) +=! A(n,k) * B(m,k) }",
     {{"K", 40}, {"M", 17}}},
    {"ProductOfHalves",
     "def f(bfloat16(N,K) A, bfloat16(K,M) B) -> (C) { C(n,m) +=! float(A(n,k)) * float(B(k,m)) }",
     {{"K", 32}, {"M", 32}}},
    {"Softmax",
     "def f(float(N,C) X) -> (O) {\n  M(n) max=! X(n,c)\n  E(n,c) = exp(X(n,c) - M(n))\n  S(n) +=! E(n,c)\n  O(n,c) = "
     "E(n,c) / S(n)\n}",
     {{"C", 300}}},
    {"Convolution",
     "def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw) }",
     {{"C", 5}, {"H", 6}, {"W", 7}, {"M", 8}, {"KH", 3}, {"KW", 3}}},
};

void PrintTo(const Rows& rows, std::ostream* out) { *out << rows.text; }

std::int64_t elements_of(const HostTensor& tensor) {
  std::int64_t result = 1;
  for (auto extent : tensor.spec().shape) result *= extent;
  return result;
}

constexpr std::int64_t most_rows = 40;

class BatchInvariance : public testing::TestWithParam<Rows> {
 protected:
  /// Fractions, the same for the elements that two numbers of rows share.
  Arguments arguments(std::int64_t rows) const {
    auto sizes = GetParam().sizes;
    sizes["N"] = rows;
    auto result = make_arguments(*function_, file(), sizes);
    for (auto& input : result.inputs) {
      std::mt19937_64 random(7);
      std::uniform_real_distribution<double> fraction(-0.4, 0.6);
      for (std::int64_t i = 0; i < elements_of(input); ++i) input.set(i, fraction(random));
    }
    return result;
  }
  /// Laws are verified of the kernels for most rows.
  HostTensor result(std::int64_t rows, const std::string& mapping) const {
    const auto arguments = this->arguments(rows);
    engine::CompileOptions options;
    options.target = Target::parse("cuda:sm_90,multiprocessors=16");
    options.mapping = options::MappingOptions::parse(mapping);
    options.stages.verify = rows == most_rows;
    const auto program = device_program(function_, arguments.input_specs(), arguments.output_specs(), options);
    const auto run = emulate(program, *function_, arguments, {.seed = 1});
    EXPECT_EQ(run.faults, "") << program.text;
    return run.outputs.front();
  }
  /// Elements of the result for \p rows rows that differ from the result for many.
  int differing(std::int64_t rows, const HostTensor& many, const std::string& mapping) const {
    const auto some = result(rows, mapping);
    int count = 0;
    for (std::int64_t i = 0; i < elements_of(some); ++i) count += some.bits_at(i) != many.bits_at(i);
    return count;
  }
  static ProgramFile file() {
    ProgramFile result;
    result.text = GetParam().text;
    return result;
  }

  std::shared_ptr<const engine::Function> function_ = function_of(file(), GetParam().name);
};

TEST_P(BatchInvariance, RowsHaveTheSameBitsInEveryBatch) {
  const std::string mapping = "batch_invariant=1";
  const auto many = result(most_rows, mapping);
  for (std::int64_t rows : {1, 17}) EXPECT_EQ(differing(rows, many, mapping), 0) << rows << " rows";
}

INSTANTIATE_TEST_SUITE_P(Table, BatchInvariance, testing::ValuesIn(programs_of_rows),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tc::test
