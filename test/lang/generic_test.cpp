#include <gtest/gtest.h>

#include "tc/lang/check/check.h"
#include "tc/lang/generic/instantiate.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "test/support/expect_error.h"

namespace tc::lang {
namespace {

const std::string norm = R"(def norm(T(..., C) X, T(C) g, T eps) -> (Y) {
  s(...) +=! X(..., c) * X(..., c)
  Y(..., c) = X(..., c) * g(c) * T(2) / (s(...) + eps)
}
)";

std::string instance_text(const std::string& text, const Instance& instance) {
  return print(instantiate(parse(text).defs.front(), instance));
}

TEST(Generic, TextsPrintAsTheyAreWritten) {
  EXPECT_EQ(print(parse(norm)), norm);
  EXPECT_TRUE(equal(parse(norm).defs[0], parse(print(parse(norm))).defs[0]));
  EXPECT_FALSE(equal(parse(norm).defs[0], parse("def norm(U(..., C) X, U(C) g, U eps) -> (Y) { Y = eps }").defs[0]));
}

TEST(Generic, InstancesHaveTypesAndDimensions) {
  EXPECT_EQ(instance_text(norm, {{{"T", DType::Float64}}, 2}),
            R"(def norm(float64(L0, L1, C) X, float64(C) g, float64 eps) -> (Y) {
  s(l0, l1) +=! X(l0, l1, c) * X(l0, l1, c)
  Y(l0, l1, c) = X(l0, l1, c) * g(c) * float64(2) / (s(l0, l1) + eps)
}
)");
  EXPECT_EQ(instance_text(norm, {{{"T", DType::Int32}}, 0}),
            R"(def norm(int32(C) X, int32(C) g, int32 eps) -> (Y) {
  s() +=! X(c) * X(c)
  Y(c) = X(c) * g(c) * int32(2) / (s() + eps)
}
)");
}

TEST(Generic, NamesOfTheTextAreNotTaken) {
  const auto text =
      instance_text("def f(float(..., L0) X) -> (Y) { Y(..., l1) = X(..., l1) * l_0 where l_0 = L0 }", {{}, 2});
  EXPECT_EQ(text, R"(def f(float32(L_0, L_1, L0) X) -> (Y) {
  Y(l__0, l__1, l1) = X(l__0, l__1, l1) * l_0 where l_0 = L0
}
)");
}

TEST(Generic, EveryInstanceIsADef) {
  for (int leading = 0; leading < 5; ++leading)
    for (auto type : {DType::Float16, DType::Float32, DType::Float64, DType::Int32, DType::Bool}) {
      const std::string text = "def f(T(...,N) X, U(...) Z) -> (Y, W) { Y(...,i) = X(...,i)  W(...) = Z(...)  }";
      const auto checked = check(parse(instance_text(text, {{{"T", type}, {"U", DType::Int8}}, leading})));
      EXPECT_EQ(checked.defs[0].tensors.at("Y").rank, leading + 1);
      EXPECT_EQ(checked.defs[0].tensors.at("Y").type, type);
      EXPECT_EQ(checked.defs[0].tensors.at("W").rank, leading);
      EXPECT_EQ(checked.defs[0].tensors.at("W").type, DType::Int8);
    }
}

TEST(Generic, ArgumentsChooseTheInstance) {
  const auto def = parse(norm).defs.front();
  const Operand vector{DType::Float64, 1}, matrix{DType::Float64, 2}, number{};
  EXPECT_EQ(instance_for(def, {matrix, vector, number}), (Instance{{{"T", DType::Float64}}, 1}));
  EXPECT_EQ(instance_for(def, {vector, vector, number}), (Instance{{{"T", DType::Float64}}, 0}));
  const auto refused = [&](const std::vector<Operand>& operands, const std::string& message) {
    EXPECT_ERROR(instance_for(def, operands), ArgumentError, message);
  };
  refused({matrix, {DType::Float32, 1}, number},
          "'g' of 'norm' is float32 and 'X' is float64, and both have the type T");
  refused({{DType::Float64, 0}, vector, number}, "'X' of 'norm' has 0 dimensions, at least 1 are needed");
  refused({matrix, vector}, "'norm' takes 3 tensors, 2 were given");
  const auto two = parse("def f(T(...) X, U(...,N) Z) -> (Y) { Y(...) +=! X(...) * Z(...,n) }").defs.front();
  const std::vector<Operand> given{matrix, matrix};
  EXPECT_ERROR(instance_for(two, given), ArgumentError,
               "'Z' of 'f' has 1 leading dimension and 'X' has 2: '...' stands for the same dimensions");
}

/// A caller has an instance for each kind of arguments; one of the usual kind is the def itself.
TEST(Generic, CallsHaveInstances) {
  const auto checked = check(parse(norm + R"(
def f(float(N, C) X, float(C) g, double(B, N, C) Z, double(C) h, float e, double d) -> (Y, W) {
  Y = norm(X, g, e)
  W = norm(Z, h, d)
  Z2(n, c) = Z(0, n, c)
  W2 = norm(Z2, h, d)
  Z3 = norm(Z, h, d)
})"));
  std::vector<std::string> names, origins;
  for (const auto& def : checked.defs) {
    names.push_back(def.name);
    origins.push_back(def.instance_of);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"norm", "f", "norm_float64_1", "norm_float64_2"}));
  EXPECT_EQ(origins, (std::vector<std::string>{"", "", "norm", "norm"}));
  EXPECT_EQ(std::get<CallStatement>(checked.defs[1].statements[1].node).def, "norm_float64_2");
  EXPECT_EQ(checked.defs[1].tensors.at("W").type, DType::Float64);
  EXPECT_EQ(checked.defs[1].tensors.at("W").rank, 3);
  EXPECT_NO_THROW(check(parse(print(checked))));
}

}  // namespace
}  // namespace tc::lang
