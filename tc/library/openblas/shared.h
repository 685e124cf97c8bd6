#pragma once

#include <functional>

#include "tc/library/description/library.h"
#include "tc/library/description/shared_object.h"

namespace tc::library {

/// The functions of OpenBLAS, with the values of its enumerations as numbers.
struct OpenBlas {
  SharedObject object;
  Presence presence;
  void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                const float* b, int ldb, float beta, float* c, int ldc) = nullptr;
  void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a, int lda,
                const double* b, int ldb, double beta, double* c, int ldc) = nullptr;
  void (*sgemv)(int order, int trans, int m, int n, float alpha, const float* a, int lda, const float* x, int incx,
                float beta, float* y, int incy) = nullptr;
  void (*dgemv)(int order, int trans, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
                double beta, double* y, int incy) = nullptr;
  int (*get_num_threads)() = nullptr;
  void (*set_num_threads)(int) = nullptr;

  /// Calls \p work while OpenBLAS runs on \p threads threads. Calls of one number run at the same time.
  void with_threads(int threads, const std::function<void()>& work) const;
};

/// That of this process, opened at the first use.
const OpenBlas& shared_openblas();

constexpr int row_major = 101, column_major = 102, no_transpose = 111, transpose = 112;

}  // namespace tc::library
