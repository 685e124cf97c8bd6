#include "test/cuda_emulator/prelude_cases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "tc/base/dtype.h"
#include "tc/base/fragment_lanes.h"
#include "tc/base/str.h"
#include "tc/cuda/prelude.h"
#include "tc/lang/interpret/math.h"

namespace tc::emulator {
namespace {

constexpr std::size_t threads = 64;

using Want = std::function<double(int thread)>;

std::vector<double> numbers(std::size_t count, double (*value)(int)) {
  std::vector<double> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(value(static_cast<int>(i)));
  return result;
}

std::vector<double> each_thread(const Want& want) {
  std::vector<double> result;
  for (std::size_t t = 0; t < threads; ++t) result.push_back(want(static_cast<int>(t)));
  return result;
}

/// A kernel of the body \p body, with `t` the thread; in[i] is i.
PreludeCase make(std::vector<std::string> functions, const std::string& body, const Want& want) {
  PreludeCase result;
  result.name = functions.front();
  result.functions = std::move(functions);
  result.text =
      str("#include \"tc_prelude.h\"\nextern \"C\" __global__ void check(const double* __restrict__ in, double* "
          "__restrict__ out) {\n",
          "  const int t = threadIdx.x;\n", body, "}\n");
  result.in = numbers(threads * 4, [](int i) { return static_cast<double>(i); });
  result.want = each_thread(want);
  return result;
}

std::vector<PreludeCase> synchronisation() {
  std::vector<PreludeCase> cases;
  cases.push_back(make({"tc_barrier"}, R"(
  __shared__ double s[64];
  s[t] = in[t];
  tc_barrier();
  out[t] = s[63 - t];
)",
                       [](int t) { return 63 - t; }));
  cases.push_back(make({"tc_warp_barrier"}, R"(
  __shared__ double s[64];
  s[t] = in[t];
  tc_warp_barrier();
  out[t] = s[t ^ 31];
)",
                       [](int t) { return t ^ 31; }));
  cases.push_back(make({"tc_shuffle_xor", "tc_shuffle_down", "tc_shuffle"}, R"(
  const float f = static_cast<float>(in[t]);
  const unsigned char odd = static_cast<unsigned char>(t % 2);
  out[t] = tc_shuffle_xor(in[t], 5) + 100 * tc_shuffle_down(f, 3) + 10000 * tc_shuffle(t, 7) + 1000000 * tc_shuffle_xor(odd, 1);
)",
                       [](int t) {
                         const int down = t % 32 + 3 < 32 ? t + 3 : t, from = t / 32 * 32 + 7;
                         return (t ^ 5) + 100.0 * down + 10000.0 * from + 1000000.0 * ((t ^ 1) % 2);
                       }));
  cases.push_back(make({"tc_last_block", "tc_fence"}, R"(
  double* partial = out + 64;
  unsigned* ticket = reinterpret_cast<unsigned*>(out + 80);
  if (t == 0) partial[blockIdx.x] = in[blockIdx.x] + 1;
  tc_fence();
  if (tc_last_block(ticket, gridDim.x)) {
    double sum = 0;
    for (int b = 0; b < static_cast<int>(gridDim.x); ++b) sum += partial[b];
    out[t] = sum + t;
  }
)",
                       [](int t) { return 36 + t; }));
  cases.back().blocks = 8;
  for (int b = 0; b < 17; ++b) cases.back().want.push_back(b < 8 ? b + 1 : 0);
  cases.push_back(make({"tc_grid_barrier"}, R"(
  double* partial = out + 64;
  unsigned* word = reinterpret_cast<unsigned*>(out + 80);
  for (int round = 0; round < 3; ++round) {
    if (t == 0) partial[blockIdx.x] = in[blockIdx.x] + round;
    tc_grid_barrier(word);
    double sum = 0;
    for (int b = 0; b < static_cast<int>(gridDim.x); ++b) sum += partial[b];
    if (blockIdx.x == round) out[t] = sum + t;
    tc_grid_barrier(word);
  }
)",
                       [](int t) { return 44 + t; }));
  cases.back().blocks = 8;
  cases.back().cooperative = true;
  for (int b = 0; b < 17; ++b) cases.back().want.push_back(b < 8 ? b + 2 : 0);
  return cases;
}

std::vector<PreludeCase> memory() {
  std::vector<PreludeCase> cases;
  cases.push_back(make({"tc_shared_memory"}, R"(
  double* a = tc_shared_memory<double>(0, 64);
  float* b = tc_shared_memory<float>(512, 64);
  a[t] = in[t];
  b[t] = static_cast<float>(2 * in[t]);
  tc_barrier();
  out[t] = a[63 - t] + 1000 * b[t ^ 1];
)",
                       [](int t) { return 63 - t + 2000.0 * (t ^ 1); }));
  cases.back().shared_bytes = 1024;
  cases.push_back(make({"tc_atomic_add", "tc_atomic_mul", "tc_atomic_min", "tc_atomic_max"}, R"(
  __shared__ double d[4];
  __shared__ int i[4];
  __shared__ float f[2];
  __shared__ long long wide;
  if (t == 0) d[0] = 0, d[1] = 1, d[2] = 1e9, d[3] = -1e9, i[0] = 0, i[1] = 1, i[2] = 1000, i[3] = -1000, f[0] = 0, f[1] = 1e9f, wide = 1;
  tc_barrier();
  tc_atomic_add(&d[0], in[t]);
  if (t < 10) tc_atomic_mul(&d[1], 2.0);
  tc_atomic_min(&d[2], in[t] - 7);
  tc_atomic_max(&d[3], in[t]);
  tc_atomic_add(&i[0], t);
  if (t < 5) tc_atomic_mul(&i[1], 3);
  tc_atomic_min(&i[2], 5 - t);
  tc_atomic_max(&i[3], t * t);
  tc_atomic_add(&f[0], 0.5f);
  tc_atomic_min(&f[1], static_cast<float>(t));
  tc_atomic_add(&wide, 1ll << 40);
  tc_barrier();
  const double all[] = {d[0], d[1], d[2], d[3], double(i[0]), double(i[1]), double(i[2]), double(i[3]), f[0], f[1], double(wide)};
  out[t] = t < 11 ? all[t] : 0;
)",
                       [](int t) {
                         const double want[] = {
                             2016, 1024, -7, 63, 2016, 243, -58, 3969, 32, 0, 64.0 * (1ll << 40) + 1};
                         return t < 11 ? want[t] : 0;
                       }));
  cases.push_back(make({"tc_copy_async_16", "tc_copy_async_8", "tc_copy_async_4", "tc_copy_async_16_if",
                        "tc_copy_async_4_if", "tc_copy_commit", "tc_copy_wait"},
                       R"(
  __shared__ __align__(16) double s[256];
  __shared__ __align__(16) int words[128];
  tc_copy_async_16_if(&s[2 * t], in + 2 * t, t % 2 == 0);
  tc_copy_async_4_if(&words[2 * t], in + t, t % 3 == 0);
  tc_copy_async_4(&words[2 * t + 1], reinterpret_cast<const int*>(in + t) + 1);
  tc_copy_commit();
  tc_copy_async_8(&s[128 + t], in + t);
  if (t < 32) tc_copy_async_16(&s[192 + 2 * t], in + 2 * t);
  tc_copy_commit();
  tc_copy_wait<1>();
  tc_barrier();
  const int low = words[2 * t];
  double sum = s[t] + (low == 0 ? 0 : 1000) + (words[2 * t + 1] == reinterpret_cast<const int*>(in + t)[1] ? 2000 : 0);
  tc_copy_wait<0>();
  tc_barrier();
  out[t] = sum + 10000 * s[128 + (t ^ 9)] + 1000000 * s[192 + t];
)",
                       [](int t) { return (t / 2 % 2 == 0 ? t : 0) + 2000 + 10000.0 * (t ^ 9) + 1000000.0 * t; }));
  cases.push_back(make({"tc_copy_async_16_part"}, R"(
  __shared__ __align__(16) float s[256];
  for (int i = 0; i < 4; ++i) s[4 * t + i] = -1;
  tc_copy_async_16_part(&s[4 * t], in + 2 * t, t % 5 * 4);
  tc_copy_commit();
  tc_copy_wait<0>();
  const unsigned* words = reinterpret_cast<const unsigned*>(in + 2 * t);
  int same = 0;
  for (int i = 0; i < 4; ++i) same += (tc_bits<unsigned>(s[4 * t + i]) == (i < t % 5 ? words[i] : 0u)) << i;
  out[t] = same;
)",
                       [](int) { return 15; }));
  cases.push_back(make({"tc_vector", "tc_load", "tc_store"}, R"(
  const tc_vector<double, 4> wide = tc_load<4>(in + 4 * t);
  tc_vector<float, 4> v;
  for (int i = 0; i < 4; ++i) v[i] = static_cast<float>(wide[3 - i]);
  __shared__ __align__(16) float s[256];
  tc_store(s + 4 * t, v);
  tc_barrier();
  const tc_vector<float, 2> pair = tc_load<2>(s + 4 * (t ^ 1));
  out[t] = pair[0] + 1000 * pair[1];
)",
                       [](int t) { return 4 * (t ^ 1) + 3 + 1000.0 * (4 * (t ^ 1) + 2); }));
  cases.push_back(make({"tc_store_exchanged"}, R"(
  __shared__ __align__(16) unsigned short s[512];
  unsigned short words[8];
  for (int i = 0; i < 8; ++i) words[i] = static_cast<unsigned short>(t * 8 + i);
  tc_store_exchanged(s + 8 * t, words);
  tc_barrier();
  out[t] = 0;
  for (int i = 7; i >= 0; --i) out[t] = out[t] * 4 + (s[8 * t + i] - (t / 4 * 32 + t % 4 * 2 + i / 2 * 8 + i % 2) == 0);
)",
                       [](int) { return 21845.0; }));
  return cases;
}

std::vector<PreludeCase> arithmetic() {
  std::vector<PreludeCase> cases;
  cases.push_back(make({"tc_div", "tc_mod", "min", "max", "__popc", "__popcll"}, R"(
  const int a = t % 8 - 4, b = t / 8 - 4;
  out[t] = tc_div(a, b) + 100 * tc_mod(a, b) + 10000.0 * tc_div<long long>(a, b) + 1e6 * min(a, b) + 1e8 * max(a, b) +
           1e10 * __popc(t) + 1e12 * __popcll(static_cast<unsigned long long>(t) << 40) + 1e14 * tc_mod<unsigned char>(200 + t, 7);
)",
                       [](int t) {
                         const int a = t % 8 - 4, b = t / 8 - 4, m = b < 0 ? -b : b;
                         const int rest = b == 0 ? 0 : ((a % m) + m) % m, quotient = b == 0 ? 0 : (a - rest) / b;
                         const int bits = __builtin_popcount(static_cast<unsigned>(t));
                         return quotient + 100 * rest + 10000.0 * quotient + 1e6 * std::min(a, b) +
                                1e8 * std::max(a, b) + 1e10 * bits + 1e12 * bits + 1e14 * ((200 + t) % 256 % 7);
                       }));
  cases.push_back(make({"tc_bits", "tc_nan_min", "tc_nan_max"}, R"(
  const float nan = tc_bits<float>(0x7fc00000u), x = static_cast<float>(in[t]);
  const bool caught = tc_nan_min(nan, x) != tc_nan_min(nan, x) && tc_nan_max(x, nan) != tc_nan_max(x, nan);
  out[t] = tc_nan_min(x, 9.0f) + 100 * tc_nan_max(x, 9.0f) + 10000 * caught + 1e6 * tc_bits<int>(1.0f);
)",
                       [](int t) { return std::min(t, 9) + 100.0 * std::max(t, 9) + 10000 + 1e6 * 0x3f800000; }));
  cases.push_back(make({"tc_round"}, R"(
  const double x = in[t] / 2 - 16;
  out[t] = tc_round(x) + 1000 * tc_round(static_cast<float>(x));
)",
                       [](int t) { return 1001 * std::nearbyint(t / 2.0 - 16); }));
  cases.push_back(make({"tc_isnan", "tc_isinf"}, R"(
  const float zero = static_cast<float>(in[0]);
  const double wide = in[0];
  const bool one = tc_isnan(zero / zero) && tc_isinf(1 / zero) && tc_isinf(-1 / wide) && tc_isnan(wide / wide);
  const bool other = tc_isnan(1 / zero) || tc_isinf(zero / zero) || tc_isinf(in[t]) || tc_isnan(in[t]);
  out[t] = 10 * one + other;
)",
                       [](int) { return 10; }));
  cases.push_back(make({"tc_from_half", "tc_to_half", "tc_from_bfloat", "tc_to_bfloat"}, R"(
  const float x = static_cast<float>(in[t]) * 1.001f - 20.0f;
  out[t] = tc_from_half(tc_to_half(x)) + 1e6 * tc_from_bfloat(tc_to_bfloat(x));
)",
                       [](int t) {
                         const float x = static_cast<float>(t) * 1.001f - 20.0f;
                         return half_to_float(float_to_half(x)) + 1e6 * bfloat_to_float(float_to_bfloat(x));
                       }));
  return cases;
}

PreludeCase load_matrices() {
  auto result =
      make({"tc_load_matrix_4", "tc_load_matrix_4_transposed", "tc_load_matrix_2", "tc_load_matrix_2_transposed"},
           R"(
  __shared__ __align__(16) unsigned short s[512];
  for (int i = 0; i < 8; ++i) s[8 * t + i] = static_cast<unsigned short>((8 * t + i) * 37 % 256);
  tc_barrier();
  const int lane = t % 32;
  const unsigned short* row = s + 256 * (t / 32) + 8 * lane;
  unsigned plain[4], transposed[4], two[2], two_transposed[2];
  tc_load_matrix_4(plain, row);
  tc_load_matrix_4_transposed(transposed, row);
  tc_load_matrix_2(two, lane < 16 ? row : s);
  tc_load_matrix_2_transposed(two_transposed, lane < 16 ? row + 128 : s);
  const unsigned pairs[] = {two[0], two[1], two_transposed[0], two_transposed[1]};
  for (int i = 0; i < 4; ++i) {
    double sum = 0;
    const unsigned words[] = {pairs[i], transposed[i], plain[i]};
    for (unsigned word : words) sum = 65536 * sum + word % 256 + 256 * (word >> 16);
    out[64 * i + t] = sum;
  }
)",
           [](int) { return 0; });
  result.want.assign(256, 0);
  const auto pair = [](int low, int high) { return low * 37 % 256 + 256.0 * (high * 37 % 256); };
  for (int t = 0; t < 64; ++t)
    for (int i = 0; i < 4; ++i) {
      const int lane = t % 32, matrix = t / 32 * 256 + 64 * i, row = lane / 4, column = lane % 4 * 2;
      const double plain = pair(matrix + 8 * row + column, matrix + 8 * row + column + 1);
      const double transposed = pair(matrix + 8 * column + row, matrix + 8 * column + 8 + row);
      result.want[static_cast<std::size_t>(64 * i + t)] =
          65536.0 * (65536.0 * (i < 2 ? plain : transposed) + transposed) + plain;
    }
  result.uses_units = true;
  return result;
}

/// How the elements of a matrix unit's operands are made of float64.
struct UnitCase {
  const char *function, *sum;
  int bits;
  const char* to_bits;        ///< of the double x
  double (*rounded)(double);  ///< the value of these bits
};

const UnitCase unit_cases[] = {
    {"tc_multiply_m16n8k16_bf16", "float", 16, "tc_to_bfloat(static_cast<float>(x))",
     [](double x) -> double { return bfloat_to_float(float_to_bfloat(static_cast<float>(x))); }},
    {"tc_multiply_m16n8k16_f16", "float", 16, "tc_to_half(static_cast<float>(x))",
     [](double x) -> double { return half_to_float(float_to_half(static_cast<float>(x))); }},
    {"tc_multiply_m16n8k8_tf32", "float", 32, "tc_bits<unsigned>(static_cast<float>(x))",
     [](double x) -> double {
       return std::bit_cast<float>(std::bit_cast<unsigned>(static_cast<float>(x)) & 0xffffe000u);
     }},
    {"tc_multiply_m16n8k32_s8", "int", 8, "static_cast<unsigned char>(static_cast<int>(x))",
     [](double x) -> double { return static_cast<int>(x); }},
    {"tc_multiply_m16n8k32_u8", "int", 8, "static_cast<unsigned char>(static_cast<int>(fabs(x)))",
     [](double x) -> double { return static_cast<int>(x < 0 ? -x : x); }},
};

/// C = C + A B of two warps; element i of a lane's A is in[(16 t + i) % 251], of its B in[(8 t + i + 83) % 241], of its C
/// in[(4 t + i) % 239].
PreludeCase multiply_matrices(const UnitCase& unit, std::vector<double> in, double tolerance) {
  const int count_a = fragments::count_of_a(unit.bits), count_b = fragments::count_of_b(unit.bits);
  const auto definitions = str("#define MULTIPLY ", unit.function, "\n#define SUM ", unit.sum, "\n#define BITS ",
                               unit.bits, "\n#define TO_BITS(x) ", unit.to_bits, "\n");
  auto result = make({unit.function}, definitions + R"(
  unsigned a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
  for (int i = 0; i < 128 / BITS; ++i) a[i * BITS / 32] |= static_cast<unsigned>(TO_BITS(in[(16 * t + i) % 251])) << i * BITS % 32;
  for (int i = 0; i < 64 / BITS; ++i) b[i * BITS / 32] |= static_cast<unsigned>(TO_BITS(in[(8 * t + i + 83) % 241])) << i * BITS % 32;
  SUM c[4];
  for (int i = 0; i < 4; ++i) c[i] = static_cast<SUM>(in[(4 * t + i) % 239]);
  MULTIPLY(c[0], c[1], c[2], c[3], a, b);
  for (int i = 0; i < 4; ++i) out[4 * t + i] = c[i];
)",
                     [](int) { return 0; });
  result.in = std::move(in);
  result.tolerance = tolerance;
  result.uses_units = true;
  if (tolerance > 0) result.name += "_rounded";
  const auto value = [&](int at) { return result.in[static_cast<std::size_t>(at)]; };
  result.want.assign(256, 0);
  for (int warp : {0, 1}) {
    double a[16][32] = {}, b[32][8] = {};
    for (int lane = 0; lane < 32; ++lane) {
      const int t = 32 * warp + lane;
      for (int i = 0; i < count_a; ++i) {
        const auto at = fragments::element_of_a(unit.bits, lane, i);
        a[at.row][at.column] = unit.rounded(value((16 * t + i) % 251));
      }
      for (int i = 0; i < count_b; ++i) {
        const auto at = fragments::element_of_b(unit.bits, lane, i);
        b[at.row][at.column] = unit.rounded(value((8 * t + i + 83) % 241));
      }
    }
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        const auto at = fragments::element_of_c(lane, i);
        const int t = 32 * warp + lane;
        double& sum = result.want[static_cast<std::size_t>(4 * t + i)];
        sum = value((4 * t + i) % 239);
        for (int k = 0; k < fragments::steps(unit.bits); ++k) sum += a[at.row][k] * b[k][at.column];
      }
  }
  return result;
}

/// C = A B + C of a group of 4 warps, of 64 x 16 by 16 x \p columns, which stand behind the first 32 of 64 steps. A row of an
/// operand in shared memory lies along the steps or, \p transposed, along m or n. Operands are in[i] and in[256 + i].
PreludeCase multiply_groups(int columns, const std::string& type, bool transposed) {
  const auto function = str("tc_multiply_m64n", columns, "k16_", type);
  const auto definitions = str("#define MULTIPLY ", function, "<COLUMNS / 4, TRANSPOSED, TRANSPOSED>\n#define COLUMNS ",
                               columns, "\n#define TRANSPOSED ", transposed ? 1 : 0, "\n#define TO_BITS ",
                               type == "f16" ? "tc_to_half" : "tc_to_bfloat", "\n");
  auto result =
      make({function, "tc_uniform", "tc_proxy_fence", "tc_unit_begin", "tc_unit_commit", "tc_unit_wait", "tc_matrix"},
           definitions + R"(
  unsigned short* const A = tc_shared_memory<unsigned short>(0, 4096);
  unsigned short* const B = tc_shared_memory<unsigned short>(8192, 64 * COLUMNS);
  for (int i = t; i < 64 * (64 + COLUMNS); i += 128) {
    const int along = i / 64, step = i % 64;
    const int place = TRANSPOSED ? along / 64 * 4096 + step * 64 + along % 64 : i;
    const double x = along < 64 ? in[(along * 7 + step) % 251] : in[256 + (along * 5 + step) % 241];
    (along < 64 ? A : B - 4096)[place ^ ((place >> 6 & 7) << 3)] = TO_BITS(static_cast<float>(x));
  }
  tc_proxy_fence();
  tc_barrier();
  float sums[COLUMNS / 2];
#pragma unroll
  for (int i = 0; i < COLUMNS / 2; ++i) sums[i] = static_cast<float>(in[i]);
  const int first = tc_uniform(t / 128) + (TRANSPOSED ? 256 : 4);
  tc_unit_begin();
  MULTIPLY(sums, tc_matrix(A, 0, 1024) + first, tc_matrix(B, TRANSPOSED * 8192, 1024) + first);
  tc_unit_commit();
  tc_unit_wait<0>();
#pragma unroll
  for (int i = 0; i < COLUMNS / 2; ++i) out[(t / 32 * 16 + i / (COLUMNS / 4) * 8 + t % 32 / 4) * COLUMNS + i % (COLUMNS / 4) / 2 * 8 + t % 4 * 2 + i % 2] = sums[i];
)",
           [](int) { return 0; });
  result.threads = 128;
  result.shared_bytes = static_cast<std::size_t>(128 * (64 + columns));
  result.architecture = "sm_90a";
  result.in = numbers(512, [](int i) { return static_cast<double>(i * 29 % 17 - 8); });
  result.want.clear();
  for (int m = 0; m < 64; ++m)
    for (int n = 0; n < columns; ++n) {
      double sum = result.in[static_cast<std::size_t>(m / 8 % 2 * (columns / 4) + n / 8 * 2 + n % 2)];
      for (int k = 32; k < 48; ++k)
        sum += result.in[static_cast<std::size_t>((m * 7 + k) % 251)] *
               result.in[static_cast<std::size_t>(256 + ((64 + n) * 5 + k) % 241)];
      result.want.push_back(sum);
    }
  return result;
}

std::vector<PreludeCase> groups() {
  std::vector<PreludeCase> cases;
  for (int columns : {64, 128, 192, 256}) {
    cases.push_back(multiply_groups(columns, "bf16", false));
    cases.push_back(multiply_groups(columns, "f16", true));
  }
  return cases;
}

std::vector<PreludeCase> units() {
  std::vector<PreludeCase> cases{load_matrices()};
  const auto whole = numbers(256, [](int i) { return static_cast<double>(i * 29 % 17 - 8); });
  const auto fractions = numbers(256, [](int i) { return (i * 29 % 177 - 88) / 7.0; });
  for (const auto& unit : unit_cases) {
    cases.push_back(multiply_matrices(unit, whole, 0));
    if (unit.sum == std::string_view("float")) cases.push_back(multiply_matrices(unit, fractions, 1e-5));
  }
  return cases;
}

/// float64 and float32 of a function of the language; both sums are exact enough to show either.
PreludeCase math_case(const std::string& called, const lang::MathFunction& function, bool prelude) {
  const int arity = function.arity();
  const double scale = called == "j1" || called == "y1" ? 0.25 : 0.01;
  std::string doubles, floats;
  std::vector<double> in = numbers(threads, [](int i) { return i + 0.5; });
  for (auto& x : in) x *= scale;
  for (int a = 0; a < arity; ++a) {
    doubles += str(a ? ", " : "", "x + ", a);
    floats += str(a ? ", " : "", "static_cast<float>(x + ", a, ")");
  }
  const bool above_one = called == "acosh";
  const char* argument = above_one ? "1 + in[t]" : "in[t]";
  auto result = make({called},
                     str("  const double x = ", argument, ";\n  out[t] = ", called, "(", doubles,
                         ");\n  out[64 + t] = ", called, prelude ? "" : "f", "(", floats, ");\n"),
                     [&](int t) {
                       const double x = in[static_cast<std::size_t>(t)] + above_one;
                       switch (arity) {
                         case 1:
                           return std::get<0>(function.f64)(x);
                         case 2:
                           return std::get<1>(function.f64)(x, x + 1);
                         case 3:
                           return std::get<2>(function.f64)(x, x + 1, x + 2);
                         default:
                           return std::get<3>(function.f64)(x, x + 1, x + 2, x + 3);
                       }
                     });
  auto again = result.want;
  result.want.insert(result.want.end(), again.begin(), again.end());
  result.in = in;
  result.tolerance = 1e-5;
  return result;
}

}  // namespace

std::vector<PreludeCase> prelude_cases() {
  auto cases = synchronisation();
  for (auto* more : {memory, arithmetic, units, groups})
    for (auto& one : more()) cases.push_back(std::move(one));
  for (const char* name : {"sigmoid", "silu", "softplus", "gelu"})
    cases.push_back(math_case(str("tc_", name), *lang::find_math_function(name), true));
  for (auto name : cuda::native_functions())
    cases.push_back(math_case(std::string(name), *lang::find_math_function(name), false));
  return cases;
}

}  // namespace tc::emulator
