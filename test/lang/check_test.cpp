#include "tc/lang/check/check.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

/// The typed tree: every leaf and written operation with its type, an implicit cast as "~type(...)".
std::string typed(const ExprPtr& e) {
  std::string parts;
  for (const auto& child : children(e)) parts += (parts.empty() ? "" : ", ") + typed(child);
  const std::string type = e->type ? str(*e->type) : "?";
  if (const auto* cast = std::get_if<Cast>(&e->node)) return str(cast->implicit ? "~" : "", type, "(", parts, ")");
  if (parts.empty()) return print(e) + ":" + type;
  std::string head = "op";
  if (const auto* access = std::get_if<Access>(&e->node)) head = access->tensor;
  if (const auto* call = std::get_if<Call>(&e->node)) head = call->function;
  return str(head, ":", type, "[", parts, "]");
}

const char* const inputs =
    "bool(N) P, int8(N) b, uint8(N) u, int(N) I, uint32(N) w, int64(N) L, uint64(N) U, half(N) h, bfloat16(N) g, "
    "float(N) A, double(N) D, float s";

Def check_one(const std::string& body, const std::string& returns = "O") {
  return check(parse(str("def f(", inputs, ") -> (", returns, ") { ", body, " }"))).defs[0];
}

/// The type of O after O(i) = value.
std::string type_of(const std::string& value) {
  return str(check_one("O(i) = " + value + " where i in 0:N").tensors.at("O").type);
}

TEST(Check, TypesOfValues) {
  const std::pair<const char*, const char*> rows[] = {
      {"b(i)+u(i)", "int16"},
      {"u(i)+I(i)", "int32"},
      {"w(i)+I(i)", "int64"},
      {"w(i)+b(i)", "int64"},
      {"U(i)+u(i)", "uint64"},
      {"L(i)+I(i)", "int64"},
      {"I(i)+A(i)", "float32"},
      {"L(i)*A(i)", "float32"},
      {"h(i)*g(i)", "float32"},
      {"h(i)*h(i)", "float16"},
      {"h(i)+A(i)", "float32"},
      {"A(i)+D(i)", "float64"},
      {"I(i)+h(i)", "float16"},
      {"b(i)+1", "int8"},
      {"b(i)*2.5", "float32"},
      {"h(i)*2.5", "float16"},
      {"D(i)*2.5", "float64"},
      {"h(i)+2", "float16"},
      {"2*3", "int32"},
      {"1/3.0", "float32"},
      {"3000000000", "int64"},
      {"10000000000000000000", "uint64"},
      {"i", "int64"},
      {"N", "int64"},
      {"A.0", "int64"},
      {"i+I(i)", "int64"},
      {"A(i)/N", "float32"},
      {"P(i)", "bool"},
      {"P(i)+P(i)", "int32"},
      {"P(i)+b(i)", "int8"},
      {"-P(i)", "int32"},
      {"P(i)==P(i)", "bool"},
      {"b(i)<A(i)", "bool"},
      {"!P(i)&&b(i)>0", "bool"},
      {"P(i)?b(i):u(i)", "int16"},
      {"P(i)?1:0.5", "float32"},
      {"h(i)*(P(i)?1:0)", "float16"},
      {"P(i)?P(i):P(i)", "bool"},
      {"min(b(i),3)", "int8"},
      {"max(A(i),0)", "float32"},
      {"fmax(I(i),0)", "float32"},
      {"exp(L(i))", "float32"},
      {"exp(L(i))*D(i)", "float64"},
      {"D(i)/sqrt(N)", "float64"},
      {"h(i)*(0.1*i)", "float16"},
      {"h(i)*cospi(2.0*i/N)", "float16"},
      {"D(i)*(0.1*I(i))", "float64"},
      {"D(i)*max(0.5*i,1)", "float64"},
      {"D(i)*select(P(i),0.1,i)", "float64"},
      {"D(i)*(0.1*float32(i))", "float64"},
      {"0.5*i", "float32"},
      {"0.5*P(i)", "float32"},
      {"exp(h(i))", "float16"},
      {"exp(2)", "float32"},
      {"pow(D(i),2)", "float64"},
      {"abs(b(i))", "int8"},
      {"isnan(h(i))", "bool"},
      {"popcount(u(i))", "uint8"},
      {"select(P(i),A(i),0)", "float32"},
      {"clamp(I(i),0,255)", "int32"},
      {"min(1,3000000000)", "int64"},
      {"float64(0.1)", "float64"},
      {"int8(A(i))", "int8"},
      {"c*h(i) where c = 0.1, j in 0:1", "float16"},
  };
  for (const auto& [value, type] : rows) {
    if (std::string(value).find("where") != std::string::npos) continue;
    EXPECT_EQ(type_of(value), type) << value;
  }
  EXPECT_EQ(check_one("O(i) = c * h(i) where c = 0.1").tensors.at("O").type, DType::Float16);
  EXPECT_EQ(check_one("O(i) = c where c = 2, i in 0:N").tensors.at("O").type, DType::Int32);
}

std::string rhs_of(const std::string& body, const std::string& returns = "O", std::size_t statement = 0) {
  return typed(std::get<Assignment>(check_one(body, returns).statements.at(statement).node).rhs);
}

TEST(Check, ConversionsAreCasts) {
  const std::pair<const char*, const char*> rows[] = {
      {"O(i) = b(i) + 1", "op:int8[b:int8[i:int64], 1:int8]"},
      {"O(i) = A(i) + 1", "op:float32[A:float32[i:int64], ~float32(1:int32)]"},
      {"O(i) = D(i) * 0.1", "op:float64[D:float64[i:int64], 0.1:float64]"},
      {"O(i) = D(i) * (1/2)", "op:float64[D:float64[i:int64], ~float64(op:int32[1:int32, 2:int32])]"},
      {"O(i) = I(i) + A(i)", "op:float32[~float32(I:int32[i:int64]), A:float32[i:int64]]"},
      {"O(i) = P(i) + P(i)", "op:int32[~int32(P:bool[i:int64]), ~int32(P:bool[i:int64])]"},
      {"O(i) = A(b(i)+1)", "A:float32[op:int64[~int64(b:int8[i:int64]), 1:int64]]"},
      {"O(i) = A(int32(A(i)))", "A:float32[~int64(int32(A:float32[i:int64]))]"},
      {"O(i) = float64(0.1) where i in 0:N", "float64(0.1:float64)"},
      {"O(i) = D(i) * c where c = 0.1", "op:float64[D:float64[i:int64], c:float64]"},
      {"O(i) = A(i) * c where c = 0.1", "op:float32[A:float32[i:int64], ~float32(c:float64)]"},
      {"O(i) = A(i) * s", "op:float32[A:float32[i:int64], s:float32]"},
      {"O(i) = fma(A(i), 2, I(i))", "fma:float32[A:float32[i:int64], ~float32(2:int32), ~float32(I:int32[i:int64])]"},
      {"O(i) = select(b(i) < 3, 1, 2.5)",
       "select:float32[op:bool[b:int8[i:int64], 3:int8], ~float32(1:int32), 2.5:float32]"},
      {"O +=! P(i)", "~int32(P:bool[i:int64])"},
      {"O &&=! P(i)", "P:bool[i:int64]"},
  };
  for (const auto& [body, expected] : rows) EXPECT_EQ(rhs_of(body), expected) << body;
}

TEST(Check, ValueTakesTheTypeOfTheTarget) {
  EXPECT_EQ(rhs_of("O(i) = A(i)", "half(N) O"), "~float16(A:float32[i:int64])");
  EXPECT_EQ(rhs_of("O(i) = L(i)", "int8(N) O"), "~int8(L:int64[i:int64])");
  EXPECT_EQ(rhs_of("O(i) = P(i)", "float(N) O"), "~float32(P:bool[i:int64])");
  EXPECT_EQ(rhs_of("O(i) = 1 where i in 0:N", "double(N) O"), "~float64(1:int32)");
  EXPECT_EQ(rhs_of("O(i) = A(i) O(i) = D(i)", "O", 1), "~float32(D:float64[i:int64])");
  EXPECT_EQ(rhs_of("O(i) +=! u(i) * b(j)", "O"), "op:int16[~int16(u:uint8[i:int64]), ~int16(b:int8[j:int64])]");
}

TEST(Check, FirstLiteralAdaptsToLaterValues) {
  EXPECT_EQ(check_one("O(i) = 0 where i in 0:N  O(i) += A(i)").tensors.at("O").type, DType::Float32);
  EXPECT_EQ(check_one("O(i) = 0.0 where i in 0:N  O(i) += D(i)").tensors.at("O").type, DType::Float64);
  EXPECT_EQ(check_one("O(i) = 0 where i in 0:N  O(i) += b(i)").tensors.at("O").type, DType::Int8);
  EXPECT_EQ(check_one("O(i) = 0 where i in 0:N  T(i) = O(i) + 1  O(i) = O(i) / 2.0").tensors.at("T").type,
            DType::Float32);
  EXPECT_EQ(check_one("O(i) = 0 where i in 0:N  O(i) = P(i)").tensors.at("O").type, DType::Int32);
  EXPECT_EQ(check_one("O(i) = 0.5 where i in 0:N  O(i) = I(i)").tensors.at("O").type, DType::Float32);
  EXPECT_EQ(check_one("O(i) = 0 where i in 0:N  O(i) += 0.5").tensors.at("O").type, DType::Float32);
  EXPECT_EQ(check_one("O(i) = 0 where i in 0:N  O(i) += 0.5 * I(i)  O(i) += D(i)").tensors.at("O").type,
            DType::Float64);
}

/// A float of literals and integers takes the type of the float beside it, else that of the tensor it is stored in.
TEST(Check, FloatsOfIntegersAdapt) {
  const std::pair<const char*, const char*> rows[] = {
      {"O(i) = D(i) * (1.0 / N)", "op:float64[D:float64[i:int64], op:float64[1.0:float64, ~float64(N:int64)]]"},
      {"O(i) = h(i) * (i + 0.5)", "op:float16[h:float16[i:int64], op:float16[~float16(i:int64), 0.5:float16]]"},
      {"O(i) = D(i) < 0.1 * I(i) ? 1 : 2",
       "op:int32[op:bool[D:float64[i:int64], op:float64[0.1:float64, ~float64(I:int32[i:int64])]], 1:int32, "
       "2:int32]"},
  };
  for (const auto& [body, tree] : rows) EXPECT_EQ(rhs_of(body), tree) << body;
  EXPECT_EQ(rhs_of("O(i) = cospi(i / 4.0) where i in 0:N", "double O"),
            "cospi:float64[op:float64[~float64(i:int64), 4.0:float64]]");
  EXPECT_EQ(rhs_of("O(i) = 0.1 * i < 0.5 ? D(i) : 0", "double O"),
            "op:float64[op:bool[op:float32[0.1:float32, ~float32(i:int64)], 0.5:float32], D:float64[i:int64], "
            "~float64(0:int32)]");
  EXPECT_EQ(rhs_of("O(i) = 0.1 * i where i in 0:N  O(i) += D(i)"), "op:float64[0.1:float64, ~float64(i:int64)]");
}

TEST(Check, NamesAreResolved) {
  const Def def = check_one("O(i) = A(i + N) * s + s() * k + x where k = D.0, x = b(i)");
  const auto& assignment = std::get<Assignment>(def.statements[0].node);
  std::string kinds;
  for_each_expr(assignment.rhs, [&](const ExprPtr& e) {
    if (const auto* name = std::get_if<Name>(&e->node)) kinds += str(name->id, static_cast<int>(name->kind), " ");
    if (const auto* access = std::get_if<Access>(&e->node)) kinds += str(access->tensor, access->bare ? "! " : " ");
  });
  EXPECT_EQ(kinds, "A i1 N2 s! s k3 x3 ");
  EXPECT_EQ(def.sizes, std::vector<std::string>{"N"});
}

TEST(Check, ReductionIterators) {
  const auto reductions = [](const std::string& body) {
    return join(std::get<Assignment>(check_one(body).statements[0].node).reduction_iterators);
  };
  EXPECT_EQ(reductions("O(i) +=! A(k) * A(i + j)"), "k, j");
  EXPECT_EQ(reductions("O +=! A(I(i))"), "i");
  EXPECT_EQ(reductions("O(i) +=! A(i) where k in 0:3"), "k");
  EXPECT_EQ(reductions("O(i) +=! x where x = A(j), exists A(i + m)"), "j, m");
  EXPECT_EQ(reductions("O(i) +=! A(i)"), "");
  EXPECT_EQ(reductions("O(i) = (i < 3) ? A(i) : 0"), "");
}

TEST(Check, Roles) {
  const Def def = check_one("t(i) = A(i) R += t(i) O(i) = t(i) Q(i) +=! t(i) * A(j)", "O, float R, Q");
  const std::pair<const char*, Role> rows[] = {
      {"A", Role::Input}, {"t", Role::Temporary}, {"O", Role::Output}, {"Q", Role::Output}, {"R", Role::InOut}};
  for (const auto& [name, role] : rows) EXPECT_EQ(def.tensors.at(name).role, role) << name;
  EXPECT_EQ(def.tensors.at("R").rank, 0);
  EXPECT_EQ(def.tensors.at("A").dims->size(), 1u);
  EXPECT_FALSE(def.tensors.at("t").dims);
  std::vector<Diagnostic> warnings;
  check(parse("def f(float(N) A) -> (float(N) O) { O(i) += A(i) }"), &warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].code, "TC130");
  EXPECT_FALSE(warnings[0].is_error);
}

TEST(Check, CallsGiveTypesToResults) {
  const File file = check(parse(R"(
def caller(double(N) X, float(N) R) -> (A, P) { A, B = twin(X)  P = twice(R) }
def twin(double(N) X) -> (Y, Z) { Y(i) = int16(X(i))  Z +=! X(i) }
def twice(float(N) X) -> (float(N) Y) { Y(i) *=! X(i) * 2 })"));
  const auto& tensors = file.defs[0].tensors;
  EXPECT_EQ(tensors.at("A").type, DType::Int16);
  EXPECT_EQ(tensors.at("B").type, DType::Float64);
  EXPECT_EQ(tensors.at("B").rank, 0);
  EXPECT_EQ(tensors.at("B").role, Role::Temporary);
  EXPECT_EQ(tensors.at("P").rank, 1);
}

TEST(Check, SizesAreInt64Expressions) {
  const Def def =
      check(parse("def f(float(N,2*N+1) A, float(A.0,M) B) -> (float(M/2) O) { O(i) = B(0,i) where i in 0:M/2 }"))
          .defs[0];
  EXPECT_EQ(def.sizes, (std::vector<std::string>{"N", "M"}));
  EXPECT_EQ(typed(def.params[0].dims->at(1)), "op:int64[op:int64[2:int64, N:int64], 1:int64]");
  EXPECT_EQ(typed(def.tensors.at("O").dims->at(0)), "op:int64[M:int64, 2:int64]");
}

TEST(Check, IsIdempotent) {
  const File once =
      check(parse(str("def f(", inputs, ") -> (O, Q) { O(i) = A(b(i)) * c + D(i) * s where c = 0.1  Q += P(i) }")));
  const File again = check(once);
  EXPECT_TRUE(equal(once.defs[0], again.defs[0]));
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(typed(std::get<Assignment>(once.defs[0].statements[i].node).rhs),
              typed(std::get<Assignment>(again.defs[0].statements[i].node).rhs));
}

}  // namespace
}  // namespace tc::lang
