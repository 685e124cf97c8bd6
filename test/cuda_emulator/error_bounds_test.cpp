// Results that are wrong in small ways are outside of the bounds that the error analysis gives, for every program of
// test/filetests/programs and for families of programs that round: zeros, a lane that has the value of its neighbour, a
// sum or a product that lost one of its terms. (A maximum that lost one may be right: a softmax that subtracts another
// number than the largest one is the same.)

#include <gtest/gtest.h>

#include <cmath>

#include "tc/base/str.h"
#include "test/cuda_emulator/reference.h"
#include "test/support/program_file.h"

namespace tc::test::error_bounds_test {
namespace {

using namespace lang;

ExprPtr typed(Expr::Node node, DType type) { return make_expr(std::move(node), {}, type); }

/// What a sum or product of floats begins with.
ExprPtr identity(ReductionOp op, DType type) {
  const double value = op == ReductionOp::Product ? 1 : 0;
  return typed(FloatLiteral{value, str(value)}, type);
}

/// \p function whose statement number \p i, a sum or product of floats, leaves out its last term; null for another
/// statement.
std::shared_ptr<const engine::Function> without_last_term(const engine::Function& function, std::size_t i,
                                                          const SizeMap& sizes) {
  const auto& assignment = std::get<Assignment>(function.def.statements[i].node);
  bool adds = assignment.reduction == ReductionOp::Sum || assignment.reduction == ReductionOp::Product;
  if (!adds || !is_float(*assignment.rhs->type) || assignment.reduction_iterators.empty()) return nullptr;
  ExprPtr kept;
  for (const auto& iterator : assignment.reduction_iterators) {
    auto interval = evaluate_box({function.ranges.statements[i].at(iterator)}, sizes).front();
    if (interval.extent < 2) return nullptr;
    auto last = typed(IntLiteral{static_cast<std::uint64_t>(interval.min + interval.extent - 1)}, DType::Int64);
    auto own = typed(Name{iterator, Name::Kind::Iterator}, DType::Int64);
    auto other = typed(Binary{BinaryOp::Ne, own, last}, DType::Bool);
    kept = kept ? typed(Binary{BinaryOp::Or, kept, other}, DType::Bool) : other;
  }
  auto changed = assignment;
  const auto type = *assignment.rhs->type;
  changed.rhs = typed(Select{kept, assignment.rhs, identity(*assignment.reduction, type)}, type);
  auto result = std::make_shared<engine::Function>(function);
  result->def.statements[i].node = changed;
  return result;
}

/// A faulty copy of \p right: the elements whose last index is 1 have the values of those whose last index is 0.
HostTensor with_wrong_lane(const HostTensor& right) {
  auto result = right;
  const auto& shape = right.spec().shape;
  if (shape.empty() || shape.back() < 2) return result;
  for (std::int64_t i = 0; i < right.spec().element_count(); i += shape.back()) result.set(i + 1, right.at(i));
  return result;
}

HostTensor zeros(const HostTensor& right) {
  auto result = right;
  for (std::int64_t i = 0; i < right.spec().element_count(); ++i) result.set(i, 0);
  return result;
}

bool same_values(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  for (std::size_t o = 0; o < a.size(); ++o)
    for (std::int64_t i = 0; i < a[o].spec().element_count(); ++i)
      if (a[o].bits_at(i) != b[o].bits_at(i) && !(std::isnan(a[o].at(i)) && std::isnan(b[o].at(i)))) return false;
  return true;
}

/// Expects that what interpreting \p function gives is right, and that faults in it are not. How many there were.
int expect_faults_are_found(const engine::Function& function, const Arguments& arguments) {
  const auto want = reference(function, arguments);
  if (!want.refusal.empty()) return 0;
  int faults = 0;
  EXPECT_EQ(first_difference(function, interpreted(function, arguments), want), std::nullopt);
  auto expect_found = [&](const std::vector<HostTensor>& outputs, const std::string& fault) {
    if (same_values(outputs, want.outputs)) return;
    ++faults;
    EXPECT_TRUE(first_difference(function, outputs, want)) << fault << " is within " << largest_bound(function, want);
  };
  for (std::size_t o = 0; o < want.outputs.size(); ++o)
    for (bool lane : {false, true}) {
      auto outputs = want.outputs;
      outputs[o] = lane ? with_wrong_lane(outputs[o]) : zeros(outputs[o]);
      expect_found(outputs, str(lane ? "a wrong lane of " : "zeros in ", function.def.returns[o].name));
    }
  auto sizes = engine::bind_inputs(function, arguments.input_specs());
  for (std::size_t i = 0; i < function.def.statements.size(); ++i)
    if (auto less = without_last_term(function, i, sizes))
      expect_found(interpreted(*less, arguments), str("a term less in statement ", i));
  return faults;
}

class BoundsOfAProgram : public testing::Test {
 public:
  explicit BoundsOfAProgram(std::filesystem::path path) : path_(std::move(path)) {}

  void TestBody() override {
    auto program = read_program(path_);
    auto function = engine::inlined(function_of(program, path_.filename().string()));
    for (const auto& sizes : program.runs)
      expect_faults_are_found(*function, make_arguments(*function, program, sizes));
  }

 private:
  std::filesystem::path path_;
};

const bool registered = [] {
  for (const auto& path : program_paths(std::filesystem::path(TC_SOURCE_DIR) / "test/filetests/programs"))
    testing::RegisterTest("ErrorBounds", path.stem().string().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test* { return new BoundsOfAProgram(path); });
  return true;
}();

struct Family {
  const char *name, *text;
  SizeMap sizes;
  int faults;  ///< that can be planted, at least
};

const Family families[] = {
    {"Softmax",
     "def f(float(N,D) I) -> (O, m, e, s) {\n  m(n) max=! I(n,d)\n  e(n,d) = exp(I(n,d) - m(n))\n  s(n) +=! e(n,d)\n"
     "  O(n,d) = e(n,d) / s(n)\n}",
     {{"N", 24}, {"D", 1024}},
     8},
    {"SoftmaxOfHalves",
     "def f(half(N,D) I) -> (O) {\n  m(n) max=! I(n,d)\n  s(n) +=! exp(float(I(n,d) - m(n)))\n"
     "  O(n,d) = half(exp(float(I(n,d) - m(n))) / s(n))\n}",
     {{"N", 16}, {"D", 64}},
     3},
    {"LayerNorm",
     "def f(float(N,D) I, float(D) g, float(D) b) -> (O) {\n  m(n) +=! I(n,d) / D\n"
     "  v(n) +=! (I(n,d) - m(n)) * (I(n,d) - m(n))\n  O(n,d) = g(d) * (I(n,d) - m(n)) * rsqrt(v(n) / D + 0.00001) + "
     "b(d)\n}",
     {{"N", 8}, {"D", 500}},
     4},
    {"LogSumExp",
     "def f(float(N,D) I) -> (O) { O(n) +=! exp(I(n,d) / 3)\n  O(n) = log(O(n)) }",
     {{"N", 5}, {"D", 777}},
     3},
    {"MeanOfMany", "def f(float(N) A) -> (s) { s +=! A(n) / 7 }", {{"N", 4099}}, 2},
    {"ProductOfThirds",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) / 3 }",
     {{"M", 9}, {"N", 17}, {"K", 401}},
     3},
    {"ProductOfHalves",
     "def f(half(M,K) A, half(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 9}, {"N", 17}, {"K", 256}},
     3},
    {"SwiGlu",
     "def f(float(N,K) X, float(M,K) V, float(M,K) W) -> (O) {\n  a(n,m) +=! X(n,k) * V(m,k)\n"
     "  b(n,m) +=! X(n,k) * W(m,k)\n"
     "  O(n,m) = silu(a(n,m) / 64) * b(n,m)\n}",
     {{"N", 8}, {"M", 16}, {"K", 128}},
     4},
    {"Attention",
     "def f(float(L,E) Q, float(L,E) K, float(L,E) V) -> (O) {\n  x(i,j) +=! Q(i,e) * K(j,e) / 8\n  m(i) max=! x(i,j)\n"
     "  s(i) +=! exp(x(i,j) - m(i))\n  O(i,e) +=! exp(x(i,j) - m(i)) * V(j,e) / s(i)\n}",
     {{"L", 24}, {"E", 16}},
     4},
    {"GeluOfAConvolution",
     "def f(float(N,C,H) I, float(M,C,K) F) -> (O) {\n  c(n,m,h) +=! I(n,c1,h+k) * F(m,c1,k) where c1 in 0:C\n"
     "  O(n,m,h) = gelu(c(n,m,h) / 16)\n}",
     {{"N", 2}, {"C", 6}, {"H", 34}, {"M", 4}, {"K", 3}},
     3},
    {"Doubles", "def f(double(N,D) A) -> (O) { O(n) +=! sqrt(A(n,d) * A(n,d) + 0.3) }", {{"N", 5}, {"D", 3000}}, 3},
    {"ProductOfAll", "def f(float(N,D) A) -> (O) { O(n) *=! 1 + A(n,d) / 100 }", {{"N", 5}, {"D", 60}}, 3},
};

void PrintTo(const Family& family, std::ostream* out) { *out << family.text; }

class BoundsOfAFamily : public testing::TestWithParam<Family> {};

TEST_P(BoundsOfAFamily, AreBelowSmallFaults) {
  const auto& family = GetParam();
  ProgramFile program;
  program.text = family.text;
  auto function = engine::inlined(function_of(program, family.name));
  EXPECT_GE(expect_faults_are_found(*function, make_arguments(*function, program, family.sizes)), family.faults);
}

INSTANTIATE_TEST_SUITE_P(Table, BoundsOfAFamily, testing::ValuesIn(families),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tc::test::error_bounds_test
