#include "tc/layout/map/layout.h"

#include <algorithm>
#include <optional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/layout/map/names.h"

namespace tc::layout {
namespace {

std::string step_text(const char* name, std::vector<std::int64_t> numbers) {
  return str(name, "(", join(numbers), ")");
}

std::int64_t number(std::size_t value) { return static_cast<std::int64_t>(value); }

/// Reads steps off the front of a text.
class LayoutParser {
 public:
  explicit LayoutParser(std::string_view text) : text_(text) {}

  Layout run() {
    Layout layout;
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) layout = with_step(layout);
    return layout;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw OptionsError(str("the layout '", text_, "': expected ", expected, " at '", text_.substr(at_), "'"));
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '.')) ++at_;
  }
  bool accept(char symbol) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != symbol) return false;
    ++at_;
    return true;
  }
  void expect(char symbol) {
    if (!accept(symbol)) fail(str("'", symbol, "'"));
  }
  std::string_view word() {
    const auto begin = at_;
    while (at_ < text_.size() && (text_[at_] == '_' || (text_[at_] >= 'a' && text_[at_] <= 'z'))) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::int64_t take_number() {
    skip_blanks();
    const auto begin = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value))
        fail("a smaller number");
    if (at_ == begin) fail("a number");
    return value;
  }
  std::vector<std::int64_t> numbers(std::size_t least, std::size_t most, const char* what) {
    const auto begin = at_;
    std::vector<std::int64_t> result;
    expect('(');
    if (!accept(')')) {
      do result.push_back(take_number());
      while (accept(','));
      expect(')');
    }
    if (result.size() < least || result.size() > most) {
      at_ = begin;
      fail(what);
    }
    return result;
  }

  Layout with_step(const Layout& layout);

  std::string_view text_;
  std::size_t at_ = 0;
};

Primitive split_of(const std::vector<std::int64_t>& n) {
  return Split{static_cast<std::size_t>(n[0]), {n.begin() + 1, n.end()}};
}
Primitive reorder_of(const std::vector<std::int64_t>& n) { return Reorder{{n.begin(), n.end()}}; }

/// Dimensions one after another.
std::optional<Primitive> fuse_of(const std::vector<std::int64_t>& n) {
  for (std::size_t d = 1; d < n.size(); ++d)
    if (n[d] != n[d - 1] + 1) return std::nullopt;
  return Fuse{static_cast<std::size_t>(n[0]), n.size()};
}

Layout LayoutParser::with_step(const Layout& layout) {
  constexpr std::size_t any = 64;
  const auto begin = at_;
  const auto name = word();
  const auto dim = [](const std::vector<std::int64_t>& n) { return static_cast<std::size_t>(n[0]); };
  if (name == "identity") return layout;
  if (name == "split") return layout.then(split_of(numbers(2, any, "a dimension and factors")));
  if (name == "reorder") return layout.then(reorder_of(numbers(0, any, "dimensions")));
  if (name == "fuse") {
    const auto fuse = fuse_of(numbers(1, any, "dimensions"));
    if (!fuse) fail("dimensions one after another");
    return layout.then(*fuse);
  }
  if (name == "unfold") {
    const auto n = numbers(3, 3, "a dimension, a size and a stride");
    return layout.then(Unfold{dim(n), n[1], n[2]});
  }
  if (name == "fold") {
    const auto n = numbers(4, 4, "a dimension, a size, a stride and an extent");
    return layout.then(Fold{dim(n), n[1], n[2], n[3]});
  }
  if (name == "pad" || name == "unpad") {
    const auto n = numbers(3, 3, "a dimension and what lies before and behind it");
    return name == "pad" ? layout.then(Pad{dim(n), n[1], n[2]}) : layout.then(Unpad{dim(n), n[1], n[2]});
  }
  if (name == "store_at") {
    const auto n = numbers(3, 3, "a dimension, an index and an extent");
    return layout.then(StoreAt{dim(n), n[1], n[2]});
  }
  if (name == "decouple_at") {
    const auto n = numbers(2, 2, "a dimension and an index");
    return layout.then(DecoupleAt{dim(n), n[1]});
  }
  if (name == "fill") {
    expect('(');
    skip_blanks();
    const auto fill = word();
    if (fill != "zero" && fill != "none") fail("zero or none");
    expect(')');
    return layout.filled(fill == "zero" ? Fill::Zero : Fill::None);
  }
  at_ = begin;
  fail("split, reorder, fuse, unfold, fold, pad, unpad, store_at, decouple_at or fill");
}

}  // namespace

std::string to_string(const Primitive& primitive) {
  return std::visit(overloaded{
                        [](const Split& x) {
                          std::vector<std::int64_t> numbers{number(x.dim)};
                          numbers.insert(numbers.end(), x.factors.begin(), x.factors.end());
                          return step_text("split", numbers);
                        },
                        [](const Reorder& x) { return step_text("reorder", {x.order.begin(), x.order.end()}); },
                        [](const Fuse& x) {
                          std::vector<std::int64_t> numbers;
                          for (std::size_t d = 0; d < x.count; ++d) numbers.push_back(number(x.first + d));
                          return step_text("fuse", numbers);
                        },
                        [](const Unfold& x) { return step_text("unfold", {number(x.dim), x.size, x.stride}); },
                        [](const Fold& x) { return step_text("fold", {number(x.dim), x.size, x.stride, x.extent}); },
                        [](const Pad& x) { return step_text("pad", {number(x.dim), x.low, x.high}); },
                        [](const Unpad& x) { return step_text("unpad", {number(x.dim), x.low, x.high}); },
                        [](const StoreAt& x) { return step_text("store_at", {number(x.dim), x.index, x.extent}); },
                        [](const DecoupleAt& x) { return step_text("decouple_at", {number(x.dim), x.index}); },
                    },
                    primitive);
}

Layout Layout::then(Primitive primitive) const {
  Layout result = *this;
  result.primitives_.push_back(std::move(primitive));
  return result;
}

std::string to_string(const Layout& layout) {
  std::vector<std::string> steps;
  for (const auto& primitive : layout.primitives()) steps.push_back(to_string(primitive));
  if (layout.fill() == Fill::Zero) steps.push_back("fill(zero)");
  return steps.empty() ? "identity" : join(steps, " ");
}

Layout parse_layout(std::string_view text) {
  if (is_layout_name(text)) return named_layout(text);
  return LayoutParser(text).run();
}

Layout inverse(const Layout& layout, const Extents& extents) {
  std::vector<Extents> before{extents};
  for (const auto& primitive : layout.primitives()) before.push_back(extents_behind(primitive, before.back()));
  Layout result;
  for (std::size_t p = layout.primitives().size(); p-- > 0;)
    for (const auto& step : inverse(layout.primitives()[p], before[p])) result = result.then(step);
  return result;
}

}  // namespace tc::layout
