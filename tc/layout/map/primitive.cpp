#include "tc/layout/map/primitive.h"

#include <algorithm>
#include <numeric>

#include "tc/base/ceil_div.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::layout {
namespace {

std::int64_t product(const std::vector<std::int64_t>& factors) {
  return std::accumulate(factors.begin(), factors.end(), std::int64_t{1}, std::multiplies<>());
}

/// The number of tiles of \p unfold over \p extent elements.
std::int64_t tiles_of(const Unfold& unfold, std::int64_t extent) {
  return extent <= unfold.size ? std::min<std::int64_t>(extent, 1) : ceil_div(extent - unfold.size, unfold.stride) + 1;
}

/// Replaces items [\p at, \p at + \p count) of \p list by \p with.
template <typename T>
void replace(std::vector<T>& list, std::size_t at, std::size_t count, std::vector<T> with) {
  const auto begin = list.begin() + static_cast<std::ptrdiff_t>(at);
  const auto place = list.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  list.insert(place, std::make_move_iterator(with.begin()), std::make_move_iterator(with.end()));
}

template <typename T>
std::vector<T> reordered(const std::vector<T>& list, const std::vector<std::size_t>& order) {
  std::vector<T> result;
  for (const auto d : order) result.push_back(list[d]);
  return result;
}

// ---- extents

[[noreturn]] void refuse(const Primitive& primitive, const Extents& extents, const std::string& reason) {
  throw OptionsError(str("the layout step ", to_string(primitive), " does not fit a tensor of extents (", join(extents),
                         "): ", reason));
}

class ExtentsBehind {
 public:
  ExtentsBehind(const Primitive& primitive, const Extents& extents) : primitive_(primitive), extents_(extents) {}

  Extents operator()(const Split& x) {
    need_dim(x.dim);
    need(!x.factors.empty(), "it names no factor");
    std::int64_t block = 1;
    for (const auto factor : x.factors) {
      need(factor >= 1, "factors are 1 or more");
      need(!__builtin_mul_overflow(block, factor, &block) && block <= most_elements, "its blocks are too large");
    }
    Extents result{ceil_div(extents_[x.dim], block)};
    result.insert(result.end(), x.factors.begin(), x.factors.end());
    return with(x.dim, 1, result);
  }
  Extents operator()(const Reorder& x) {
    std::vector<std::size_t> sorted = x.order, all(extents_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::sort(sorted.begin(), sorted.end());
    need(sorted == all,
         str("it must name each of dimensions 0 to ", static_cast<std::int64_t>(all.size()) - 1, " once"));
    return reordered(extents_, x.order);
  }
  Extents operator()(const Fuse& x) {
    need(x.count >= 1, "it names no dimension");
    need_dim(x.first + x.count - 1);
    std::int64_t all = 1;
    for (std::size_t d = x.first; d < x.first + x.count; ++d)
      need(!__builtin_mul_overflow(all, extents_[d], &all), "the product overflows");
    return with(x.first, x.count, {all});
  }
  Extents operator()(const Unfold& x) {
    need_dim(x.dim);
    need(x.size >= 1 && x.stride >= 1, "size and stride are 1 or more");
    need(x.size <= most_elements && x.stride <= most_elements, "its tiles are too large");
    return with(x.dim, 1, {tiles_of(x, extents_[x.dim]), x.size});
  }
  Extents operator()(const Fold& x) {
    need_dim(x.dim + 1);
    const Unfold unfold{x.dim, x.size, x.stride};
    need(x.size >= 1 && x.stride >= 1 && x.extent >= 0, "size and stride are 1 or more");
    need(extents_[x.dim] == tiles_of(unfold, x.extent) && extents_[x.dim + 1] == x.size,
         str("unfold of ", x.extent, " elements gives (", tiles_of(unfold, x.extent), ", ", x.size, ")"));
    return with(x.dim, 2, {x.extent});
  }
  Extents operator()(const Pad& x) {
    need_dim(x.dim);
    need(x.low >= 0 && x.high >= 0, "there are less than no holes");
    need(x.low <= most_elements && x.high <= most_elements, "there are too many holes");
    return with(x.dim, 1, {x.low + extents_[x.dim] + x.high});
  }
  Extents operator()(const Unpad& x) {
    need_dim(x.dim);
    need(x.low >= 0 && x.high >= 0 && x.low + x.high <= extents_[x.dim], "there are fewer elements than it drops");
    return with(x.dim, 1, {extents_[x.dim] - x.low - x.high});
  }
  Extents operator()(const StoreAt& x) {
    need(x.dim <= extents_.size(), "it names a place for the new dimension that is not there");
    need(x.index >= 0 && x.index < x.extent && x.extent <= most_elements, "the slice lies outside of the dimension");
    return with(x.dim, 0, {x.extent});
  }
  Extents operator()(const DecoupleAt& x) {
    need_dim(x.dim);
    need(x.index >= 0 && x.index < extents_[x.dim], "the slice lies outside of the dimension");
    return with(x.dim, 1, {});
  }

 private:
  static constexpr std::int64_t most_elements = std::int64_t{1} << 40;  ///< of a dimension

  void need(bool holds, const std::string& reason) const {
    if (!holds) refuse(primitive_, extents_, reason);
  }
  void need_dim(std::size_t dim) const { need(dim < extents_.size(), str("there is no dimension ", dim)); }
  Extents with(std::size_t at, std::size_t count, const Extents& these) const {
    Extents result = extents_;
    replace(result, at, count, these);
    return result;
  }

  const Primitive& primitive_;
  const Extents& extents_;
};

// ---- places

/// stride * t + b = value, b in 0:size, if one choice of t holds in all of \p ranges.
struct TileChoice {
  Index tile, inside;
};
bool fits(const Index& index, std::int64_t extent, const IteratorRanges& ranges) {
  const auto range = bounds(index, ranges);
  return range && range->low >= 0 && range->high < extent;
}

/// \p value with an iterator i of coefficient c written as m * (i / m) + i % m, where c * m is \p stride.
Index with_quotient(const Index& value, const Index::Term& term, std::int64_t stride, const IteratorRanges& ranges) {
  Index one, result = value;
  one.add(term.part, 1);
  result.add(term.part, -term.coefficient);
  const std::int64_t m = stride / term.coefficient;
  result.add(quotient(one, m, ranges), stride);
  result.add(remainder(one, m, ranges), term.coefficient);
  return result;
}

TileChoice split_off(const Index& value, std::int64_t stride) {
  TileChoice choice;
  for (const auto& term : value.terms) {
    const bool whole = term.coefficient % stride == 0;
    (whole ? choice.tile : choice.inside).add(term.part, whole ? term.coefficient / stride : term.coefficient);
  }
  choice.inside.constant = value.constant;
  return choice;
}

TileChoice tile_of(const Unfold& x, std::int64_t tiles, const Index& value, const IteratorRanges& ranges) {
  const auto good = [&](const TileChoice& choice) {
    return fits(choice.tile, tiles, ranges) && fits(choice.inside, x.size, ranges);
  };
  TileChoice choice = split_off(value, x.stride);
  if (good(choice)) return choice;
  for (const auto& term : value.terms) {
    if (term.coefficient < 1 || term.coefficient >= x.stride || x.stride % term.coefficient != 0) continue;
    choice = split_off(with_quotient(value, term, x.stride, ranges), x.stride);
    if (good(choice)) return choice;
  }
  choice.tile = quotient(value, x.stride, ranges);
  if (!fits(choice.tile, tiles, ranges)) {
    const auto least = lang::make_expr(lang::Call{"min", {to_expr(choice.tile), literal(tiles - 1)}});
    choice.tile = Index();
    choice.tile.add(least, 1);
  }
  choice.inside = value;
  choice.inside.add(choice.tile, -x.stride);
  return choice;
}

/// The digits of \p value in the mixed base (any, factors...).
std::vector<Index> digits(const Index& value, const std::vector<std::int64_t>& factors, const IteratorRanges& ranges) {
  std::vector<Index> result;
  std::int64_t below = product(factors);
  result.push_back(quotient(value, below, ranges));
  for (const auto factor : factors) {
    below /= factor;
    result.push_back(quotient(remainder(value, below * factor, ranges), below, ranges));
  }
  return result;
}

/// The number with these digits, each but the first less than its extent.
Index number_of(const std::vector<Index>& places, const Extents& extents, std::size_t first, std::size_t count) {
  Index result = places[first];
  for (std::size_t d = first + 1; d < first + count; ++d) {
    Index shifted;
    shifted.add(result, extents[d]);
    shifted.add(places[d]);
    result = shifted;
  }
  return result;
}

Index moved(Index index, std::int64_t by) {
  index.constant += by;
  return index;
}

}  // namespace

Extents extents_behind(const Primitive& primitive, const Extents& extents) {
  return std::visit(ExtentsBehind(primitive, extents), primitive);
}

std::vector<Primitive> inverse(const Primitive& primitive, const Extents& extents) {
  using Steps = std::vector<Primitive>;
  return std::visit(overloaded{
                        [&](const Split& x) {
                          const std::int64_t n = extents[x.dim], holes = round_up(n, product(x.factors)) - n;
                          Steps steps{Fuse{x.dim, x.factors.size() + 1}};
                          if (holes > 0) steps.push_back(Unpad{x.dim, 0, holes});
                          return steps;
                        },
                        [&](const Reorder& x) {
                          std::vector<std::size_t> order(x.order.size());
                          for (std::size_t d = 0; d < order.size(); ++d) order[x.order[d]] = d;
                          return Steps{Reorder{order}};
                        },
                        [&](const Fuse& x) {
                          if (x.count == 1) return Steps{};
                          const auto begin = extents.begin() + static_cast<std::ptrdiff_t>(x.first);
                          return Steps{Split{x.first, {begin + 1, begin + static_cast<std::ptrdiff_t>(x.count)}}};
                        },
                        [&](const Unfold& x) { return Steps{Fold{x.dim, x.size, x.stride, extents[x.dim]}}; },
                        [&](const Fold& x) { return Steps{Unfold{x.dim, x.size, x.stride}}; },
                        [&](const Pad& x) { return Steps{Unpad{x.dim, x.low, x.high}}; },
                        [&](const Unpad& x) { return Steps{Pad{x.dim, x.low, x.high}}; },
                        [&](const StoreAt& x) { return Steps{DecoupleAt{x.dim, x.index}}; },
                        [&](const DecoupleAt& x) { return Steps{StoreAt{x.dim, x.index, extents[x.dim]}}; },
                    },
                    primitive);
}

std::vector<Index> place(const Primitive& primitive, const Extents& extents, std::vector<Index> indices,
                         const IteratorRanges& ranges) {
  std::visit(
      overloaded{
          [&](const Split& x) { replace(indices, x.dim, 1, digits(indices[x.dim], x.factors, ranges)); },
          [&](const Reorder& x) { indices = reordered(indices, x.order); },
          [&](const Fuse& x) { replace(indices, x.first, x.count, {number_of(indices, extents, x.first, x.count)}); },
          [&](const Unfold& x) {
            const auto choice = tile_of(x, tiles_of(x, extents[x.dim]), indices[x.dim], ranges);
            replace(indices, x.dim, 1, {choice.tile, choice.inside});
          },
          [&](const Fold& x) {
            Index whole = indices[x.dim + 1];
            whole.add(indices[x.dim], x.stride);
            replace(indices, x.dim, 2, {whole});
          },
          [&](const Pad& x) { indices[x.dim].constant += x.low; },
          [&](const Unpad& x) { indices[x.dim].constant -= x.low; },
          [&](const StoreAt& x) { replace(indices, x.dim, 0, {Index(x.index)}); },
          [&](const DecoupleAt& x) { replace(indices, x.dim, 1, {}); },
      },
      primitive);
  return indices;
}

Origin origin(const Primitive& primitive, const Extents& extents, std::vector<Index> places,
              const IteratorRanges& ranges) {
  Origin result;
  const auto require = [&](const Index& index, std::int64_t low, std::int64_t high) {
    const auto range = bounds(index, ranges);
    if (!range || range->low < low || range->high >= high) result.conditions.push_back({index, low, high});
  };
  std::visit(overloaded{
                 [&](const Split& x) {
                   Extents radix(x.dim + 1, 1);
                   radix.insert(radix.end(), x.factors.begin(), x.factors.end());
                   const Index whole = number_of(places, radix, x.dim, x.factors.size() + 1);
                   require(whole, 0, extents[x.dim]);
                   replace(places, x.dim, x.factors.size() + 1, {whole});
                 },
                 [&](const Reorder& x) {
                   std::vector<Index> before(places.size());
                   for (std::size_t d = 0; d < places.size(); ++d) before[x.order[d]] = places[d];
                   places = before;
                 },
                 [&](const Fuse& x) {
                   const auto begin = extents.begin() + static_cast<std::ptrdiff_t>(x.first);
                   const Extents factors(begin + 1, begin + static_cast<std::ptrdiff_t>(x.count));
                   const bool none = product(factors) == 0;
                   replace(places, x.first, 1,
                           none ? std::vector<Index>(x.count) : digits(places[x.first], factors, ranges));
                 },
                 [&](const Unfold& x) {
                   Index whole;
                   whole.add(places[x.dim], x.stride);
                   whole.add(places[x.dim + 1]);
                   require(whole, 0, extents[x.dim]);
                   replace(places, x.dim, 2, {whole});
                 },
                 [&](const Fold& x) {
                   const auto choice = tile_of({x.dim, x.size, x.stride}, extents[x.dim], places[x.dim], ranges);
                   replace(places, x.dim, 1, {choice.tile, choice.inside});
                 },
                 [&](const Pad& x) {
                   places[x.dim] = moved(places[x.dim], -x.low);
                   require(places[x.dim], 0, extents[x.dim]);
                 },
                 [&](const Unpad& x) { places[x.dim] = moved(places[x.dim], x.low); },
                 [&](const StoreAt& x) {
                   require(places[x.dim], x.index, x.index + 1);
                   replace(places, x.dim, 1, {});
                 },
                 [&](const DecoupleAt& x) { replace(places, x.dim, 0, {Index(x.index)}); },
             },
             primitive);
  result.indices = std::move(places);
  return result;
}

std::vector<std::string> names_behind(const Primitive& primitive, std::vector<std::string> names) {
  const auto two = [&](std::size_t dim) {
    const std::string name = names[dim];
    replace(names, dim, 1, {name + "o", name + "i"});
  };
  const auto joined = [&](std::size_t first, std::size_t count) {
    std::string name;
    for (std::size_t d = first; d < first + count; ++d) name += names[d];
    replace(names, first, count, {name});
  };
  std::visit(overloaded{
                 [&](const Split& x) {
                   if (x.factors.size() == 1) return two(x.dim);
                   std::vector<std::string> all;
                   for (std::size_t f = 0; f <= x.factors.size(); ++f) all.push_back(str(names[x.dim], f));
                   replace(names, x.dim, 1, all);
                 },
                 [&](const Reorder& x) { names = reordered(names, x.order); },
                 [&](const Fuse& x) { joined(x.first, x.count); },
                 [&](const Unfold& x) { two(x.dim); },
                 [&](const Fold& x) { joined(x.dim, 2); },
                 [&](const Pad&) {},
                 [&](const Unpad&) {},
                 [&](const StoreAt& x) { replace(names, x.dim, 0, {"slice"}); },
                 [&](const DecoupleAt& x) { replace(names, x.dim, 1, {}); },
             },
             primitive);
  return names;
}

void require_window(const Unfold& tiles, std::int64_t step, std::int64_t window) {
  const std::int64_t least = tiles.stride - step + window;
  if (step >= 1 && tiles.stride % step == 0 && tiles.size >= least) return;
  throw OptionsError(str("a window of ", window, " elements that moves by ", step, " does not stay in one tile of ",
                         to_string(tiles), ": the step must divide the stride, and size >= stride - step + window = ",
                         least, " must hold, but the size is ", tiles.size));
}

}  // namespace tc::layout
