#include "tc/cuda/spelling.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <limits>
#include <map>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/prelude.h"

namespace tc::cuda {
namespace {

using Halide::Type;

/// The functions of the language that neither CUDA has by that name nor the prelude as tc_<name>.
const std::map<std::string, std::string>& renamed_functions() {
  static const auto& table = *new std::map<std::string, std::string>{
      {"tc_min", "tc_nan_min"},
      {"tc_max", "tc_nan_max"},
      {"tc_from_half_f32", "tc_from_half"},
      {"tc_to_half_i32", "tc_to_half"},
      {"tc_from_bfloat_f32", "tc_from_bfloat"},
      {"tc_to_bfloat_u16", "tc_to_bfloat"},
  };
  return table;
}

bool is_native(std::string_view name) {
  auto natives = native_functions();
  return std::find(natives.begin(), natives.end(), name) != natives.end();
}

bool is_of_prelude(std::string_view name) {
  auto functions = prelude_functions();
  return std::any_of(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; });
}

template <typename Bits>
std::string bits_literal(double value, const char* type, const char* suffix) {
  using Float = std::conditional_t<sizeof(Bits) == 4, float, double>;
  auto number = static_cast<Float>(value);
  Bits bits;
  std::memcpy(&bits, &number, sizeof bits);
  TextStream out;
  out << "tc_bits<" << type << ">(0x" << std::hex << bits << suffix << ")";
  return out.str();
}

template <typename Float>
std::string decimal(Float value) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string result(text, end);
  return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
}

}  // namespace

std::string type_name(const Type& type) {
  if (type.is_bool()) return "bool";
  if (type.is_float() && type.bits() == 32) return "float";
  if (type.is_float() && type.bits() == 64) return "double";
  static const auto& words =
      *new std::map<int, std::string>{{8, "char"}, {16, "short"}, {32, "int"}, {64, "long long"}};
  auto word = words.find(type.bits());
  if (!(type.is_int() || type.is_uint()) || word == words.end())
    throw InternalError(str("a value of type ", type, " in a kernel"));
  if (type.is_uint()) return type.bits() == 32 ? "unsigned" : "unsigned " + word->second;
  return type.bits() == 8 ? "signed char" : word->second;
}

std::string literal(const Type& type, std::int64_t value) {
  if (type.bits() < 32) return str("(", type_name(type), ")", value);
  const char* suffix = type.bits() == 64 ? "ll" : "";
  bool is_lowest = value == (type.bits() == 64 ? std::numeric_limits<std::int64_t>::min()
                                               : std::numeric_limits<std::int32_t>::min());
  return is_lowest ? str("(", value + 1, suffix, " - 1)") : str(value, suffix);
}

std::string literal(const Type& type, std::uint64_t value) {
  if (type.is_bool()) return value ? "true" : "false";
  if (type.bits() < 32) return str("(", type_name(type), ")", value);
  return str(value, type.bits() == 64 ? "ull" : "u");
}

std::string literal(const Type& type, double value) {
  bool is_double = type.bits() == 64;
  if (!std::isfinite(value) || (!is_double && !std::isfinite(static_cast<float>(value))))
    return is_double ? bits_literal<std::uint64_t>(value, "double", "ull")
                     : bits_literal<std::uint32_t>(value, "float", "u");
  return is_double ? decimal(value) : decimal(static_cast<float>(value)) + "f";
}

std::optional<std::string> function_name(const std::string& name) {
  if (auto found = renamed_functions().find(name); found != renamed_functions().end()) return found->second;
  if (is_of_prelude(name)) return name;
  auto underscore = name.rfind('_');
  if (underscore == std::string::npos) return std::nullopt;
  auto type = name.substr(underscore + 1), stem = name.substr(0, underscore);
  if (type != "f32" && type != "f64") return std::nullopt;
  if (auto found = renamed_functions().find(stem); found != renamed_functions().end()) return found->second;
  if (is_of_prelude(stem)) return stem;
  auto plain = stem.rfind("tc_", 0) == 0 ? stem.substr(3) : stem;
  if (is_native(plain)) return type == "f32" ? plain + "f" : plain;
  return std::nullopt;
}

bool takes_pointer(const std::string& function, int index) {
  auto begins = [&](const char* name) { return function.rfind(name, 0) == 0; };
  if (begins("tc_atomic_") || function == "tc_last_block") return index == 0;
  if (begins("tc_copy_async_") || begins("tc_load_matrix_") || function == "tc_store_exchanged") return index < 2;
  if (is_group_product(function) || function == "tc_matrix") return index == 0;
  return begins("tc_multiply_") && index >= 4;
}

bool writes_through(const std::string& function, int index) {
  return index == 0 && function != "tc_matrix" && takes_pointer(function, index);
}

bool stores_at_once(const std::string& function, int index) { return function == "tc_store_exchanged" && index == 0; }

int template_arguments(const std::string& function) {
  return is_group_product(function) ? 3 : function == "tc_copy_wait" || function == "tc_unit_wait" ? 1 : 0;
}

bool is_group_product(const std::string& function) { return function.rfind("tc_multiply_m64", 0) == 0; }

}  // namespace tc::cuda
