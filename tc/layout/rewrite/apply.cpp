#include "tc/layout/rewrite/apply.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/check/free_names.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/substitute.h"
#include "tc/layout/rewrite/rewrite_statement.h"

namespace tc::layout {

using namespace lang;

namespace {

ExprPtr size_value(std::int64_t value) { return make_expr(Cast{DType::Int64, literal(value), false}); }

std::vector<ExprPtr> literals(const Extents& extents) {
  std::vector<ExprPtr> result;
  for (const auto extent : extents) result.push_back(literal(extent));
  return result;
}

Extents extents_of(const Box& box) {
  Extents result;
  for (const auto& range : box) result.push_back(range.extent);
  return result;
}

class LayoutApplication {
 public:
  LayoutApplication(const InlinedDef& function, const SizeMap& sizes, const Layouts& layouts, Proofs proofs)
      : old_(function.def), old_ranges_(function.ranges), sizes_(sizes), layouts_(layouts), proofs_(proofs) {}

  LaidOutDef run() {
    if (has_loops(old_)) throw OptionsError(str("'", old_.name, "' holds a loop: its tensors keep their layouts"));
    check_preconditions(old_ranges_, sizes_);
    place_tensors();
    check_written();
    Def def = head();
    std::vector<Reindexing> reindexings;
    std::set<std::string> taken;
    for (const auto& [name, info] : old_.tensors) taken.insert(name);
    for (std::size_t s = 0; s < old_.statements.size(); ++s) {
      const SizedStatement statement = sized(s);
      reindexings.push_back(reindex(statement, tensors_, taken));
      def.statements.push_back(rewrite_statement(statement, reindexings.back(), tensors_));
    }
    const std::string text = print(def);
    const File parsed = parse(text, old_.name);
    for (std::size_t s = 0; proofs_ == Proofs::Each && s < old_.statements.size(); ++s)
      result_.proofs.push_back(
          certify({sized(s), reindexings[s], std::get<Assignment>(parsed.defs.front().statements[s].node), tensors_}));
    understand(parsed);
    return std::move(result_);
  }

 private:
  void place_tensors();
  void check_written() const;
  void check_host(const std::string& guest, const std::string& host) const;
  Def head() const;
  SizedStatement sized(std::size_t s) const;
  void understand(const File& parsed);

  const Def& old_;
  const Ranges& old_ranges_;
  const SizeMap& sizes_;
  const Layouts& layouts_;
  const Proofs proofs_;
  PlacedTensors tensors_;
  LaidOutDef result_;
};

void LayoutApplication::place_tensors() {
  for (const auto& [name, box] : old_ranges_.tensors)
    tensors_[name] = {old_.tensors.at(name).type, evaluate_box(box, sizes_), nullptr, name};
  for (const auto& [name, layout] : layouts_.of) {
    const auto tensor = tensors_.find(name);
    if (tensor == tensors_.end())
      throw OptionsError(str("a layout is given for '", name, "', but '", old_.name, "' has no tensor of this name"));
    try {
      const auto [map, added] = result_.maps.emplace(name, LayoutMap(layout, extents_of(tensor->second.box)));
      if (!layout.is_identity()) tensor->second.map = &map->second;
    } catch (const OptionsError& error) {
      throw OptionsError(str("'", name, "' of '", old_.name, "': ", error.what()));
    }
  }
  for (const auto& [guest, host] : layouts_.stored_in) {
    check_host(guest, host);
    tensors_.at(guest).stored_as = host;
  }
}

void LayoutApplication::check_host(const std::string& guest, const std::string& host) const {
  for (const auto& name : {guest, host}) {
    const auto info = old_.tensors.find(name);
    if (info == old_.tensors.end() || info->second.role != Role::Input || !result_.maps.count(name))
      throw OptionsError(str("'", guest, "' is to be stored in '", host,
                             "': both must be parameters with a layout, but '", name, "' is not"));
  }
  if (result_.maps.at(guest).physical() != result_.maps.at(host).physical() ||
      old_.tensors.at(guest).type != old_.tensors.at(host).type)
    throw OptionsError(str("'", guest, "' is to be stored in '", host, "', but their layouts give tensors of extents (",
                           join(result_.maps.at(guest).physical()), ") and (", join(result_.maps.at(host).physical()),
                           "), or their types differ"));
}

/// A tensor that statements write has a place for each element, and one element at most in each place.
void LayoutApplication::check_written() const {
  for (const auto& [name, placed] : tensors_) {
    if (!placed.map || old_.tensors.at(name).role == Role::Input) continue;
    const Facts facts = placed.map->facts();
    const std::string which =
        str("'", name, "' is written, but in the layout '", to_string(placed.map->layout()), "' ");
    if (!facts.injective) throw OptionsError(which + "elements share places");
    if (!facts.total) throw OptionsError(which + "some elements have no place");
  }
}

Def LayoutApplication::head() const {
  Def def;
  def.name = old_.name;
  const auto decl = [&](const TensorDecl& old) {
    const auto& placed = tensors_.at(old.name);
    TensorDecl result;
    result.name = old.name;
    result.type = old_.tensors.at(old.name).type;
    bool from_zero = true;
    for (const auto& range : placed.box) from_zero = from_zero && range.min == 0;
    if (placed.map || from_zero) result.dims = literals(placed.map ? placed.map->physical() : extents_of(placed.box));
    if (result.dims && result.dims->empty()) result.dims.reset();
    return result;
  };
  for (const auto& param : old_.params)
    if (tensors_.at(param.name).stored_as == param.name) def.params.push_back(decl(param));
  for (const auto& ret : old_.returns) def.returns.push_back(decl(ret));
  return def;
}

/// Statement \p s with numbers for sizes.
SizedStatement LayoutApplication::sized(std::size_t s) const {
  Substitution numbers;
  for (const auto& [name, value] : sizes_) numbers.values[name] = size_value(value);
  numbers.size_of = [this](const std::string& tensor, int d) {
    return size_value(tensors_.at(tensor).box.at(static_cast<std::size_t>(d)).extent);
  };
  const auto& old = std::get<Assignment>(old_.statements[s].node);
  SizedStatement result{substitute(old, numbers), {}};
  result.assignment.reduction_iterators = old.reduction_iterators;
  for (const auto& [name, range] : old_ranges_.statements.at(s))
    result.ranges[name] = {evaluate_size(range.min, sizes_), evaluate_size(range.extent, sizes_)};
  return result;
}

void LayoutApplication::understand(const File& parsed) {
  try {
    result_.file = check(parsed);
    result_.ranges = halide_bridge::infer_ranges(result_.def(), result_.file.text, result_.file.name);
  } catch (const Error& error) {
    throw InternalError(str("a def in new layouts is no program: ", error.what(), "\n", parsed.text));
  }
  for (const auto& [name, placed] : tensors_) {
    if (placed.stored_as != name) continue;
    Box want = placed.box;
    if (placed.map) {
      want.clear();
      for (const auto extent : placed.map->physical()) want.push_back({0, extent});
    }
    if (evaluate_box(result_.ranges.tensors.at(name), {}) != want)
      throw InternalError(str("'", name, "' in its new layout has other extents\n", parsed.text));
  }
}

}  // namespace

LaidOutDef apply_layouts(const InlinedDef& function, const SizeMap& sizes, const Layouts& layouts, Proofs proofs) {
  return LayoutApplication(function, sizes, layouts, proofs).run();
}

LaidOutDef conversion(DType type, const Extents& extents, const Layout& from, const Layout& to) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < extents.size(); ++d)
    names.push_back(extents.size() == 4 ? std::string(1, "nchw"[d]) : str("i", d));
  const std::string element = extents.empty() ? "" : str("(", join(names), ")");
  const std::string shape = extents.empty() ? "" : str("(", join(extents), ")");
  File file = check(parse(str("def convert(", type, shape, " X) -> (Y) { Y", element, " = X", element, " }")));
  InlinedDef function{file.defs.front(), {}};
  function.ranges = halide_bridge::infer_ranges(function.def, file.text);
  return apply_layouts(function, {}, {{{"X", from}, {"Y", to}}, {}});
}

}  // namespace tc::layout
