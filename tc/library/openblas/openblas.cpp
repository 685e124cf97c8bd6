#include "tc/library/openblas/openblas.h"

#include <optional>
#include <type_traits>

#include "tc/library/description/matrix.h"
#include "tc/library/openblas/shared.h"

namespace tc::library {
namespace {

/// A matrix as cblas is told of it.
struct BlasMatrix {
  int transposed = no_transpose;
  int leading = 1;
};

/// matrix_of() in the types of cblas; nothing if the leading dimension is too large for them.
std::optional<BlasMatrix> blas_matrix_of(std::int64_t rows, std::int64_t columns, std::int64_t down, std::int64_t along,
                                         int order) {
  const auto made = matrix_of(rows, columns, down, along, order == column_major ? Order::Columns : Order::Rows);
  if (!made || !fits_int(made->leading)) return std::nullopt;
  return BlasMatrix{made->transposed ? transpose : no_transpose, static_cast<int>(made->leading)};
}

/// The arguments of gemm.
struct Product {
  int order = row_major, m = 1, n = 1, k = 1;
  BlasMatrix a, b, c;
};

std::optional<Product> product_of(const Call& call) {
  const auto m = call.number("M"), n = call.number("N"), k = call.number("K");
  if (!fits_int(m) || !fits_int(n) || !fits_int(k)) return std::nullopt;
  if (!call.loops.empty() && (m == 1 || n == 1)) return std::nullopt;
  const auto &a = call.operands[0].strides, &b = call.operands[1].strides, &c = call.result().strides;
  for (int order : {row_major, column_major}) {
    const auto first = blas_matrix_of(m, k, a[0], a[1], order), second = blas_matrix_of(k, n, b[0], b[1], order),
               result = blas_matrix_of(m, n, c[0], c[1], order);
    if (first && second && result && result->transposed == no_transpose)
      return Product{order, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), *first, *second, *result};
  }
  return std::nullopt;
}

template <typename T>
class Gemm : public Invocation {
 public:
  Gemm(const Product& product, bool accumulates) : p_(product), beta_(accumulates ? 1 : 0) {}
  void run(void* const* operands, int threads) const override {
    const auto& blas = shared_openblas();
    const auto* a = static_cast<const T*>(operands[0]);
    const auto* b = static_cast<const T*>(operands[1]);
    auto* c = static_cast<T*>(operands[2]);
    blas.with_threads(threads, [&] {
      auto gemm = [&] {
        if constexpr (std::is_same_v<T, float>)
          return blas.sgemm;
        else
          return blas.dgemm;
      }();
      gemm(p_.order, p_.a.transposed, p_.b.transposed, p_.m, p_.n, p_.k, 1, a, p_.a.leading, b, p_.b.leading, beta_, c,
           p_.c.leading);
    });
  }

 private:
  Product p_;
  T beta_;
};

/// The arguments of gemv, A being M x K.
struct VectorProduct {
  int m = 1, k = 1, x = 1, y = 1;
  BlasMatrix a;
};

std::optional<VectorProduct> vector_product_of(const Call& call) {
  const auto m = call.number("M"), k = call.number("K");
  const auto x = k == 1 ? 1 : call.operands[1].strides[0], y = m == 1 ? 1 : call.result().strides[0];
  if (!fits_int(m) || !fits_int(k) || !fits_int(x) || !fits_int(y) || x == 0 || y == 0) return std::nullopt;
  const auto a = blas_matrix_of(m, k, call.operands[0].strides[0], call.operands[0].strides[1], row_major);
  if (!a) return std::nullopt;
  return VectorProduct{static_cast<int>(m), static_cast<int>(k), static_cast<int>(x), static_cast<int>(y), *a};
}

template <typename T>
class Gemv : public Invocation {
 public:
  Gemv(const VectorProduct& product, bool accumulates) : p_(product), beta_(accumulates ? 1 : 0) {}
  void run(void* const* operands, int threads) const override {
    const auto& blas = shared_openblas();
    const auto* a = static_cast<const T*>(operands[0]);
    const auto* x = static_cast<const T*>(operands[1]);
    auto* y = static_cast<T*>(operands[2]);
    const bool by_rows = p_.a.transposed == no_transpose;
    blas.with_threads(threads, [&] {
      auto gemv = [&] {
        if constexpr (std::is_same_v<T, float>)
          return blas.sgemv;
        else
          return blas.dgemv;
      }();
      gemv(row_major, p_.a.transposed, by_rows ? p_.m : p_.k, by_rows ? p_.k : p_.m, 1, a, p_.a.leading, x, p_.x, beta_,
           y, p_.y);
    });
  }

 private:
  VectorProduct p_;
  T beta_;
};

const std::vector<std::vector<DType>> floats = {{DType::Float32, DType::Float32, DType::Float32},
                                                {DType::Float64, DType::Float64, DType::Float64}};

/// A routine of \p Kernel<float> and \p Kernel<double>, whose arguments \p arguments_of reads off.
template <template <typename> typename Kernel, typename F>
Routine routine(const std::string& name, const std::string& def, bool accumulates, F arguments_of) {
  Routine result{name, def, floats};
  result.loops = name.substr(0, 4) == "gemm";
  result.accepts = [=](const Call& call) { return arguments_of(call).has_value(); };
  result.prepare = [=](const Call& call) -> std::unique_ptr<Invocation> {
    const auto arguments = *arguments_of(call);
    if (call.result().type == DType::Float64) return std::make_unique<Kernel<double>>(arguments, accumulates);
    return std::make_unique<Kernel<float>>(arguments, accumulates);
  };
  return result;
}

}  // namespace

Library openblas() {
  const std::string matrices = "(float(M,K) A, float(K,N) B) -> (C) { C(m,n) ", product = " A(m,k) * B(k,n) }";
  const std::string vectors = "(float(M,K) A, float(K) x) -> (y) { y(m) ", sum = " A(m,k) * x(k) }";
  return {"openblas",
          1,
          []() -> const Presence& { return shared_openblas().presence; },
          {routine<Gemv>("gemv", "def gemv" + vectors + "+=!" + sum, false, vector_product_of),
           routine<Gemv>("gemv_into", "def gemv_into" + vectors + "+=" + sum, true, vector_product_of),
           routine<Gemm>("gemm", "def gemm" + matrices + "+=!" + product, false, product_of),
           routine<Gemm>("gemm_into", "def gemm_into" + matrices + "+=" + product, true, product_of)}};
}

}  // namespace tc::library
