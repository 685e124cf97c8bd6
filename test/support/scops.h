#pragma once

#include "test/support/scop_builder.h"

/// The scops of well-known programs, small.
namespace tc::polyhedral::scops {

/// O(m, n) +=! A(m, k) * B(k, n); O(m, n) = O(m, n) + bias(n); R(m, n) = fmax(O(m, n), 0)
inline Scop matmul_bias_relu(std::shared_ptr<Context> context, int m = 37, int n = 45, int k = 19) {
  auto mn = str("0 <= m < ", m, " and 0 <= n < ", n);
  return ScopBuilder(context)
      .input("A", {m, k})
      .input("B", {k, n})
      .input("bias", {n})
      .temporary("O", {m, n})
      .output("R", {m, n})
      .identity(str("S0[m, n] : ", mn), "O[m, n]")
      .accumulate(str("S1[m, n, k] : ", mn, " and 0 <= k < ", k), "O[m, n]", {"A[m, k]", "B[k, n]"})
      .statement(str("S2[m, n] : ", mn), "O[m, n]", {"O[m, n]", "bias[n]"})
      .statement(str("S3[m, n] : ", mn), "R[m, n]", {"O[m, n]"})
      .scop();
}

/// O(m, n) +=! A(m, k) * B(k, n)
inline Scop matmul(std::shared_ptr<Context> context, int m = 37, int n = 45, int k = 19) {
  auto mn = str("0 <= m < ", m, " and 0 <= n < ", n);
  return ScopBuilder(context)
      .input("A", {m, k})
      .input("B", {k, n})
      .output("O", {m, n})
      .identity(str("S0[m, n] : ", mn), "O[m, n]")
      .accumulate(str("S1[m, n, k] : ", mn, " and 0 <= k < ", k), "O[m, n]", {"A[m, k]", "B[k, n]"})
      .scop();
}

/// C(i, j) +=! A(i, k) * B(k, j) of m x k and k x n matrices, statements I and U; of square ones other subscripts as \p a and \p b say.
inline Scop product(std::shared_ptr<Context> context, int m, int n, int k, const char* a = "A[i, k]",
                    const char* b = "B[k, j]") {
  auto ij = str("0 <= i < ", m, " and 0 <= j < ", n);
  return ScopBuilder(context)
      .input("A", {m, k})
      .input("B", {k, n})
      .output("C", {m, n})
      .identity(str("I[i, j] : ", ij), "C[i, j]")
      .accumulate(str("U[i, j, k] : ", ij, " and 0 <= k < ", k), "C[i, j]", {a, b})
      .scop();
}
/// The same of halves, whose sums are floats; \p transposed: of B[j, k].
inline Scop product_of_halves(std::shared_ptr<Context> context, int m, int n, int k, bool transposed) {
  auto scop = product(std::move(context), m, n, k, "A[i, k]", transposed ? "B[j, k]" : "B[k, j]");
  for (const char* operand : {"A", "B"}) scop.tensor(operand).type = DType::BFloat16;
  auto& b = scop.tensor("B");
  if (transposed) b.extent = {n, k}, b.strides = {k, 1};
  scop.statement("U").product = true;
  return scop;
}
inline Scop square_product(std::shared_ptr<Context> context, int n, const char* a = "A[i, k]",
                           const char* b = "B[k, j]") {
  return product(std::move(context), n, n, n, a, b);
}

/// C(i) +=! A(i, k) of n rows of m, statements I and U.
inline Scop row_sums(std::shared_ptr<Context> context, int n, int m) {
  auto i = str("0 <= i < ", n);
  return ScopBuilder(context)
      .input("A", {n, m})
      .output("C", {n})
      .identity(str("I[i] : ", i), "C[i]")
      .accumulate(str("U[i, k] : ", i, " and 0 <= k < ", m), "C[i]", {"A[i, k]"})
      .scop();
}

/// mx(i) max=! X(i, j); E(i, j) = exp(X(i, j) - mx(i)); sm(i) +=! E(i, j); Y(i, j) = E(i, j) / sm(i)
inline Scop softmax(std::shared_ptr<Context> context, int rows = 64, int columns = 31) {
  auto i = str("0 <= i < ", rows), ij = str(i, " and 0 <= j < ", columns);
  return ScopBuilder(context)
      .input("X", {rows, columns})
      .temporary("mx", {rows})
      .temporary("E", {rows, columns})
      .temporary("sm", {rows})
      .output("Y", {rows, columns})
      .identity(str("S0[i] : ", i), "mx[i]")
      .accumulate(str("S1[i, j] : ", ij), "mx[i]", {"X[i, j]"})
      .statement(str("S2[i, j] : ", ij), "E[i, j]", {"X[i, j]", "mx[i]"})
      .identity(str("S3[i] : ", i), "sm[i]")
      .accumulate(str("S4[i, j] : ", ij), "sm[i]", {"E[i, j]"})
      .statement(str("S5[i, j] : ", ij), "Y[i, j]", {"E[i, j]", "sm[i]"})
      .scop();
}

}  // namespace tc::polyhedral::scops
