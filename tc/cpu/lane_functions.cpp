#include "tc/cpu/lane_functions.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "tc/base/str.h"
#include "tc/cpu/machine/instructions.h"
#include "tc/cpu/narrow_functions.h"

namespace tc::cpu {
namespace {

/// A float type of a number of lanes, by its names in LLVM.
struct Shape {
  int bits, lanes;

  std::string element() const { return bits == 32 ? "float" : "double"; }
  std::string type() const { return lanes == 1 ? element() : str("<", lanes, " x ", element(), ">"); }
  std::string integer() const { return lanes == 1 ? str("i", bits) : str("<", lanes, " x i", bits, ">"); }
  std::string condition() const { return lanes == 1 ? "i1" : str("<", lanes, " x i1>"); }
  /// The end of an intrinsic's name.
  std::string mangled() const { return str(lanes == 1 ? "" : str("v", lanes), "f", bits); }
  std::string suffix() const { return str("_f", bits, lanes == 1 ? "" : str("x", lanes)); }
  Shape wide() const { return {64, lanes}; }
};

/// A value in all lanes; \p value as LLVM writes it.
std::string all(const Shape& shape, const std::string& element, const std::string& value) {
  if (shape.lanes == 1) return value;
  std::string text = "<";
  for (int i = 0; i < shape.lanes; ++i) text += str(i ? ", " : "", element, " ", value);
  return text + ">";
}

/// The text of one function: parameters %a, %b, ... and steps.
class Body {
 public:
  Body(const std::string& name, const Shape& shape, int arity) : shape_(shape) {
    text_ = str("define ", shape.type(), " @tc_", name, shape.suffix(), "(");
    for (int i = 0; i < arity; ++i) text_ += str(i ? ", " : "", shape.type(), " %", static_cast<char>('a' + i));
    text_ += ") #0 {\n";
  }
  /// A new value, %v<number>.
  std::string step(const std::string& operation) {
    auto name = str("%v", next_++);
    text_ += str("  ", name, " = ", operation, "\n");
    return name;
  }
  std::string binary(const std::string& op, const std::string& a, const std::string& b) {
    return step(str(op, " ", shape_.type(), " ", a, ", ", b));
  }
  std::string integer(const std::string& op, const std::string& a, const std::string& b) {
    return step(str(op, " ", shape_.integer(), " ", a, ", ", b));
  }
  std::string select(const std::string& condition, const std::string& type, const std::string& a,
                     const std::string& b) {
    return step(str("select ", shape_.condition(), " ", condition, ", ", type, " ", a, ", ", type, " ", b));
  }
  std::string number(const std::string& value) const { return all(shape_, shape_.element(), value); }
  void raw(const std::string& text) { text_ += text; }
  std::string integer_number(long long value) const { return all(shape_, str("i", shape_.bits), str(value)); }
  std::string finish(const std::string& result) { return str(text_, "  ret ", shape_.type(), " ", result, "\n}\n"); }
  const Shape& shape() const { return shape_; }

 private:
  Shape shape_;
  std::string text_;
  int next_ = 0;
};

std::string arguments(const std::string& type, int arity) {
  std::string text;
  for (int i = 0; i < arity; ++i) text += str(i ? ", " : "", type, " %", static_cast<char>('a' + i));
  return text;
}

/// Declarations by the names they declare.
using Declarations = std::map<std::string, std::string>;

/// A function that is one of LLVM's own.
std::string intrinsic(Declarations& declarations, const std::string& name, const Shape& shape, int arity,
                      const std::string& llvm) {
  Body body(name, shape, arity);
  auto callee = str("@llvm.", llvm, ".", shape.mangled());
  std::string parameters;
  for (int i = 0; i < arity; ++i) parameters += str(i ? ", " : "", shape.type());
  declarations[callee] = str("declare ", shape.type(), " ", callee, "(", parameters, ")\n");
  auto result = body.step(str("call ", shape.type(), " ", callee, "(", arguments(shape.type(), arity), ")"));
  return body.finish(result);
}

/// float32: product and sum in float64.
std::string fused_by_widening(const Shape& shape) {
  Body body("fused", shape, 3);
  auto wide = shape.wide().type();
  std::array<std::string, 3> x;
  for (int i = 0; i < 3; ++i)
    x[i] = body.step(str("fpext ", shape.type(), " %", static_cast<char>('a' + i), " to ", wide));
  auto product = body.step(str("fmul ", wide, " ", x[0], ", ", x[1]));
  auto sum = body.step(str("fadd ", wide, " ", product, ", ", x[2]));
  return body.finish(body.step(str("fptrunc ", wide, " ", sum, " to ", shape.type())));
}

/// float64: the product as a sum of two by Dekker's halves, then the sum with its error; the plain one where that
/// overflows.
std::string fused_by_halves(const Shape& shape) {
  Body body("fused", shape, 3);
  auto sub = [&](const std::string& x, const std::string& y) { return body.binary("fsub", x, y); };
  auto add = [&](const std::string& x, const std::string& y) { return body.binary("fadd", x, y); };
  auto mul = [&](const std::string& x, const std::string& y) { return body.binary("fmul", x, y); };
  auto high_half = [&](const std::string& x) {
    auto scaled = mul(x, body.number("134217729.0"));
    return sub(scaled, sub(scaled, x));
  };
  auto ah = high_half("%a"), bh = high_half("%b"), al = sub("%a", ah), bl = sub("%b", bh);
  auto p = mul("%a", "%b");
  auto e = add(add(add(sub(mul(ah, bh), p), mul(ah, bl)), mul(al, bh)), mul(al, bl));
  auto s = add(p, "%c"), part = sub(s, p);
  auto t = add(sub(p, sub(s, part)), sub("%c", part));
  auto exact = add(s, add(t, e));
  auto usable = body.step(str("fcmp ord ", shape.type(), " ", exact, ", ", exact));
  return body.finish(body.select(usable, shape.type(), exact, s));
}

/// By \p scaling, an instruction that rounds once and takes any n.
std::string scale_by_instruction(Declarations& declarations, const Shape& shape, const Intrinsic& scaling) {
  auto type = Shape{shape.bits, scaling.lanes}.type(), callee = "@llvm." + scaling.name;
  Body body("scale", shape, 2);
  std::string y = "%a", n = "%b";
  if (shape.lanes < scaling.lanes) {
    y = body.step(str("insertelement ", type, " zeroinitializer, ", shape.type(), " ", y, ", i32 0"));
    n = body.step(str("insertelement ", type, " zeroinitializer, ", shape.type(), " ", n, ", i32 0"));
  }
  std::string types = str(type, ", ", type), values = str(type, " ", y, ", ", type, " ", n);
  for (const auto& [constant, value] : scaling.constants) {
    types += str(", ", constant);
    values += str(", ", constant, " ", value);
  }
  auto result = body.step(str("call ", type, " ", callee, "(", values, ")"));
  if (shape.lanes < scaling.lanes) result = body.step(str("extractelement ", type, " ", result, ", i32 0"));
  declarations[callee] = str("declare ", type, " ", callee, "(", types, ")\n");
  return body.finish(result);
}

/// y 2^h 2^(n-h) with h near n/2, so that only the last product rounds. The number added moves whole numbers to the low
/// bits, and the exponent's bias with them.
std::string scale_by_products(const Shape& shape) {
  bool single = shape.bits == 32;
  Body body("scale", shape, 2);
  auto magic = body.number(single ? "12583039.0" : "6755399441056767.0");
  auto power = [&](const std::string& shifted) {
    auto bits = body.step(str("bitcast ", shape.type(), " ", shifted, " to ", shape.integer()));
    auto placed = body.integer("shl", bits, body.integer_number(single ? 23 : 52));
    return body.step(str("bitcast ", shape.integer(), " ", placed, " to ", shape.type()));
  };
  auto shifted = body.binary("fadd", body.binary("fmul", "%b", body.number("0.5")), magic);
  auto rest = body.binary("fsub", "%b", body.binary("fsub", shifted, magic));
  auto other = power(body.binary("fadd", rest, magic));
  return body.finish(body.binary("fmul", body.binary("fmul", "%a", power(shifted)), other));
}

std::string hexadecimal(double value) {
  TextStream out;
  out << "0x" << std::hex << std::uppercase << std::setw(16) << std::setfill('0')
      << std::bit_cast<std::uint64_t>(value);
  return out.str();
}

/// a / b with the same b in all lanes, rounded as IEEE division. From z = 1/b rounded and its error w, q = a z + a w is
/// one of the two neighbours of a/b; then q + (a - q b) z is a/b rounded (Markstein). Where b or any lane of a is so
/// large, so small or so special that a step could leave the normal range, the instruction divides. Lanes of a in range
/// are those whose bits, moved to begin just above the smallest integer, are at most a limit: for a b that is out of
/// range the smallest integer, which no bits are moved to, so that one comparison tells both.
std::string quotient(const Shape& shape) {
  bool single = shape.bits == 32;
  double low = std::ldexp(1, single ? -90 : -900), high = std::ldexp(1, single ? 90 : 900);
  double low_divisor = std::ldexp(1, single ? -30 : -100), high_divisor = std::ldexp(1, single ? 30 : 100);
  auto type = shape.type(), element = shape.element();
  auto scalar_fma = str("@llvm.fma.f", shape.bits), fma = str("@llvm.fma.", shape.mangled()),
       absolute = str("@llvm.fabs.f", shape.bits);
  auto doubled = [&](double x) {  // the bits of x without its sign, moved up by one
    if (single) return static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x))) * 2;
    return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x) << 1);
  };
  std::uint64_t span = static_cast<std::uint64_t>(doubled(high)) - static_cast<std::uint64_t>(doubled(low));
  std::int64_t smallest = single ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int64_t>::min();
  auto first = static_cast<std::uint64_t>(smallest) + 1;  // odd, as all that even numbers are moved to
  auto limit = static_cast<std::int64_t>(first + span);
  auto offset = static_cast<std::int64_t>(first - static_cast<std::uint64_t>(doubled(low)));
  if (single) offset = static_cast<std::int32_t>(offset);
  Body body("quotient", shape, 2);
  auto line = [&](const auto&... parts) { return body.step(str(parts...)); };
  auto b = line("extractelement ", type, " %b, i32 0");
  auto z = line("fdiv ", element, " ", "1.0", ", ", b);
  auto minus_b = line("fneg ", element, " ", b);
  auto rest = line("call ", element, " ", scalar_fma, "(", element, " ", minus_b, ", ", element, " ", z, ", ", element,
                   " 1.0)");
  auto w = line("fmul ", element, " ", rest, ", ", z);
  auto size = line("call ", element, " ", absolute, "(", element, " ", b, ")");
  auto above = line("fcmp ogt ", element, " ", size, ", ", hexadecimal(low_divisor));
  auto below = line("fcmp olt ", element, " ", size, ", ", hexadecimal(high_divisor));
  auto usable = line("and i1 ", above, ", ", below);
  auto splat = [&](const std::string& kind, const std::string& x) {
    auto vector = str("<", shape.lanes, " x ", kind, ">");
    auto first = line("insertelement ", vector, " undef, ", kind, " ", x, ", i32 0");
    return line("shufflevector ", vector, " ", first, ", ", vector, " undef, <", shape.lanes,
                " x i32> zeroinitializer");
  };
  auto integer = str("i", shape.bits);
  auto most = splat(integer, line("select i1 ", usable, ", ", integer, " ", limit, ", ", integer, " ", smallest));
  auto bits = line("bitcast ", type, " %a to ", shape.integer());
  auto shifted = body.integer("shl", bits, body.integer_number(1));
  auto moved = body.integer("add", shifted, body.integer_number(offset));
  auto outside = line("icmp sgt ", shape.integer(), " ", moved, ", ", most);
  auto mask = line("bitcast ", shape.condition(), " ", outside, " to i", shape.lanes);
  auto fast = line("icmp eq i", shape.lanes, " ", mask, ", 0");
  body.raw(str("  br i1 ", fast, ", label %products, label %division, !prof !0\nproducts:\n"));
  auto call = [&](const std::string& x, const std::string& y, const std::string& add) {
    return line("call ", type, " ", fma, "(", type, " ", x, ", ", type, " ", y, ", ", type, " ", add, ")");
  };
  auto zs = splat(element, z), ws = splat(element, w), bs = splat(element, minus_b);
  auto q = call("%a", zs, body.binary("fmul", "%a", ws));
  auto exact = call(call(q, bs, "%a"), zs, q);
  body.raw(str("  ret ", type, " ", exact, "\ndivision:\n"));
  return body.finish(body.binary("fdiv", "%a", "%b"));
}

/// a / b by the instruction.
std::string plain_quotient(const Shape& shape) {
  Body body("quotient", shape, 2);
  return body.finish(body.binary("fdiv", "%a", "%b"));
}

constexpr const char* module_head =
    "attributes #0 = { alwaysinline nounwind }\n"
    "!0 = !{!\"branch_weights\", i32 1000, i32 1}\n";

/// The identity, of which LLVM knows nothing, and prefetches for reading.
constexpr const char* pointer_definitions =
    "declare void @llvm.prefetch.p0i8(i8*, i32, i32, i32)\n"
    "define i32 @tc_prefetch(i8* %pointer, i64 %offset) #0 {\n"
    "  %place = getelementptr i8, i8* %pointer, i64 %offset\n"
    "  call void @llvm.prefetch.p0i8(i8* %place, i32 0, i32 3, i32 1)\n"
    "  ret i32 0\n}\n"
    "define i32 @tc_prefetch_l2(i8* %pointer, i64 %offset) #0 {\n"
    "  %place = getelementptr i8, i8* %pointer, i64 %offset\n"
    "  call void @llvm.prefetch.p0i8(i8* %place, i32 0, i32 2, i32 1)\n"
    "  ret i32 0\n}\n"
    "define i8* @tc_launder(i8* %pointer) #0 {\n"
    "  %same = call i8* asm \"\", \"=r,0\"(i8* %pointer)\n"
    "  ret i8* %same\n}\n";

const std::vector<std::string> names = {"fused", "fma", "nearest", "root", "scale", "quotient"};

}  // namespace

std::string lane_functions(const Target& target) {
  std::string text = str(data_layout(), module_head);
  Declarations declarations;
  for (int bits : {32, 64})
    for (int bytes = bits / 8; bytes <= target.instructions->register_bytes; bytes *= 2) {
      Shape shape{bits, bytes * 8 / bits};
      if (bits == 32 && shape.lanes == 2) continue;
      if (target.has_fma()) {
        text += intrinsic(declarations, "fused", shape, 3, "fma") + intrinsic(declarations, "fma", shape, 3, "fma");
      } else {
        text += bits == 32 ? fused_by_widening(shape) : fused_by_halves(shape);
      }
      text +=
          intrinsic(declarations, "nearest", shape, 1, "nearbyint") + intrinsic(declarations, "root", shape, 1, "sqrt");
      text += target.has_fma() && shape.lanes > 1 ? quotient(shape) : plain_quotient(shape);
      auto scaling = scale(target, bits, shape.lanes);
      text += scaling ? scale_by_instruction(declarations, shape, *scaling) : scale_by_products(shape);
    }
  for (const char* intrinsic : {"fabs", "fma"})
    for (int bits : {32, 64}) {
      std::string type = bits == 32 ? "float" : "double",
                  rest = intrinsic == std::string("fma") ? str(", ", type, ", ", type) : "";
      auto name = str("@llvm.", intrinsic, ".f", bits);
      declarations[name] = str("declare ", type, " ", name, "(", type, rest, ")\n");
    }
  for (const auto& [name, declaration] : declarations) text += declaration;
  return text + pointer_definitions + narrow_functions(target);
}

std::string pointer_functions() { return str(data_layout(), module_head, pointer_definitions); }

bool is_pointer_function(const std::string& name) {
  return name == "tc_launder" || name == "tc_prefetch" || name == "tc_prefetch_l2";
}

bool is_lane_function(const std::string& name) {
  static const auto& others =
      *new std::set<std::string>{"tc_from_half_f32", "tc_to_half_i32", "tc_dot_bf16_f32", "tc_dot_u8s8_i32"};
  for (const auto& known : names)
    if (name == "tc_" + known + "_f32" || name == "tc_" + known + "_f64") return true;
  return others.count(name) > 0 || is_pointer_function(name);
}

}  // namespace tc::cpu
