#include "tc/cpu/narrow_functions.h"

#include <algorithm>
#include <set>
#include <vector>

#include "tc/base/str.h"
#include "tc/cpu/machine/instructions.h"

namespace tc::cpu {
namespace {

std::string vector(int lanes, const std::string& element) {
  return lanes == 1 ? element : str("<", lanes, " x ", element, ">");
}

std::string constant(int lanes, const std::string& element, const std::string& value) {
  if (lanes == 1) return value;
  std::string text = "<";
  for (int i = 0; i < lanes; ++i) text += str(i ? ", " : "", element, " ", value);
  return text + ">";
}

/// One function of a number of 32-bit lanes, step by step.
class Writer {
 public:
  Writer(const std::string& name, int lanes, const std::string& result, const std::vector<std::string>& arguments)
      : lanes_(lanes), result_(result) {
    text_ = str("define ", result, " @tc_", name, lanes == 1 ? "" : str("x", lanes), "(");
    for (std::size_t i = 0; i < arguments.size(); ++i)
      text_ += str(i ? ", " : "", arguments[i], " %", static_cast<char>('a' + i));
    text_ += ") #0 {\n";
  }
  template <typename... Parts>
  std::string step(const Parts&... parts) {
    auto name = str("%v", next_++);
    text_ += str("  ", name, " = ", parts..., "\n");
    return name;
  }
  std::string i32() const { return vector(lanes_, "i32"); }
  std::string f32() const { return vector(lanes_, "float"); }
  std::string number(long long value) const { return constant(lanes_, "i32", str(value)); }
  std::string integer(const char* op, const std::string& x, const std::string& y) {
    return step(op, " ", i32(), " ", x, ", ", y);
  }
  std::string integer(const char* op, const std::string& x, long long y) { return integer(op, x, number(y)); }
  std::string as_float(const std::string& x) { return step("bitcast ", i32(), " ", x, " to ", f32()); }
  std::string as_bits(const std::string& x) { return step("bitcast ", f32(), " ", x, " to ", i32()); }
  std::string real(const char* op, const std::string& x, const std::string& y) {
    return step(op, " ", f32(), " ", x, ", ", y);
  }
  std::string compare(const char* relation, const std::string& x, long long y) {
    return step("icmp ", relation, " ", i32(), " ", x, ", ", number(y));
  }
  std::string select(const std::string& condition, const std::string& x, const std::string& y) {
    return step("select ", vector(lanes_, "i1"), " ", condition, ", ", i32(), " ", x, ", ", i32(), " ", y);
  }
  std::string finish(const std::string& value) { return str(text_, "  ret ", result_, " ", value, "\n}\n"); }

 private:
  int lanes_;
  std::string result_, text_;
  int next_ = 0;
};

/// float32 of the bits of a float16. LLVM is not to know that it is one: it would make comparisons and selections of such
/// values ones of float16, which processors without arithmetic of float16 do one by one.
std::string from_half(const Target& target, int lanes) {
  Writer w("from_half_f32", lanes, vector(lanes, "float"), {vector(lanes, "i16")});
  auto half = vector(lanes, "half"), words = vector(lanes, "i16");
  if (target.instructions->half_conversions) {
    auto value = w.step("bitcast ", words, " %a to ", half);
    auto wide = w.step("fpext ", half, " ", value, " to ", w.f32());
    return w.finish(w.step("call ", w.f32(), " asm \"\", \"=v,0\"(", w.f32(), " ", wide, ")"));
  }
  // exponent and mantissa in place; the factor 2^112 corrects the bias, exactly, for denormals too
  auto wide = w.step("zext ", words, " %a to ", w.i32());
  auto magnitude = w.integer("shl", w.integer("and", wide, 0x7fff), 13);
  auto finite =
      w.as_bits(w.real("fmul", w.as_float(magnitude), w.as_float(w.integer("and", w.number(0x77800000), -1))));
  auto special = w.compare("eq", w.integer("and", wide, 0x7c00), 0x7c00);
  auto value = w.select(special, w.integer("or", magnitude, 0x7f800000), finite);
  auto sign = w.integer("shl", w.integer("and", wide, 0x8000), 16);
  return w.finish(w.as_float(w.integer("or", value, sign)));
}

/// A call of \p intrinsic on vectors of \p types, declared once.
std::string call(Writer& w, std::set<std::string>& declared, const Intrinsic& intrinsic, const std::string& result,
                 const std::vector<std::string>& types, const std::vector<std::string>& values) {
  std::string parameters, arguments;
  auto add = [&](const std::string& type, const std::string& value) {
    parameters += str(parameters.empty() ? "" : ", ", type);
    arguments += str(arguments.empty() ? "" : ", ", type, " ", value);
  };
  for (std::size_t i = 0; i < types.size(); ++i) add(types[i], values[i]);
  for (const auto& [type, value] : intrinsic.constants) add(type, value);
  declared.insert(str("declare ", result, " @llvm.", intrinsic.name, "(", parameters, ")\n"));
  return w.step("call ", result, " @llvm.", intrinsic.name, "(", arguments, ")");
}

/// The bits of the float16 values nearest to \p lanes of float32, by an instruction, which gives eight at least.
std::string to_halves(Writer& w, std::set<std::string>& declared, int lanes) {
  auto instruction = to_half(lanes);
  auto given = vector(std::max(instruction.lanes, 8), "i16"), taken = vector(instruction.lanes, "float");
  std::string values = "%a";
  if (lanes == 1) values = w.step("insertelement ", taken, " zeroinitializer, float %a, i32 0");
  auto all = call(w, declared, instruction, given, {taken}, {values});
  if (lanes >= 8) return all;
  if (lanes == 1) return w.step("extractelement ", given, " ", all, ", i32 0");
  return w.step("shufflevector ", given, " ", all, ", ", given, " undef, <4 x i32> <i32 0, i32 1, i32 2, i32 3>");
}

/// The bits of the float16 nearest to a float32, ties to even, in the low half of 32 bits.
std::string to_half(const Target& target, std::set<std::string>& declared, int lanes) {
  Writer w("to_half_i32", lanes, vector(lanes, "i32"), {vector(lanes, "float")});
  auto words = vector(lanes, "i16");
  if (target.instructions->half_conversions) {
    auto bits = to_halves(w, declared, lanes);
    return w.finish(w.step("zext ", words, " ", bits, " to ", w.i32()));
  }
  // below the smallest normal an addition aligns and rounds the mantissa; above, the carry runs into the exponent
  auto all = w.as_bits("%a"), bits = w.integer("and", all, 0x7fffffff);
  long long one_half = 126ll << 23;
  auto aligned = w.as_bits(w.real("fadd", w.as_float(bits), w.as_float(w.integer("and", w.number(one_half), -1))));
  auto tiny = w.integer("sub", aligned, one_half);
  auto odd = w.integer("and", w.integer("lshr", bits, 13), 1);
  auto normal = w.integer("lshr", w.integer("add", w.integer("add", bits, static_cast<int>(0xc8000fff)), odd), 13);
  auto infinite = w.select(w.compare("ugt", bits, 0x7f800000), w.number(0x7e00), w.number(0x7c00));
  auto value = w.select(w.compare("uge", bits, 143ll << 23), infinite,
                        w.select(w.compare("ult", bits, 113ll << 23), tiny, normal));
  auto sign = w.integer("and", w.integer("lshr", all, 16), 0x8000);
  return w.finish(w.integer("or", value, sign));
}

/// a(i) + b(2i+1) c(2i+1) + b(2i) c(2i) for bfloat16 bits b, c.
std::string dot_bfloat(const Target& target, std::set<std::string>& declared, int lanes) {
  auto pairs = vector(2 * lanes, "i16"), sums = vector(lanes, "float");
  Writer w("dot_bf16_f32", lanes, sums, {sums, pairs, pairs});
  auto a = w.step("bitcast ", pairs, " %b to ", w.i32()), b = w.step("bitcast ", pairs, " %c to ", w.i32());
  if (auto dot = dot_of_bfloats(target, lanes))
    return w.finish(call(w, declared, *dot, sums, {sums, w.i32(), w.i32()}, {"%a", a, b}));
  auto low = [&](const std::string& x) { return w.as_float(w.integer("shl", x, 16)); };
  auto high = [&](const std::string& x) { return w.as_float(w.integer("and", x, static_cast<int>(0xffff0000))); };
  auto add = [&](const std::string& sum, const std::string& x, const std::string& y) {
    return w.real("fadd", sum, w.real("fmul", x, y));
  };
  return w.finish(add(add("%a", high(a), high(b)), low(a), low(b)));
}

/// a(i) + the sum of b(4i+k) c(4i+k) for k = 0..3, b unsigned and c signed bytes, wrapping.
std::string dot_bytes(const Target& target, std::set<std::string>& declared, int lanes) {
  auto bytes = vector(4 * lanes, "i8"), sums = vector(lanes, "i32"), words = vector(2 * lanes, "i16");
  Writer w("dot_u8s8_i32", lanes, sums, {sums, bytes, bytes});
  if (auto dot = dot_of_bytes(target, lanes)) {
    auto a = w.step("bitcast ", bytes, " %b to ", sums), b = w.step("bitcast ", bytes, " %c to ", sums);
    return w.finish(call(w, declared, *dot, sums, {sums, sums, sums}, {"%a", a, b}));
  }
  auto eight = constant(2 * lanes, "i16", "8"), low_byte = constant(2 * lanes, "i16", "255");
  auto a = w.step("bitcast ", bytes, " %b to ", words), b = w.step("bitcast ", bytes, " %c to ", words);
  auto even_a = w.step("and ", words, " ", a, ", ", low_byte), odd_a = w.step("lshr ", words, " ", a, ", ", eight);
  auto even_b = w.step("ashr ", words, " ", w.step("shl ", words, " ", b, ", ", eight), ", ", eight);
  auto odd_b = w.step("ashr ", words, " ", b, ", ", eight);
  auto even = call(w, declared, dot_of_words(lanes), sums, {words, words}, {even_a, even_b});
  auto odd = call(w, declared, dot_of_words(lanes), sums, {words, words}, {odd_a, odd_b});
  return w.finish(w.integer("add", "%a", w.integer("add", even, odd)));
}

}  // namespace

std::string narrow_functions(const Target& target) {
  std::string text;
  std::set<std::string> declared;
  int widest = target.instructions->register_bytes / 4;
  for (int lanes : {1, 4, 8, 16}) {
    if (lanes > widest) break;
    text += from_half(target, lanes) + to_half(target, declared, lanes);
    if (lanes > 1) text += dot_bfloat(target, declared, lanes) + dot_bytes(target, declared, lanes);
  }
  for (const auto& declaration : declared) text += declaration;
  return text;
}

}  // namespace tc::cpu
