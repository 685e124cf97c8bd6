#include "tc/proof/ranges.h"

#include <set>

#include "tc/base/str.h"
#include "tc/proof/verdict.h"

namespace tc::proof {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Refusal("ranges", "", why); }

class RangeCheck {
 public:
  RangeCheck(isl::ctx ctx, const lang::Def& def, const lang::SizeMap& sizes, const GivenRanges& ranges,
             const TextProgram& text)
      : ctx_(ctx), def_(def), sizes_(sizes), ranges_(ranges), text_(text) {}

  void run() {
    for (const auto& decl : def_.params) check_declared(decl, true);
    for (const auto& decl : def_.returns) check_declared(decl, false);
    check_inside();
    for (std::size_t i = 0; i < def_.statements.size(); ++i) check_assignment(i);
  }

 private:
  void check_declared(const lang::TensorDecl& decl, bool parameter) {
    const auto& box = ranges_.boxes.at(decl.name);
    const std::size_t rank = decl.dims ? decl.dims->size() : 0;
    if (!decl.dims && !parameter) return;
    if (box.size() != rank) refuse(str("the box of '", decl.name, "' has another rank than the text says"));
    for (std::size_t d = 0; d < rank; ++d) {
      if (box[d].extent != lang::evaluate_size((*decl.dims)[d], sizes_) || (parameter && box[d].min != 0))
        refuse(str("dimension ", d, " of '", decl.name, "' is not what the text says"));
    }
    fixed_.insert(decl.name);
  }

  void check_inside() const {
    for (const auto& statement : text_.statements) {
      require_inside(statement, statement.write, true);
      for (const auto& read : statement.reads)
        require_inside(statement, read.element.intersect_domain(read.where), read.exact);
    }
  }

  void require_inside(const TextStatement& statement, const isl::map& element, bool exact) const {
    if (element.is_empty()) return;
    const auto tensor = range_name(element);
    const auto outside = element.range().subtract(box_set(ctx_, tensor, text_.tensors.at(tensor).box));
    if (outside.is_empty()) return;
    const auto why = str("with these ranges, ", statement.id, " accesses an element outside of '", tensor,
                         "': ", isl::set(outside).lexmin());
    if (exact) refuse(why);
    throw Undecided("ranges", str(why, "; the condition around it depends on data"));
  }

  void check_assignment(std::size_t index) {
    const auto& assignment = std::get<lang::Assignment>(def_.statements[index].node);
    const auto& given = ranges_.assignments[index];
    const auto left = lang::left_iterators(assignment);
    const bool first = fixed_.insert(assignment.target).second;
    const auto& box = ranges_.boxes.at(assignment.target);
    for (std::size_t d = 0; d < left.size() && first; ++d)
      if (box.at(d).min != given.at(left[d]).min || box.at(d).extent != given.at(left[d]).extent)
        refuse(str("the first assignment of '", assignment.target, "' does not write its whole dimension ", d));
    std::set<std::string> stated;
    for (const auto& clause : assignment.clauses)
      if (const auto* range = std::get_if<lang::RangeClause>(&clause.node)) {
        const auto low = lang::evaluate_size(range->low, sizes_), high = lang::evaluate_size(range->high, sizes_);
        const auto& has = given.at(range->index);
        if (has.min != low || has.extent != high - low)
          refuse(str("the range of '", range->index, "' is not ", low, ":", high, ", as the text says"));
        stated.insert(range->index);
      }
    for (const auto& [iterator, range] : given)
      if (!stated.count(iterator)) check_largest(index, assignment, iterator, first);
  }

  /// Would one more value of \p iterator at either end leave a tensor?
  void check_largest(std::size_t index, const lang::Assignment& assignment, const std::string& iterator,
                     bool first) const {
    for (const bool below : {true, false}) {
      auto wider = ranges_;
      for (auto& [name, each] : wider.assignments[index])
        each.extent = std::max<std::int64_t>(each.extent, name != iterator);
      auto& range = wider.assignments[index].at(iterator);
      range.min -= below;
      range.extent += 1;
      if (leaves_tensors(wider, index, first)) continue;
      if (first && next_range_of(index, assignment, iterator) == ranges_.assignments[index].at(iterator)) continue;
      throw Undecided("ranges", str("the range of '", iterator, "', of the statement that writes '", assignment.target,
                                    "', could be larger by one ", below ? "below" : "above"));
    }
  }

  /// Does assignment number \p index access an element outside of a tensor, whatever conditions are around it? The box of a tensor that it
  /// assigns \p first follows from its ranges.
  bool leaves_tensors(const GivenRanges& wider, std::size_t index, bool first) const {
    lang::Def alone = def_;
    alone.statements = {def_.statements[index]};
    GivenRanges ranges{{wider.assignments[index]}, wider.boxes};
    const auto text = read_text(ctx_, alone, sizes_, ranges);
    const auto target = std::get<lang::Assignment>(def_.statements[index].node).target;
    for (const auto& statement : text.statements) {
      const auto leaves = [&](const isl::map& element) {
        const auto tensor = range_name(element);
        if (first && (tensor == target || tensor.rfind(target + "_acc", 0) == 0)) return false;
        return !element.range().is_subset(box_set(ctx_, tensor, text.tensors.at(tensor).box));
      };
      if (leaves(statement.write)) return true;
      for (const auto& read : statement.reads)
        if (leaves(read.element)) return true;
    }
    return false;
  }

  /// The range that the next assignment of the target gives to the index in the place of \p iterator.
  lang::IntegerRange next_range_of(std::size_t index, const lang::Assignment& assignment,
                                   const std::string& iterator) const {
    const auto left = lang::left_iterators(assignment);
    for (std::size_t i = index + 1; i < def_.statements.size(); ++i) {
      const auto& next = std::get<lang::Assignment>(def_.statements[i].node);
      if (next.target != assignment.target) continue;
      const auto names = lang::left_iterators(next);
      for (std::size_t d = 0; d < std::min(left.size(), names.size()); ++d)
        if (left[d] == iterator) return ranges_.assignments[i].at(names[d]);
    }
    return {};
  }

  isl::ctx ctx_;
  const lang::Def& def_;
  const lang::SizeMap& sizes_;
  const GivenRanges& ranges_;
  const TextProgram& text_;
  std::set<std::string> fixed_;  ///< tensors whose boxes are known before the statement at hand
};

}  // namespace

void check_ranges(isl::ctx ctx, const lang::Def& def, const lang::SizeMap& sizes, const GivenRanges& ranges,
                  const TextProgram& text) {
  RangeCheck(ctx, def, sizes, ranges, text).run();
}

}  // namespace tc::proof
