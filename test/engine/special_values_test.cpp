#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "tc/base/processor.h"
#include "tc/base/str.h"
#include "tc/engine/engine.h"
#include "tc/lang/interpret/arithmetic.h"
#include "tc/lang/syntax/builtins.h"
#include "test/support/from_environment.h"
#include "test/support/oracle.h"

/// Every function, operator and conversion on zeros, infinities, NaN and the ends of each type: compiled code against the
/// interpreter, on the instruction sets of this machine.
namespace tc::engine {
namespace {

using test::HostTensor;

constexpr DType types[] = {DType::Bool,     DType::Int8,    DType::Int16,  DType::Int32,  DType::Int64,
                           DType::UInt8,    DType::UInt16,  DType::UInt32, DType::UInt64, DType::Float16,
                           DType::BFloat16, DType::Float32, DType::Float64};

/// Functions whose results are rounded to the nearest value, or are values of their arguments.
bool is_exact(const std::string& function) {
  static const std::set<std::string> exact = {"abs",   "fabs",      "min",      "max",       "fmin",  "fmax",
                                              "clamp", "relu",      "floor",    "ceil",      "round", "trunc",
                                              "fmod",  "remainder", "copysign", "nextafter", "logb",  "isnan",
                                              "isinf", "sqrt",      "select",   "popcount",  "fdim"};
  return exact.count(function) > 0;
}

/// Functions that give either of two zeros.
bool takes_any_zero(const std::string& function) {
  static const std::set<std::string> extremes = {"min", "max", "fmin", "fmax", "clamp", "relu", "sinpi", "cospi"};
  return extremes.count(function) > 0;
}

/// Elements as bits, the ends of \p type and what functions treat by itself.
std::vector<std::uint64_t> special_bits(DType type) {
  std::vector<std::uint64_t> result;
  if (!is_float(type)) {
    const auto low = lang::lowest_integer(type), high = lang::highest_integer(type);
    if (type == DType::Bool) return {0, 1};
    for (const std::int64_t value : {low, low + 1, low / 2, std::int64_t{0}, std::int64_t{1}, std::int64_t{2},
                                     std::int64_t{3}, high / 2, high - 1, high})
      result.push_back(static_cast<std::uint64_t>(value));
    for (const std::int64_t value : {-1, -2, -3}) result.push_back(static_cast<std::uint64_t>(value));
    return result;
  }
  const int bits = bit_size(type), mantissa = type == DType::Float64   ? 52
                                              : type == DType::Float32 ? 23
                                              : type == DType::Float16 ? 10
                                                                       : 7;
  const std::uint64_t infinity = ((std::uint64_t{1} << (bits - 1)) - 1) >> mantissa << mantissa,
                      least = std::uint64_t{1} << mantissa;
  const std::uint64_t one = (infinity >> 1) >> mantissa << mantissa;
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{1}, least - 1, least, infinity - 1, infinity, infinity + (least >> 1), one,
        one - 1, one + 1, one - least, one + least, one + (least >> 1), one + least + (least >> 2),
        one + 3 * least + (least >> 3), one + 5 * least}) {
    result.push_back(value);
    result.push_back(value | std::uint64_t{1} << (bits - 1));
  }
  return result;
}

/// Stores the low bits of \p bits as element \p flat of \p tensor, which is dense.
void set_bits(HostTensor& tensor, std::int64_t flat, std::uint64_t bits) {
  const auto bytes = static_cast<std::size_t>(byte_size(tensor.spec().dtype));
  std::memcpy(static_cast<char*>(tensor.view().data) + static_cast<std::size_t>(flat) * bytes, &bits, bytes);
}

/// \p name of the first \p arity of four tensors, as the language writes it.
std::string call_text(std::string_view name, int arity) {
  static const char* const arguments[] = {"A(i)", "A(i), B(i)", "A(i), B(i), C(i)", "A(i), B(i), C(i), D(i)"};
  if (name == "select") return "select(A(i) > B(i), B(i), C(i))";
  return str(name, "(", arguments[arity - 1], ")");
}

struct Row {
  std::string function, value;
};

/// All functions for all types, on all instruction sets, as in `make test-long`?
bool all_is_checked() { return test::from_environment("TC_ALL_INSTRUCTIONS", 0) != 0; }

/// Is \p function called with values of \p type? Integers are converted for functions of floats, which two types of them show.
bool takes(const lang::Builtin& function, DType type) {
  const bool of_floats = function.kind == lang::BuiltinKind::Float || function.kind == lang::BuiltinKind::Predicate;
  if (is_float(type)) return function.kind != lang::BuiltinKind::Integer;
  return !of_floats || type == DType::Int32 || type == DType::UInt64 || all_is_checked();
}

/// What is computed of values of \p type: functions that take it, operators, and conversions to every type.
std::vector<Row> rows_of(DType type) {
  std::vector<Row> rows;
  for (const auto& builtin : lang::builtins()) {
    if (!takes(builtin, type)) continue;
    rows.push_back({std::string(builtin.name), call_text(builtin.name, builtin.arity)});
  }
  for (const char* op : {"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!="})
    rows.push_back({op, str("A(i) ", op, " B(i)")});
  rows.push_back({"-", "-A(i)"});
  for (const DType to : types) rows.push_back({"cast", str(name(to), "(A(i))")});
  return rows;
}

/// The instruction sets of this machine on which \p type is checked: one of them in turn, from the highest; all of them where
/// TC_ALL_INSTRUCTIONS=1, as in `make test-long`.
std::vector<std::string> sets_of(DType type) {
  std::vector<std::string> all;
  for (const auto& set : instruction_sets())
    if (set.on_this_machine()) all.emplace_back(set.name);
  if (all_is_checked()) return all;
  const auto number = static_cast<std::size_t>(std::find(std::begin(types), std::end(types), type) - types);
  return {all[all.size() - 1 - number % all.size()]};
}

/// Do \p got and \p want, results of \p function, agree? Both are elements of a float type.
bool agree(const std::string& function, DType type, double got, double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got);
  if (want == 0 && got == 0) return takes_any_zero(function) || std::signbit(want) == std::signbit(got);
  if (got == want) return true;
  if (is_exact(function) && !is_half(type)) return false;
  const double unit = type == DType::Float64   ? 0x1p-52
                      : type == DType::Float32 ? 0x1p-23
                      : type == DType::Float16 ? 0x1p-10
                                               : 0x1p-7;
  const double least = type == DType::Float64    ? 0x1p-1074
                       : type == DType::Float16  ? 0x1p-24
                       : type == DType::BFloat16 ? 0x1p-133
                                                 : 0x1p-149;
  const double units = is_half(type) ? 1 : type == DType::Float32 ? 4 : 16;
  return std::fabs(got - want) <= units * (unit * std::fabs(want) + least);
}

class SpecialValues : public testing::TestWithParam<DType> {
 protected:
  /// Each of the special values of \p type with each other one; the third and fourth arguments go through them at other speeds.
  static test::Arguments arguments_of(DType type) {
    const auto special = special_bits(type);
    const auto n = static_cast<std::int64_t>(special.size());
    test::Arguments result;
    for (int argument = 0; argument < 4; ++argument) {
      result.inputs.emplace_back(contiguous(type, {n * n}));
      for (std::int64_t i = 0; i < n * n; ++i) {
        const std::int64_t at[] = {i % n, i / n, (i * 7 + i / n) % n, (i * 5 + i / n * 3) % n};
        set_bits(result.inputs.back(), i, special[static_cast<std::size_t>(at[argument])]);
      }
    }
    return result;
  }

  static void expect_same(const std::vector<Row>& rows, const test::Arguments& in, const std::vector<HostTensor>& got,
                          const std::vector<HostTensor>& want, const std::string& target) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const DType type = want[r].spec().dtype;
      for (std::int64_t i = 0; i < in.inputs[0].spec().element_count(); ++i) {
        if (got[r].bits_at(i) == want[r].bits_at(i)) continue;
        if (is_float(type) && agree(rows[r].function, type, got[r].at(i), want[r].at(i))) continue;
        ADD_FAILURE() << rows[r].value << " of " << in.inputs[0].at(i) << ", " << in.inputs[1].at(i) << ", "
                      << in.inputs[2].at(i) << ", " << in.inputs[3].at(i) << ", " << in.inputs[0].spec().dtype
                      << ", is " << want[r].at(i) << " and not " << got[r].at(i) << ", " << type << " on " << target;
        break;
      }
    }
  }
};

TEST_P(SpecialValues, AsTheInterpreter) {
  const auto rows = rows_of(GetParam());
  std::string text = str("def f(", name(GetParam()), "(N) A, ", name(GetParam()), "(N) B, ", name(GetParam()),
                         "(N) C, ", name(GetParam()), "(N) D) -> (");
  for (std::size_t r = 0; r < rows.size(); ++r) text += str(r ? ", " : "", "R", r);
  text += ") {\n";
  for (std::size_t r = 0; r < rows.size(); ++r) text += str("  R", r, "(i) = ", rows[r].value, "\n");
  const auto function = define(text + "}").functions[0];
  test::Arguments arguments = arguments_of(GetParam());
  for (const auto& output : infer_output_tensor_info(*function, arguments.input_specs()))
    arguments.outputs.emplace_back(output);
  const auto want = test::interpreted(*function, arguments);
  for (const auto& set : sets_of(GetParam())) {
    CompileOptions options;
    options.target = Target::parse(str("cpu:", set));
    const auto executable = compile(function, arguments.input_specs(), arguments.output_specs(), options);
    test::Arguments run = arguments;
    executable->run(run.input_views(), run.output_views());
    expect_same(rows, arguments, run.outputs, want, set);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SpecialValues, testing::ValuesIn(types),
                         [](const auto& info) { return std::string(name(info.param)); });

/// Narrow and wide integers as subscripts, in conditions and as values, where arithmetic in their types wraps.
TEST(Subscripts, OfIntegersThatWrap) {
  const char* const texts[] = {
      "O(I(l)+10) +=! J(l)",
      "O(e) +=! I(l)+10 == e ? J(l) : 0",
      "O(e) +=! int64(I(l))+10 == e ? J(l) : 0 where e in 0:300",
      "O(k) +=! J(l) where k = I(l)+10",
      "O(I(l)*2-J(l)) max=! J(l)",
      "O(e) min=! e == I(l)*2-J(l) ? J(l) : 9 where e in 0:300",
      "O(l) = I(l)+10 < 60 ? T(int64(I(l))) : 7 where l in 0:L",
      "O(l) = I(l) >= 1 ? T(I(l)-1) : 7 where l in 0:L",
      "O(l) = T(I(l)+J(l)) where l in 0:L",
      "O(l) = T((I(l)+J(l)) % 300) where l in 0:L",
      "O(l) = -I(l) < 0 ? 1 : 2 where l in 0:L",
      "O(l) = T(k) where k = I(l)-J(l), l in 0:L",
  };
  for (const DType type : {DType::Int8, DType::UInt8, DType::Int64})
    for (const char* text : texts) {
      const bool begins = std::string(text).find('!') == std::string::npos;
      const std::string whole =
          str("def f(", name(type), "(L) I, ", name(type), "(L) J, int32(300) T) -> (int32(300) O) { ",
              begins ? "O(e) = 0 where e in 0:300  " : "", text, " }");
      SCOPED_TRACE(whole);
      const auto function = define(whole).functions[0];
      std::vector<test::Arguments> calls;
      for (const std::int64_t value : {5, 120, 250}) {
        if (value > lang::highest_integer(type)) continue;
        test::Arguments arguments;
        for (int i = 0; i < 2; ++i) arguments.inputs.emplace_back(contiguous(type, {4}));
        arguments.inputs.emplace_back(contiguous(DType::Int32, {300}));
        for (std::int64_t i = 0; i < 4; ++i) {
          arguments.inputs[0].set(i, static_cast<double>(value));
          arguments.inputs[1].set(i, static_cast<double>(i));
        }
        for (std::int64_t i = 0; i < 300; ++i) arguments.inputs[2].set(i, static_cast<double>(i + 1));
        for (const auto& output : infer_output_tensor_info(*function, arguments.input_specs()))
          arguments.outputs.emplace_back(output);
        calls.push_back(std::move(arguments));
      }
      EXPECT_EQ(test::mismatch_of_calls(function, calls, {}).value_or(""), "");
    }
}

}  // namespace
}  // namespace tc::engine
