#include "test/layout/layout_fixture.h"

#include <cmath>
#include <limits>

#include "tc/base/str.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/interpret/interpret.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "test/support/interpret_text.h"

namespace tc::test {

using namespace lang;

SizedDef sized_def(const std::string& text, const SizeMap& sizes) {
  SizedDef result{check(parse(text)), {}, sizes};
  std::map<std::string, InlinedDef> done;
  InlineContext context;
  context.callee = [&](const std::string& name) -> const InlinedDef& { return done.at(name); };
  context.start_ranges = [&](const Def& head) {
    return std::make_unique<halide_bridge::RangeInference>(head, result.file.text, result.file.name, Cancellation{});
  };
  for (const Def& def : result.file.defs) {
    InlinedDef inlined{inline_calls(def, result.file, context), {}};
    inlined.ranges = halide_bridge::infer_ranges(inlined.def, result.file.text);
    done[def.name] = inlined;
    result.function = std::move(inlined);
  }
  return result;
}

layout::Layouts layouts_of(const std::map<std::string, std::string>& texts) {
  layout::Layouts result;
  for (const auto& [name, text] : texts) result.of[name] = layout::parse_layout(text);
  return result;
}

std::string laid_out_text(const std::string& text, const SizeMap& sizes,
                          const std::map<std::string, std::string>& layouts) {
  const SizedDef def = sized_def(text, sizes);
  const auto laid_out = layout::apply_layouts(def.function, sizes, layouts_of(layouts));
  std::string lines;
  for (const auto& statement : laid_out.def().statements) lines += print(statement) + "\n";
  return lines;
}

namespace {

using Place = std::vector<std::int64_t>;

/// The places of one index behind one step, from its definition.
class PlacesBehind {
 public:
  PlacesBehind(Place index, const layout::Extents& extents) : index_(std::move(index)), extents_(extents) {}

  std::vector<Place> operator()(const layout::Split& x) const {
    Place digits;
    std::int64_t rest = index_[x.dim];
    for (std::size_t f = x.factors.size(); f-- > 0; rest /= x.factors[f])
      digits.insert(digits.begin(), rest % x.factors[f]);
    digits.insert(digits.begin(), rest);
    return {with(x.dim, 1, digits)};
  }
  std::vector<Place> operator()(const layout::Reorder& x) const {
    Place result;
    for (const auto d : x.order) result.push_back(index_[d]);
    return {result};
  }
  std::vector<Place> operator()(const layout::Fuse& x) const {
    std::int64_t value = 0;
    for (std::size_t d = x.first; d < x.first + x.count; ++d) value = value * extents_[d] + index_[d];
    return {with(x.first, x.count, {value})};
  }
  std::vector<Place> operator()(const layout::Unfold& x) const {
    std::vector<Place> result;
    const auto tiles = layout::extents_behind(x, extents_)[x.dim];
    for (std::int64_t t = 0; t < tiles; ++t)
      if (const auto b = index_[x.dim] - x.stride * t; b >= 0 && b < x.size) result.push_back(with(x.dim, 1, {t, b}));
    return result;
  }
  std::vector<Place> operator()(const layout::Fold& x) const {
    const auto value = x.stride * index_[x.dim] + index_[x.dim + 1];
    return value < x.extent ? std::vector<Place>{with(x.dim, 2, {value})} : std::vector<Place>();
  }
  std::vector<Place> operator()(const layout::Pad& x) const { return {with(x.dim, 1, {index_[x.dim] + x.low})}; }
  std::vector<Place> operator()(const layout::Unpad& x) const {
    const auto value = index_[x.dim] - x.low;
    const bool stays = value >= 0 && value < extents_[x.dim] - x.low - x.high;
    return stays ? std::vector<Place>{with(x.dim, 1, {value})} : std::vector<Place>();
  }
  std::vector<Place> operator()(const layout::StoreAt& x) const { return {with(x.dim, 0, {x.index})}; }
  std::vector<Place> operator()(const layout::DecoupleAt& x) const {
    return index_[x.dim] == x.index ? std::vector<Place>{with(x.dim, 1, {})} : std::vector<Place>();
  }

 private:
  Place with(std::size_t at, std::size_t count, const Place& these) const {
    Place result = index_;
    const auto begin = result.begin() + static_cast<std::ptrdiff_t>(at);
    result.insert(result.erase(begin, begin + static_cast<std::ptrdiff_t>(count)), these.begin(), these.end());
    return result;
  }

  Place index_;
  const layout::Extents& extents_;
};

std::int64_t flat(const std::vector<std::int64_t>& place, const layout::Extents& extents) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < place.size(); ++d) at = at * extents[d] + place[d];
  return at;
}

std::int64_t elements(const layout::Extents& extents) {
  std::int64_t count = 1;
  for (const auto extent : extents) count *= extent;
  return count;
}

/// Calls \p visit with each element's number and each of its places.
template <typename F>
void for_each_place(const layout::LayoutMap& map, F&& visit) {
  const auto count = elements(map.logical());
  std::vector<std::int64_t> index(map.logical().size(), 0);
  for (std::int64_t element = 0; element < count; ++element) {
    for (const auto& place : places_of(map, index)) visit(element, flat(place, map.physical()));
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < map.logical()[d]) break;
      index[d] = 0;
    }
  }
}

/// What may stand in a hole.
double hole_value(DType type, layout::Fill fill) {
  if (fill == layout::Fill::Zero) return 0;
  return is_float(type) ? std::numeric_limits<double>::quiet_NaN() : type == DType::Bool ? 1 : 77;
}

class TwoRuns {
 public:
  TwoRuns(const SizedDef& def, const layout::Layouts& layouts, std::uint64_t seed)
      : def_(def.function.def),
        ranges_(def.function.ranges),
        sizes_(def.sizes),
        laid_out_(layout::apply_layouts(def.function, def.sizes, layouts)),
        layouts_(layouts),
        random_(seed) {}

  std::string run() {
    Tensors plain, physical;
    for (const auto& param : def_.params) add(param.name, plain, physical);
    for (const auto& ret : def_.returns) add(ret.name, plain, physical);
    execute(def_, ranges_, sizes_, plain);
    execute(laid_out_.def(), laid_out_.ranges, {}, physical);
    for (const auto& ret : def_.returns)
      if (auto text = compare(ret.name, plain.at(ret.name), physical.at(ret.name)); !text.empty())
        return text + "\n" + print(laid_out_.def());
    return {};
  }

 private:
  void add(const std::string& name, Tensors& plain, Tensors& physical) {
    if (plain.count(name)) return;
    const auto& info = def_.tensors.at(name);
    TensorSpec spec = dense(info.type, shape(name)).spec();
    const bool truth = info.type == DType::Bool;
    const HostTensor values = random_integers(spec,
                                              truth                                                    ? 0
                                              : is_integer(info.type) && !is_signed_integer(info.type) ? 0
                                                                                                       : -4,
                                              truth ? 2 : 5, random_);
    plain.emplace(name, values);
    const auto stored = layouts_.stored_in.find(name);
    const std::string& host = stored == layouts_.stored_in.end() ? name : stored->second;
    const auto map = laid_out_.maps.find(name);
    if (map == laid_out_.maps.end()) {
      physical.emplace(name, values);
      return;
    }
    if (!physical.count(host)) physical.emplace(host, holes(info.type, map->second));
    put(values, map->second, physical.at(host));
  }

  static HostTensor holes(DType type, const layout::LayoutMap& map) {
    HostTensor result = dense(type, map.physical());
    for (std::int64_t i = 0; i < elements(map.physical()); ++i) result.set(i, hole_value(type, map.fill()));
    return result;
  }
  static void put(const HostTensor& values, const layout::LayoutMap& map, HostTensor& into) {
    for_each_place(map, [&](std::int64_t element, std::int64_t place) { into.set(place, values.at(element)); });
  }

  std::vector<std::int64_t> shape(const std::string& name) const {
    std::vector<std::int64_t> result;
    for (const auto& range : evaluate_box(ranges_.tensors.at(name), sizes_)) result.push_back(range.extent);
    return result;
  }

  static void execute(const Def& def, const Ranges& ranges, const SizeMap& sizes, Tensors& tensors) {
    std::map<std::string, TensorView> views;
    for (auto& [name, tensor] : tensors) views.emplace(name, tensor.view());
    interpret(def, ranges, sizes, views);
  }

  std::string compare(const std::string& name, const HostTensor& want, const HostTensor& got) const {
    const auto map = laid_out_.maps.find(name);
    if (map == laid_out_.maps.end()) {
      const auto text = difference(got, want, 0);
      return text ? str(name, ": ", *text) : "";
    }
    std::string text;
    std::vector<char> holds(static_cast<std::size_t>(elements(map->second.physical())), 0);
    for_each_place(map->second, [&](std::int64_t element, std::int64_t place) {
      holds[static_cast<std::size_t>(place)] = 1;
      const bool both_nan = std::isnan(got.at(place)) && std::isnan(want.at(element));
      if (text.empty() && !both_nan && got.at(place) != want.at(element))
        text = str(name, ": element ", element, " at place ", place, " is ", got.at(place), ", not ", want.at(element));
    });
    for (std::size_t place = 0; place < holds.size() && map->second.fill() == layout::Fill::Zero; ++place)
      if (text.empty() && !holds[place] && got.at(static_cast<std::int64_t>(place)) != 0)
        text = str(name, ": the hole ", place, " is ", got.at(static_cast<std::int64_t>(place)));
    return text;
  }

  const Def& def_;
  const Ranges& ranges_;
  const SizeMap& sizes_;
  layout::LaidOutDef laid_out_;
  const layout::Layouts& layouts_;
  std::mt19937_64 random_;
};

}  // namespace

std::vector<std::vector<std::int64_t>> places_of(const layout::LayoutMap& map, const std::vector<std::int64_t>& index) {
  std::vector<Place> places{index};
  layout::Extents extents = map.logical();
  for (const auto& primitive : map.layout().primitives()) {
    std::vector<Place> next;
    for (const auto& place : places)
      for (auto& behind : std::visit(PlacesBehind(place, extents), primitive)) next.push_back(std::move(behind));
    places = std::move(next);
    extents = layout::extents_behind(primitive, extents);
  }
  return places;
}

HostTensor placed(const HostTensor& tensor, const layout::LayoutMap& map) {
  HostTensor result = dense(tensor.spec().dtype, map.physical());
  for (std::int64_t i = 0; i < elements(map.physical()); ++i)
    result.set(i, hole_value(tensor.spec().dtype, map.fill()));
  for_each_place(map, [&](std::int64_t element, std::int64_t place) { result.set(place, tensor.at(element)); });
  return result;
}

std::string compare_layouts(const SizedDef& def, const layout::Layouts& layouts, std::uint64_t seed) {
  return TwoRuns(def, layouts, seed).run();
}

}  // namespace tc::test
