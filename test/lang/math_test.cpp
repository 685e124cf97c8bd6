#include "tc/lang/interpret/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tc/lang/syntax/builtins.h"

namespace tc::lang {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double call(std::string_view name, double x) { return std::get<double (*)(double)>(find_math_function(name)->f64)(x); }

/// References computed with 40 digits.
TEST(Math, AgreesWithReferenceValues) {
  struct Row {
    const char* function;
    double x, value;
  };
  const Row rows[] = {
      {"cyl_bessel_i0", 1e-09, 1.0},
      {"cyl_bessel_i0", 0.3, 1.022626879351597},
      {"cyl_bessel_i0", 5.5, 42.694645151847785},
      {"cyl_bessel_i0", 30.0, 781672297823.97749},
      {"cyl_bessel_i0", 39.9, 13494336349805660.0},
      {"cyl_bessel_i0", 40.5, 24404306884276696.0},
      {"cyl_bessel_i0", 700.0, 1.5295933476718737e+302},
      {"cyl_bessel_i1", 1e-09, 5.0000000000000003e-10},
      {"cyl_bessel_i1", -0.3, -0.15169384000359277},
      {"cyl_bessel_i1", 5.5, 38.588164616327393},
      {"cyl_bessel_i1", 39.9, 13324147201752776.0},
      {"cyl_bessel_i1", 40.5, 24101111554186505.0},
      {"cyl_bessel_i1", -700.0, -1.5285003902339007e+302},
      {"erfcx", -20.0, 1.0442939379528288e+174},
      {"erfcx", -1.5, 18.653886256262734},
      {"erfcx", 0.0, 1.0},
      {"erfcx", 0.3, 0.73459933456765515},
      {"erfcx", 5.3, 0.10464919566077328},
      {"erfcx", 9.9, 0.056702456938832268},
      {"erfcx", 10.1, 0.055590487009239876},
      {"erfcx", 30.0, 0.018795888861416751},
      {"erfcx", 100000000.0, 5.6418958354775626e-9},
      {"erfinv", 1e-12, 8.86226925452758e-13},
      {"erfinv", -0.3, -0.27246271472675435},
      {"erfinv", 0.49, 0.46586860023505734},
      {"erfinv", 0.51, 0.48812205051595882},
      {"erfinv", 0.9, 1.1630871536766742},
      {"erfinv", -0.999, -2.3267537655135245},
      {"erfinv", 0.9999999999, 4.5728249585449249},
      {"erfcinv", 1e-300, 26.209469960516124},
      {"erfcinv", 1e-100, 15.065574702592646},
      {"erfcinv", 1e-12, 5.0420297456390594},
      {"erfcinv", 0.01, 1.8213863677184497},
      {"erfcinv", 0.3, 0.73286907795921687},
      {"erfcinv", 0.499, 0.4780494522745675},
      {"erfcinv", 0.7, 0.2724627147267544},
      {"erfcinv", 1.3, -0.2724627147267544},
      {"erfcinv", 1.6, -0.59511608144999496},
      {"erfcinv", 1.99, -1.8213863677184495},
      {"normcdf", -30.0, 4.9067139271481871e-198},
      {"normcdf", -5.0, 2.8665157187919391e-7},
      {"normcdf", -0.2, 0.42074029056089697},
      {"normcdf", 0.0, 0.5},
      {"normcdf", 1.0, 0.84134474606854295},
      {"normcdf", 6.0, 0.99999999901341235},
      {"normcdfinv", 1e-200, -30.205594179579643},
      {"normcdfinv", 1e-09, -5.9978070150076869},
      {"normcdfinv", 0.02, -2.053748910631823},
      {"normcdfinv", 0.4, -0.25334710313579974},
      {"normcdfinv", 0.6, 0.25334710313579974},
      {"normcdfinv", 0.975, 1.9599639845400539},
      {"sinpi", 0.1, 0.30901699437494744},
      {"cospi", 0.1, 0.95105651629515357},
      {"sinpi", 0.3, 0.8090169943749474},
      {"cospi", 0.3, 0.58778525229247316},
      {"sinpi", 0.6, 0.95105651629515359},
      {"cospi", 0.6, -0.30901699437494736},
      {"sinpi", 0.9, 0.30901699437494736},
      {"cospi", 0.9, -0.95105651629515359},
      {"sinpi", 1.75, -0.70710678118654752},
      {"cospi", 1.75, 0.70710678118654752},
      {"sinpi", -2.3, -0.8090169943749471},
      {"cospi", -2.3, 0.58778525229247358},
      {"sinpi", 1234567.25, -0.70710678118654752},
      {"cospi", 1234567.25, -0.70710678118654752},
      {"rcbrt", 8.0, 0.5},
      {"rcbrt", 0.3, 1.4938015821857216},
      {"rsqrt", 4.0, 0.5},
      {"rsqrt", 0.3, 1.8257418583505537},
      {"sigmoid", -40.0, 4.248354255291589e-18},
      {"sigmoid", 0.0, 0.5},
      {"sigmoid", 2.5, 0.92414181997875645},
      {"gelu", -3.0, -0.0040496940948902836},
      {"gelu", 0.0, 0.0},
      {"gelu", 0.7, 0.53062544344384885},
      {"silu", -30.0, -2.8072868906517897e-12},
      {"silu", 1.5, 1.2263617142904655},
      {"softplus", -50.0, 1.9287498479639178e-22},
      {"softplus", 0.0, 0.69314718055994531},
      {"softplus", 3.0, 3.0485873515737421},
      {"softplus", 1000.0, 1000.0},
      {"lgamma", 0.3, 1.0957979948180756},
      {"lgamma", -1.5, 0.86004701537648101},
      {"lgamma", 50.0, 144.56574394634489},
      {"exp10", -2.5, 0.0031622776601683793},
      {"exp10", 3.0, 1000.0},
  };
  for (const auto& [function, x, value] : rows) {
    EXPECT_NEAR(call(function, x), value, 1e-13 * std::fabs(value)) << function << "(" << x << ")";
    float narrow = std::get<float (*)(float)>(find_math_function(function)->f32)(0.25f);
    EXPECT_NEAR(narrow, call(function, 0.25), 1e-6 * std::fabs(narrow)) << function;
  }
}

TEST(Math, ValuesAtTheEdges) {
  struct Row {
    const char* function;
    double x, value;
  };
  const Row rows[] = {
      {"erfinv", 1, infinity},
      {"erfinv", -1, -infinity},
      {"erfcinv", 0, infinity},
      {"erfcinv", 2, -infinity},
      {"erfinv", 0, 0},
      {"normcdfinv", 0.5, 0},
      {"normcdfinv", 0, -infinity},
      {"normcdfinv", 1, infinity},
      {"sinpi", 3, 0},
      {"cospi", 2.5, 0},
      {"cospi", 1, -1},
      {"sinpi", -0.5, -1},
      {"erfcx", -40, infinity},
      {"erfcx", infinity, 0},
      {"sigmoid", -infinity, 0},
      {"sigmoid", infinity, 1},
      {"softplus", infinity, infinity},
      {"cyl_bessel_i0", -infinity, infinity},
      {"cyl_bessel_i1", -infinity, -infinity},
      {"cyl_bessel_i0", 714, infinity},
      {"rsqrt", 0, infinity},
  };
  for (const auto& [function, x, value] : rows) EXPECT_EQ(call(function, x), value) << function << "(" << x << ")";
  EXPECT_TRUE(std::signbit(call("erfinv", -0.0)));
  for (const char* function : {"erfinv", "erfcinv", "normcdfinv"})
    EXPECT_TRUE(std::isnan(call(function, 2.1))) << function;
  for (const auto& f : math_functions()) {
    if (f.arity() == 1) {
      EXPECT_TRUE(std::isnan(call(f.name, std::nan("")))) << f.name;
    }
  }
}

TEST(Math, HasEveryFloatBuiltin) {
  std::size_t count = 0;
  for (const auto& builtin : builtins()) {
    if (builtin.kind != BuiltinKind::Float) continue;
    const MathFunction* function = find_math_function(builtin.name);
    ASSERT_NE(function, nullptr) << builtin.name;
    EXPECT_EQ(function->arity(), builtin.arity) << builtin.name;
    EXPECT_EQ(function->f32.index(), function->f64.index()) << builtin.name;
    EXPECT_NE(function->address_f32(), nullptr);
    EXPECT_NE(function->address_f64(), function->address_f32());
    ++count;
  }
  EXPECT_EQ(count, math_functions().size());
}

TEST(Math, FunctionsOfSeveralArguments) {
  auto call3 = [](std::string_view name, double a, double b, double c) {
    return std::get<double (*)(double, double, double)>(find_math_function(name)->f64)(a, b, c);
  };
  EXPECT_DOUBLE_EQ(call3("norm3d", 2, 3, 6), 7);
  EXPECT_DOUBLE_EQ(call3("rnorm3d", 2, 3, 6), 1.0 / 7);
  EXPECT_EQ(call3("fma", 2, 3, 4), 10);
  auto norm4d = std::get<float (*)(float, float, float, float)>(find_math_function("norm4d")->f32);
  EXPECT_FLOAT_EQ(norm4d(1, 4, 4, 4), 7);
  auto rhypot = std::get<double (*)(double, double)>(find_math_function("rhypot")->f64);
  EXPECT_DOUBLE_EQ(rhypot(3, 4), 0.2);
  auto hypot = std::get<double (*)(double, double)>(find_math_function("hypot")->f64);
  EXPECT_DOUBLE_EQ(hypot(3, 4), 5);
}

}  // namespace
}  // namespace tc::lang
