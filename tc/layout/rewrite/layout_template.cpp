#include "tc/layout/rewrite/layout_template.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::layout {

using namespace lang;

namespace {

using Part = TemplateDimension::Part;

/// A subscript as the rule sees it.
struct Subscript {
  std::string alone;  ///< the iterator that it is; empty for others
  std::string along;  ///< of a window, the iterator of the result
  std::int64_t step = 1, window = 1;
  std::set<std::string> iterators;  ///< all in it
};

/// A tensor that the statement writes or reads once.
struct Operand {
  std::string name;
  std::vector<Subscript> subscripts;
  bool has_window = false;  ///< iterators of the result and reduced ones stand in one subscript
};

class TemplateRule {
 public:
  TemplateRule(const InlinedDef& function, const SizeMap& sizes) : function_(function), sizes_(sizes) {
    for (const auto& [name, value] : sizes) numbers_.emplace(name, Index(value));
    std::size_t most = 0;
    for (std::size_t s = 0; s < function.def.statements.size(); ++s) {
      const auto& statement = std::get<Assignment>(function.def.statements[s].node);
      const auto count = left_iterators(statement).size() + statement.reduction_iterators.size();
      if (statement.reduction_iterators.empty() || count <= most) continue;
      most = count;
      statement_ = &statement;
      number_ = s;
    }
  }

  LayoutTemplate run() {
    if (!statement_) return {};
    for (const auto& [name, range] : function_.ranges.statements.at(number_))
      ranges_[name] = {evaluate_size(range.min, sizes_), evaluate_size(range.extent, sizes_)};
    left_ = left_iterators(*statement_);
    read_operands();
    for (const auto& name : left_)
      if (!is_batch(name)) add_tunable(name, name);
    for (const auto& name : statement_->reduction_iterators)
      if (!is_in_window(name)) add_tunable(name, name);
    for (const auto& operand : operands_)
      if (is_weights(operand))
        for (const auto& subscript : operand.subscripts)
          if (tunables_.count(subscript.alone)) add_tunable(str(operand.name, ".", subscript.alone), subscript.alone);
    for (const auto& operand : operands_) place(operand);
    drop_unused();
    return std::move(result_);
  }

 private:
  void read_operands() {
    std::map<std::string, std::vector<const Access*>> reads;
    std::vector<std::string> order;
    for_each_expr(statement_->rhs, [&](const ExprPtr& expr) {
      if (const auto* access = std::get_if<Access>(&expr->node)) {
        if (!reads.count(access->tensor)) order.push_back(access->tensor);
        reads[access->tensor].push_back(access);
      }
    });
    Operand target{statement_->target, {}, false};
    for (std::size_t d = 0; d < left_.size(); ++d) target.subscripts.push_back(alone(left_[d], target.name, d));
    operands_.push_back(target);
    for (const auto& name : order)
      if (name != target.name && reads[name].size() == 1) read_operand(*reads[name].front());
    has_windows_ = std::any_of(operands_.begin(), operands_.end(), [](const auto& one) { return one.has_window; });
  }

  /// The iterator \p name, if it runs through dimension \p d of \p tensor, whole.
  Subscript alone(const std::string& name, const std::string& tensor, std::size_t d) const {
    Subscript result;
    result.iterators = {name};
    if (evaluate_box(function_.ranges.tensors.at(tensor), sizes_).at(d) == ranges_.at(name) &&
        ranges_.at(name).min == 0)
      result.alone = name;
    return result;
  }

  void read_operand(const Access& access) {
    Operand operand{access.tensor, {}, false};
    for (std::size_t d = 0; d < access.subscripts.size(); ++d) {
      operand.subscripts.push_back(read_subscript(access.subscripts[d], access.tensor, d));
      bool has_left = false, has_reduced = false;
      for (const auto& name : operand.subscripts.back().iterators)
        (contains(left_, name) ? has_left : has_reduced) = true;
      operand.has_window = operand.has_window || (has_left && has_reduced);
    }
    operands_.push_back(std::move(operand));
  }

  Subscript read_subscript(const ExprPtr& expr, const std::string& tensor, std::size_t d) const {
    const auto* name = std::get_if<Name>(&expr->node);
    if (name && name->kind == Name::Kind::Iterator) return alone(name->id, tensor, d);
    Subscript result;
    for_each_expr(expr, [&](const ExprPtr& part) {
      const auto* inner = std::get_if<Name>(&part->node);
      if (inner && inner->kind == Name::Kind::Iterator) result.iterators.insert(inner->id);
    });
    bool is_linear = true;
    const Index index =
        read_index(expr, {numbers_, ranges_, [&](const ExprPtr& other) { return is_linear = false, other; }});
    if (!is_linear || index.constant != 0) return result;
    std::string along;
    std::int64_t step = 1, window = 1;
    for (const auto& term : index.terms) {
      const auto* iterator = std::get_if<Name>(&term.part->node);
      if (!iterator || term.coefficient <= 0 || ranges_.at(iterator->id).min != 0) return result;
      if (contains(left_, iterator->id)) {
        if (!along.empty()) return result;
        along = iterator->id;
        step = term.coefficient;
      } else {
        window += term.coefficient * (ranges_.at(iterator->id).extent - 1);
      }
    }
    result.along = along, result.step = step, result.window = window;
    return result;
  }

  bool is_weights(const Operand& operand) const {
    return has_windows_ && !operand.has_window && operand.name != statement_->target;
  }
  /// Do windows run along \p name, or over it?
  bool is_in_window(const std::string& name) const {
    for (const auto& operand : operands_)
      for (const auto& subscript : operand.subscripts)
        if (subscript.alone.empty() && subscript.iterators.count(name)) return true;
    return false;
  }
  bool is_batch(const std::string& name) const {
    if (!has_windows_ || is_in_window(name)) return false;
    return std::none_of(operands_.begin(), operands_.end(), [&](const Operand& operand) {
      return is_weights(operand) && std::any_of(operand.subscripts.begin(), operand.subscripts.end(),
                                                [&](const Subscript& one) { return one.alone == name; });
    });
  }
  /// Is \p name an iterator that lanes run along: a channel of the result, or the last one?
  bool is_channel(const std::string& name) const {
    if (!contains(left_, name) || is_in_window(name)) return false;
    return has_windows_ || name == left_.back();
  }

  void add_tunable(const std::string& name, const std::string& iterator) {
    if (ranges_.at(iterator).extent < 2) return;
    tunables_[name] = result_.tunables.size();
    result_.tunables.push_back({name, {}, ranges_.at(iterator).extent});
  }

  void place(const Operand& operand) {
    TemplateTensor tensor{operand.name, {}};
    for (std::size_t d = 0; d < operand.subscripts.size(); ++d) {
      const auto& subscript = operand.subscripts[d];
      TemplateDimension dim;
      const auto& iterator = subscript.alone.empty() ? subscript.along : subscript.alone;
      const auto name = is_weights(operand) ? str(operand.name, ".", iterator) : iterator;
      const auto found = iterator.empty() ? tunables_.end() : tunables_.find(name);
      if (found != tunables_.end()) {
        dim = {subscript.alone.empty() ? Part::Window : Part::Tiled,
               found->second,
               subscript.step,
               subscript.window,
               0,
               0};
        result_.tunables[found->second].places.emplace_back(operand.name, d);
      }
      const bool channel = is_channel(iterator), summed = !iterator.empty() && !contains(left_, iterator);
      dim.outer_rank = iterator.empty() ? 3 : is_batch(iterator) ? 0 : channel || summed ? 2 : 1;
      if (!has_windows_) dim.outer_rank = 0;
      dim.inner_rank = channel ? 2 : summed ? 1 : 0;
      tensor.dims.push_back(dim);
    }
    result_.tensors.push_back(std::move(tensor));
  }

  /// Leaves out tunables that no dimension has.
  void drop_unused() {
    std::vector<std::size_t> numbers;
    std::vector<TileTunable> used;
    for (auto& tunable : result_.tunables) {
      numbers.push_back(used.size());
      if (!tunable.places.empty()) used.push_back(std::move(tunable));
    }
    result_.tunables = std::move(used);
    for (auto& tensor : result_.tensors)
      for (auto& dim : tensor.dims) dim.tunable = dim.part == Part::Kept ? 0 : numbers[dim.tunable];
  }

  const InlinedDef& function_;
  const SizeMap& sizes_;
  const Assignment* statement_ = nullptr;
  std::size_t number_ = 0;
  std::map<std::string, Index> numbers_;  ///< what sizes are
  IteratorRanges ranges_;
  std::vector<std::string> left_;
  std::vector<Operand> operands_;
  bool has_windows_ = false;
  std::map<std::string, std::size_t> tunables_;
  LayoutTemplate result_;
};

/// Where a physical dimension stands: those of an outer level before those of inner ones, then by their rank.
struct Place {
  enum class Level { Outer, Middle, Inner } level = Level::Outer;
  int rank = 0;
};

Layout layout_of(const TemplateTensor& tensor, const std::vector<TileTunable>& tunables,
                 const std::vector<std::int64_t>& tiles, const std::vector<std::int64_t>& counts) {
  Layout result;
  std::vector<Place> places;
  for (const auto& dim : tensor.dims) {
    const auto at = places.size();
    const Place outer{Place::Level::Outer, dim.outer_rank}, middle{Place::Level::Middle, dim.inner_rank},
        inner{Place::Level::Inner, dim.inner_rank};
    const std::int64_t tile = dim.part == Part::Kept ? 1 : tiles[dim.tunable];
    const std::int64_t count = dim.part == Part::Kept ? 1 : counts[dim.tunable];
    const std::int64_t extent = dim.part == Part::Kept ? 1 : tunables[dim.tunable].extent;
    const bool whole = dim.part != Part::Kept && tile * count >= extent;
    if (dim.part == Part::Window && !whole) {
      const auto size = tile * count;
      result = result.unfold(at, dim.step * (size - 1) + dim.window, dim.step * size);
      places.insert(places.end(), {outer, inner});
    } else if (dim.part == Part::Tiled && tile > 1 && tile < extent && count > 1) {
      result = whole ? result.split(at, {tile}) : result.split(at, {count, tile});
      if (!whole) places.push_back(outer);
      places.insert(places.end(), {middle, inner});
    } else if (dim.part == Part::Tiled && !whole && tile * count > 1) {
      result = result.split(at, {tile * count});
      places.insert(places.end(), {outer, inner});
    } else {
      places.push_back(whole ? inner : outer);
    }
  }
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(places[a].level, places[a].rank) < std::pair(places[b].level, places[b].rank);
  });
  return std::is_sorted(order.begin(), order.end()) ? result : result.reorder(order);
}

}  // namespace

Layouts LayoutTemplate::layouts(const std::vector<std::int64_t>& tiles, const std::vector<std::int64_t>& counts) const {
  const auto each = counts.empty() ? std::vector<std::int64_t>(tunables.size(), 1) : counts;
  if (tiles.size() != tunables.size() || each.size() != tunables.size())
    throw OptionsError(str("a template of ", tunables.size(), " tile sizes is given ", tiles.size(), " and ",
                           each.size(), " numbers of tiles"));
  for (std::size_t t = 0; t < tiles.size(); ++t)
    if (tiles[t] < 1 || tiles[t] > tunables[t].extent)
      throw OptionsError(
          str("the tile size ", tunables[t].name, " is ", tiles[t], ", it must be in 1 to ", tunables[t].extent));
  for (std::size_t t = 0; t < tiles.size(); ++t)
    if (each[t] < 1 || each[t] > tunables[t].extent)
      throw OptionsError(str("the outer tile of ", tunables[t].name, " has ", each[t], " tiles, it must have 1 to ",
                             tunables[t].extent));
  Layouts result;
  for (const auto& tensor : tensors) {
    auto layout = layout_of(tensor, tunables, tiles, each);
    if (!layout.is_identity()) result.of[tensor.name] = std::move(layout);
  }
  return result;
}

LayoutTemplate layout_template(const InlinedDef& function, const SizeMap& sizes) {
  check_preconditions(function.ranges, sizes);
  return TemplateRule(function, sizes).run();
}

}  // namespace tc::layout
