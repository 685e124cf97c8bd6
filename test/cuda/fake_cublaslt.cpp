// A stand-in for libcublasLt.so: products in memory of the host. It refuses what is not as the documentation of cuBLASLt asks for,
// and works on the matrices that the descriptors describe, so that a wrong order, leading dimension, stride or pointer
// gives a wrong result. It declares nothing of the project's: names and numbers are those of NVIDIA's documentation.
//
// fake_lt_calls() counts: handles, plans, products. fake_lt_last() describes the last product.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <sstream>
#include <string>

namespace {

constexpr int success = 0, invalid_value = 7, not_supported = 15;
constexpr int type_f32 = 0, type_f64 = 1, type_f16 = 2, type_bf16 = 14;
constexpr int compute_f32 = 68, compute_f64 = 70;
constexpr std::uint64_t magic = 0x5eed;

std::mutex mutex;
int handles = 0, plans = 0, products = 0, living = 0;
std::uint64_t workspace_bytes = 512;
std::string last;

struct Matrix {
  int type = 0;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;
  std::int32_t count = 1;
  std::int64_t stride = 0;
};
struct Operation {
  int compute = 0, scale = 0;
  std::int32_t transposed_a = 0, transposed_b = 0, bias_type = -1;
  std::uint32_t epilogue = 1;
  const void* bias = nullptr;
  std::int64_t bias_stride = 0;
};
struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = 7, alignment[4] = {256, 256, 256, 256};
};
struct Algorithm {
  std::uint64_t data[8];
};
struct Proposal {
  Algorithm algorithm;
  std::size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

template <typename T>
int set(T& field, const void* value, std::size_t bytes) {
  if (bytes != sizeof(T)) return invalid_value;
  std::memcpy(&field, value, bytes);
  return success;
}

std::size_t size_of(int type) { return type == type_f64 ? 8 : type == type_f32 ? 4 : 2; }

float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float magnitude = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                          : exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                          : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}
/// Of numbers that are normal and exact.
std::uint16_t to_half(float value) {
  if (std::isnan(value)) return 0x7e00;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (value == 0) return sign;
  int exponent = 0;
  const float mantissa = std::frexp(std::abs(value), &exponent);
  if (std::isinf(value) || exponent > 16) return sign | 0x7c00;
  const auto rounded = static_cast<int>(std::nearbyint(mantissa * 2048));
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + rounded - 1024));
}

double load(const void* memory, int type, std::int64_t index) {
  const auto* at = static_cast<const char*>(memory) + index * static_cast<std::int64_t>(size_of(type));
  if (type == type_f64) return *reinterpret_cast<const double*>(at);
  if (type == type_f32) return *reinterpret_cast<const float*>(at);
  const auto bits = *reinterpret_cast<const std::uint16_t*>(at);
  return type == type_f16 ? from_half(bits) : std::bit_cast<float>(std::uint32_t{bits} << 16);
}

void store(void* memory, int type, std::int64_t index, double value) {
  auto* at = static_cast<char*>(memory) + index * static_cast<std::int64_t>(size_of(type));
  const auto single = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(single);
  if (type == type_f64) *reinterpret_cast<double*>(at) = value;
  if (type == type_f32) *reinterpret_cast<float*>(at) = single;
  if (type == type_f16) *reinterpret_cast<std::uint16_t*>(at) = to_half(single);
  if (type == type_bf16)
    *reinterpret_cast<std::uint16_t*>(at) =
        std::isnan(single) ? 0x7fc0 : static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

struct Shape {
  std::uint64_t m = 0, n = 0, k = 0;
};

bool is_batch_of(const Matrix& matrix, const Matrix& d) {
  return matrix.count == d.count && matrix.leading >= static_cast<std::int64_t>(matrix.rows);
}

/// The types that the table of cublasLtMatmul() has, for the sums of each.
bool has_types(const Operation& operation, int a, int b, int c, int d) {
  if (a != b || c != d) return false;
  if (operation.compute == compute_f64) return operation.scale == type_f64 && a == type_f64 && d == type_f64;
  if (operation.compute != compute_f32 || operation.scale != type_f32) return false;
  return a == type_f64 ? false : d == type_f32 || d == a;
}

/// The shape of the product; nothing (k = 0) where the descriptors do not fit.
Shape shape_of(const Operation& operation, const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d) {
  const auto m = operation.transposed_a ? a.columns : a.rows, k = operation.transposed_a ? a.rows : a.columns;
  const auto n = operation.transposed_b ? b.rows : b.columns, other = operation.transposed_b ? b.columns : b.rows;
  const bool fits = k == other && d.rows == m && d.columns == n && c.rows == m && c.columns == n && is_batch_of(a, d) &&
                    is_batch_of(b, d) && is_batch_of(c, d) && is_batch_of(d, d) &&
                    has_types(operation, a.type, b.type, c.type, d.type);
  const bool has_bias = (operation.epilogue & 4) != 0;
  if (!fits || (has_bias && (!operation.bias || operation.bias_type != d.type))) return {};
  return {m, n, k};
}

bool is_aligned(const void* pointer, std::uint64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

double activation(std::uint32_t epilogue, double value) {
  if (epilogue & 2) return value > 0 ? value : 0;
  if (epilogue & 32)
    return 0.5 * value * (1 + std::tanh(0.7978845608028654 * (value + 0.044715 * value * value * value)));
  return value;
}

/// Calls \p visit for each attribute number of an operation.
int set_operation(Operation& operation, int attribute, const void* value, std::size_t bytes) {
  switch (attribute) {
    case 3:
      return set(operation.transposed_a, value, bytes);
    case 4:
      return set(operation.transposed_b, value, bytes);
    case 7:
      return set(operation.epilogue, value, bytes);
    case 8:
      return set(operation.bias, value, bytes);
    case 10:
      return set(operation.bias_stride, value, bytes);
    case 26:
      return set(operation.bias_type, value, bytes);
    default:
      return invalid_value;
  }
}

}  // namespace

extern "C" {

#define EXPORT __attribute__((visibility("default")))

EXPORT int fake_lt_handles() { return handles; }
EXPORT int fake_lt_plans() { return plans; }
EXPORT int fake_lt_products() { return products; }
EXPORT int fake_lt_descriptors() { return living; }
EXPORT const char* fake_lt_last() { return last.c_str(); }
EXPORT void fake_lt_need(std::uint64_t bytes) { workspace_bytes = bytes; }

EXPORT std::size_t cublasLtGetVersion() { return 130100; }
EXPORT const char* cublasLtGetStatusName(int status) {
  return status == not_supported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INVALID_VALUE";
}
EXPORT int cublasLtCreate(void** handle) {
  std::lock_guard lock(mutex);
  *handle = reinterpret_cast<void*>(magic);
  ++handles;
  return success;
}

EXPORT int cublasLtMatmulDescCreate(void** made, int compute, int scale) {
  std::lock_guard lock(mutex);
  ++living;
  auto* operation = new Operation;
  operation->compute = compute;
  operation->scale = scale;
  *made = operation;
  return success;
}
EXPORT int cublasLtMatmulDescDestroy(void* operation) {
  std::lock_guard lock(mutex);
  --living;
  delete static_cast<Operation*>(operation);
  return success;
}
EXPORT int cublasLtMatmulDescSetAttribute(void* operation, int attribute, const void* value, std::size_t bytes) {
  return set_operation(*static_cast<Operation*>(operation), attribute, value, bytes);
}

EXPORT int cublasLtMatrixLayoutCreate(void** made, int type, std::uint64_t rows, std::uint64_t columns,
                                      std::int64_t leading) {
  std::lock_guard lock(mutex);
  ++living;
  *made = new Matrix{type, rows, columns, leading, 1, 0};
  return success;
}
EXPORT int cublasLtMatrixLayoutDestroy(void* matrix) {
  std::lock_guard lock(mutex);
  --living;
  delete static_cast<Matrix*>(matrix);
  return success;
}
EXPORT int cublasLtMatrixLayoutSetAttribute(void* made, int attribute, const void* value, std::size_t bytes) {
  auto& matrix = *static_cast<Matrix*>(made);
  return attribute == 5   ? set(matrix.count, value, bytes)
         : attribute == 6 ? set(matrix.stride, value, bytes)
                          : invalid_value;
}

EXPORT int cublasLtMatmulPreferenceCreate(void** made) {
  std::lock_guard lock(mutex);
  ++living;
  *made = new Preference;
  return success;
}
EXPORT int cublasLtMatmulPreferenceDestroy(void* preference) {
  std::lock_guard lock(mutex);
  --living;
  delete static_cast<Preference*>(preference);
  return success;
}
EXPORT int cublasLtMatmulPreferenceSetAttribute(void* made, int attribute, const void* value, std::size_t bytes) {
  auto& preference = *static_cast<Preference*>(made);
  if (attribute == 1) return set(preference.workspace, value, bytes);
  if (attribute == 3) return set(preference.reductions, value, bytes);
  if (attribute >= 5 && attribute <= 8) return set(preference.alignment[attribute - 5], value, bytes);
  return invalid_value;
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(void* handle, void* operation, void* a, void* b, void* c, void* d,
                                          void* preference, int wanted, Proposal* proposals, int* found) {
  std::lock_guard lock(mutex);
  const auto& made = *static_cast<Operation*>(operation);
  const auto& wishes = *static_cast<Preference*>(preference);
  *found = 0;
  const auto shape = shape_of(made, *static_cast<Matrix*>(a), *static_cast<Matrix*>(b), *static_cast<Matrix*>(c),
                              *static_cast<Matrix*>(d));
  if (reinterpret_cast<std::uintptr_t>(handle) != magic || shape.k == 0 || wanted != 1) return not_supported;
  if (workspace_bytes > wishes.workspace || (wishes.reductions & 5) != 0) return not_supported;
  *proposals = {};
  proposals->algorithm.data[0] = magic;
  for (int i = 0; i < 4; ++i) proposals->algorithm.data[1 + i] = wishes.alignment[i];
  proposals->workspace = workspace_bytes;
  *found = 1;
  ++plans;
  return success;
}

EXPORT int cublasLtMatmul(void* handle, void* operation, const void* alpha, const void* a, void* of_a, const void* b,
                          void* of_b, const void* beta, const void* c, void* of_c, void* d, void* of_d,
                          const Algorithm* algorithm, void* workspace, std::size_t bytes, void* stream) {
  std::lock_guard lock(mutex);
  const auto& made = *static_cast<Operation*>(operation);
  const auto &first = *static_cast<Matrix*>(of_a), &second = *static_cast<Matrix*>(of_b),
             &added = *static_cast<Matrix*>(of_c), &result = *static_cast<Matrix*>(of_d);
  const auto shape = shape_of(made, first, second, added, result);
  if (reinterpret_cast<std::uintptr_t>(handle) != magic || shape.k == 0) return invalid_value;
  if (algorithm->data[0] != magic || bytes < workspace_bytes || (bytes > 0 && !workspace)) return invalid_value;
  const void* const pointers[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (!is_aligned(pointers[i], algorithm->data[1 + i])) return invalid_value;
  if (bytes > 0) std::memset(workspace, 0xee, bytes);
  const double times = load(alpha, made.scale, 0), more = load(beta, made.scale, 0);
  for (std::int64_t batch = 0; batch < result.count; ++batch)
    for (std::uint64_t i = 0; i < shape.m; ++i)
      for (std::uint64_t j = 0; j < shape.n; ++j) {
        auto at = [&](const Matrix& matrix, std::uint64_t row, std::uint64_t column) {
          return batch * matrix.stride + static_cast<std::int64_t>(row) +
                 static_cast<std::int64_t>(column) * matrix.leading;
        };
        double sum = 0;
        for (std::uint64_t k = 0; k < shape.k; ++k)
          sum += load(a, first.type, made.transposed_a ? at(first, k, i) : at(first, i, k)) *
                 load(b, second.type, made.transposed_b ? at(second, j, k) : at(second, k, j));
        sum *= times;
        if (more != 0) sum += more * load(c, added.type, at(added, i, j));
        if (made.epilogue & 4)
          sum += load(made.bias, made.bias_type, batch * made.bias_stride + static_cast<std::int64_t>(i));
        store(d, result.type, at(result, i, j), activation(made.epilogue, sum));
      }
  std::ostringstream text;
  text << shape.m << "x" << shape.n << "x" << shape.k << " batch " << result.count << " epilogue " << made.epilogue
       << " beta " << more << " transposed " << made.transposed_a << made.transposed_b << " stream "
       << reinterpret_cast<std::uintptr_t>(stream);
  last = text.str();
  ++products;
  return success;
}
}
