#include <algorithm>
#include <cmath>
#include <random>

#include "programs.h"
#include "tc/base/str.h"

namespace {

using tc::str;
using Names = std::vector<std::string>;

/// Draws that are the same on every machine.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {
    for (int i = 0; i < 8; ++i) bits_();
  }
  /// From \p low to \p high, both included.
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t count) { return number(1, count) == 1; }
  /// Evenly by its logarithm.
  double scale(double low, double high) {
    const double at = static_cast<double>(number(0, 1 << 20)) / (1 << 20);
    return low * std::pow(high / low, at);
  }
  template <typename T>
  T of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(all.size()) - 1))];
  }
  template <typename T>
  std::vector<T> shuffled(std::vector<T> all) {
    for (std::size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(i) - 1))]);
    return all;
  }

 private:
  std::mt19937_64 bits_;
};

std::string listed(const Names& names) {
  std::string result;
  for (const auto& name : names) result += (result.empty() ? "" : ",") + name;
  return result;
}

/// Iterators, how far each runs, and the tensors over some of them.
struct Program {
  Names iterators;
  std::vector<std::int64_t> extents;
  std::string params;
  std::vector<tc::TensorSpec> inputs;

  std::int64_t extent(const std::string& iterator) const {
    return extents[std::find(iterators.begin(), iterators.end(), iterator) - iterators.begin()];
  }
  /// A new parameter of \p shape.
  void take(const std::string& name, const std::vector<std::int64_t>& shape) {
    Names sizes;
    for (const auto extent : shape) sizes.push_back(str(extent));
    params += str(params.empty() ? "" : ", ", "float(", listed(sizes), ") ", name);
    inputs.push_back(tc::contiguous(tc::DType::Float32, shape));
  }
  /// A new parameter over \p own, and how it is read.
  std::string read(const std::string& name, const Names& own) {
    std::vector<std::int64_t> shape;
    for (const auto& iterator : own) shape.push_back(extent(iterator));
    take(name, shape);
    return str(name, "(", listed(own), ")");
  }
  std::string where(const Names& some) const {
    Names ranges;
    for (const auto& iterator : some) ranges.push_back(str(iterator, " in 0:", extent(iterator)));
    return " where " + listed(ranges);
  }
  PricedProgram made(const std::string& name, const std::string& returns, const std::string& body) const {
    return {name, str("def drawn(", params, ") -> (", returns, ") { ", body, " }"), inputs};
  }
};

/// \p iterators with some \p points together, most of them not alike.
Program sized(Draw& draw, Names iterators, double points) {
  Program result{std::move(iterators), {}, {}, {}};
  double left = points;
  for (std::size_t i = 0; i < result.iterators.size(); ++i) {
    const double even = std::pow(left, 1.0 / static_cast<double>(result.iterators.size() - i));
    const double extent = draw.scale(std::max(2.0, even / 5), std::max(2.0, even * 5));
    result.extents.push_back(std::max<std::int64_t>(2, std::llround(extent)));
    if (draw.one_in(2)) result.extents.back() = (result.extents.back() + 7) / 8 * 8;
    left = std::max(2.0, left / static_cast<double>(result.extents.back()));
  }
  result.extents = draw.shuffled(result.extents);
  return result;
}

Names some(Draw& draw, const Names& letters, std::int64_t low, std::int64_t high) {
  return Names(letters.begin(), letters.begin() + draw.number(low, high));
}

Names together(std::initializer_list<Names> groups) {
  Names result;
  for (const auto& group : groups) result.insert(result.end(), group.begin(), group.end());
  return result;
}

/// Sums over all that neither has alone: products of matrices, of vectors, in batches, in all orders of dimensions.
PricedProgram contraction(const std::string& name, Draw& draw) {
  const Names b = some(draw, {"b"}, 0, 1), m = some(draw, {"m", "p"}, 1, 2), n = some(draw, {"n", "q"}, 0, 2),
              k = some(draw, {"k", "l"}, 1, 2);
  auto program = sized(draw, together({b, m, n, k}), draw.scale(1 << 18, 1 << 25));
  const auto x = program.read("X", draw.shuffled(together({b, m, k})));
  const auto y = program.read("Y", draw.shuffled(together({b, n, k})));
  const auto out = str("O(", listed(draw.shuffled(together({b, m, n}))), ")");
  const std::int64_t body = draw.number(0, 7);
  if (body == 0) return program.made(name, "O", str(out, " +=! fabs(", x, " - ", y, ")"));
  if (body == 1) return program.made(name, "O", str(out, " max=! ", x, " + ", y));
  const auto product = str(out, " +=! ", x, " * ", y);
  if (body > 3) return program.made(name, "O", product);
  const auto bias = program.read("B", draw.shuffled(n.empty() ? m : n));
  return program.made(name, "O", str(product, "  ", out, " = fmax(", out, " + ", bias, ", 0)"));
}

/// Convolutions and poolings of one to three dimensions, padded, strided, dilated, by channel, channels first or last.
PricedProgram window(const std::string& name, Draw& draw) {
  const auto count = static_cast<std::size_t>(draw.number(1, 3));
  const bool by_channel = draw.one_in(3), last = draw.one_in(3), pads = draw.one_in(2),
             pools = by_channel && draw.one_in(2);
  const std::int64_t stride = draw.one_in(3) ? 2 : 1, dilation = draw.one_in(5) ? 2 : 1,
                     side = draw.number(1, 2) * 2 + 1;
  const auto channels = draw.number(1, 64), filters = by_channel ? channels : draw.number(4, 96);
  const double taps = std::pow(static_cast<double>(side), static_cast<double>(count));
  const double points =
      draw.scale(1 << 19, 1 << 24) / taps / static_cast<double>(filters * (by_channel ? 1 : channels));
  const auto out = std::clamp<std::int64_t>(std::llround(std::pow(points, 1.0 / static_cast<double>(count))), 4, 4096);
  const Names space{"h", "w", "d"}, taps_of{"r", "s", "t"};
  const auto reach = dilation * (side - 1), pad = pads ? reach / 2 : 0, in = (out - 1) * stride + reach + 1 - 2 * pad;
  Program program{{"n", "c", "f"}, {draw.number(1, 4), channels, filters}, {}, {}};
  Names places, own, windows;
  std::string inside;
  std::vector<std::int64_t> image, kernel;
  for (std::size_t d = 0; d < count; ++d) {
    program.iterators.insert(program.iterators.end(), {space[d], taps_of[d]});
    program.extents.insert(program.extents.end(), {out, side});
    places.push_back(str(stride, "*", space[d], " + ", dilation, "*", taps_of[d], " - ", pad));
    if (pad > 0) inside += str(inside.empty() ? "" : " && ", places[d], " >= 0 && ", places[d], " < ", in);
    own.push_back(space[d]);
    windows.push_back(taps_of[d]);
    image.push_back(in);
    kernel.push_back(side);
  }
  const auto shaped = [&](const Names& at, const std::string& channel) {
    return last ? together({{"n"}, at, {channel}}) : together({{"n", channel}, at});
  };
  image.insert(last ? image.end() : image.begin(), channels);
  image.insert(image.begin(), program.extent("n"));
  program.take("X", image);
  const auto element = str("X(", listed(shaped(places, "c")), ")");
  std::string value = element;
  if (!pools) {
    Names factor = together({by_channel ? Names{"c"} : Names{"f", "c"}, windows});
    if (last) std::reverse(factor.begin(), factor.end());
    value += " * " + program.read("K", factor);
  }
  if (!inside.empty()) value = str(inside, " ? ", value, " : 0");
  const auto result = str("O(", listed(shaped(own, by_channel ? "c" : "f")), ")");
  return program.made(
      name, "O",
      str(result, pools && draw.one_in(2) ? " max=! " : " +=! ", value, program.where(together({own, windows}))));
}

/// Reductions over some dimensions, and what is made of the elements by them: sums, norms, softmax.
PricedProgram reduction(const std::string& name, Draw& draw) {
  const Names all = some(draw, {"a", "b", "c", "d"}, 2, 4);
  auto program = sized(draw, all, draw.scale(1 << 17, 1 << 21));
  const auto order = draw.shuffled(all);
  const Names kept(order.begin(), order.begin() + draw.number(1, static_cast<std::int64_t>(all.size()) - 1));
  const auto x = program.read("X", all);
  const auto s = str("S(", listed(kept), ")"), y = str("Y(", listed(all), ")");
  switch (draw.number(0, 5)) {
    case 0:
      return program.made(name, "S", str(s, " +=! ", x));
    case 1:
      return program.made(name, "S", str(s, " max=! ", x));
    case 2:
      return program.made(name, "S", str(s, " +=! ", x, " * ", x));
    case 3:
      return program.made(name, "Y", str(s, " +=! ", x, " * ", x, "  ", y, " = ", x, " * rsqrt(", s, " + 1)"));
    case 4: {
      const auto t = str("T(", listed(kept), ")"), e = str("E(", listed(all), ")");
      return program.made(
          name, "Y",
          str(t, " max=! ", x, "  ", e, " = exp(", x, " - ", t, ")  ", s, " +=! ", e, "  ", y, " = ", e, " / ", s));
    }
    default:
      return program.made(name, "Y", str(s, " +=! ", x, "  ", y, " = ", x, " - ", s));
  }
}

/// Copies in other orders of dimensions, and element-wise programs of tensors that have some of the dimensions.
PricedProgram elements(const std::string& name, Draw& draw) {
  const Names all = some(draw, {"a", "b", "c", "d"}, 2, 4);
  auto program = sized(draw, all, draw.scale(1 << 17, 1 << 21));
  const auto x = program.read("X", draw.one_in(2) ? draw.shuffled(all) : all);
  const auto y = str("Y(", listed(all), ") = ");
  const std::int64_t kind = draw.number(0, 4);
  if (kind == 0) return program.made(name, "Y", y + x);
  const auto order = draw.shuffled(all);
  const Names part(order.begin(), order.begin() + draw.number(1, static_cast<std::int64_t>(all.size())));
  const auto z = program.read("Z", part);
  if (kind == 1) return program.made(name, "Y", str(y, x, " + ", z));
  if (kind == 2) return program.made(name, "Y", str(y, "fmax(", x, " * ", z, ", 0)"));
  if (kind == 3) return program.made(name, "Y", str(y, "tanh(", x, ") * ", z));
  return program.made(name, "Y", str(y, "exp(", x, " - ", z, ") + ", x));
}

/// Sums of neighbours in one to three dimensions.
PricedProgram stencil(const std::string& name, Draw& draw) {
  const Names all = some(draw, {"a", "b", "c"}, 1, 3);
  auto program = sized(draw, all, draw.scale(1 << 17, 1 << 20));
  std::vector<std::int64_t> shape;
  for (const auto extent : program.extents) shape.push_back(extent + 4);
  program.take("X", shape);
  std::string value;
  for (std::int64_t term = draw.number(2, 9); term > 0; --term) {
    Names at;
    for (const auto& iterator : all) at.push_back(str(iterator, " + ", draw.number(0, 4)));
    value += str(value.empty() ? "" : " + ", "0.", draw.number(1, 9), " * X(", listed(at), ")");
  }
  return program.made(name, "Y", str("Y(", listed(all), ") = ", value, program.where(all)));
}

}  // namespace

PricedProgram drawn_program(std::uint64_t seed) {
  Draw draw(seed);
  const auto name = str("drawn-", seed);
  const std::int64_t family = draw.number(0, 9);
  if (family < 4) return contraction(name, draw);
  if (family < 6) return window(name, draw);
  if (family < 8) return reduction(name, draw);
  return family == 8 ? elements(name, draw) : stencil(name, draw);
}
