#include "tc/proof/text_program.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"
#include "tc/proof/affine.h"
#include "tc/proof/verdict.h"

namespace tc::proof {
namespace {

using Kind = TextStatement::Kind;
using lang::ExprPtr;
using Names = std::vector<std::string>;

bool is_empty(const lang::Box& box) {
  return std::any_of(box.begin(), box.end(), [](const lang::IntegerRange& range) { return range.extent <= 0; });
}

/// Collects the accesses of an expression with the conditions around them.
class Reads {
 public:
  Reads(const AffineReader& reader, const isl::set& domain) : reader_(reader), where_(domain) {}

  std::vector<TextAccess> found;

  void visit(const ExprPtr& expr) {
    if (const auto* node = std::get_if<lang::Select>(&expr->node))
      return choose(node->condition, node->then_value, node->else_value);
    if (const auto* node = std::get_if<lang::Call>(&expr->node); node && node->function == "select")
      return choose(node->arguments.at(0), node->arguments.at(1), node->arguments.at(2));
    if (const auto* node = std::get_if<lang::Binary>(&expr->node);
        node && (node->op == lang::BinaryOp::And || node->op == lang::BinaryOp::Or)) {
      visit(node->left);
      return visit_where(node->right, node->left, node->op == lang::BinaryOp::And);
    }
    for (const auto& child : lang::children(expr)) visit(child);
    if (const auto* node = std::get_if<lang::Access>(&expr->node)) add(*node);
  }

 private:
  void choose(const ExprPtr& condition, const ExprPtr& a, const ExprPtr& b) {
    visit(condition);
    visit_where(a, condition, true);
    visit_where(b, condition, false);
  }

  void visit_where(const ExprPtr& expr, const ExprPtr& condition, bool holds) {
    const auto outer = where_;
    const bool outer_is_exact = exact_;
    where_ = outer.intersect(reader_.where(condition, holds));
    exact_ = outer_is_exact && where_.is_disjoint(reader_.where(condition, !holds));
    visit(expr);
    where_ = outer;
    exact_ = outer_is_exact;
  }

  void add(const lang::Access& access) {
    auto element =
        isl::pw_multi_aff(where_.space()
                              .add_named_tuple(access.tensor, static_cast<unsigned>(access.subscripts.size()))
                              .zero_multi_aff());
    for (std::size_t d = 0; d < access.subscripts.size(); ++d) {
      const auto index = reader_.value(access.subscripts[d]);
      if (!index)
        throw Undecided("text", str("subscript ", d, " of '", access.tensor, "', '", lang::print(access.subscripts[d]),
                                    "', is no affine function of the iterators"));
      element =
          call(element.ctx(), isl_pw_multi_aff_set_pw_aff, element.copy(), static_cast<unsigned>(d), index->copy());
    }
    found.push_back({access.tensor, element.as_map(), where_, exact_});
  }

  const AffineReader& reader_;
  isl::set where_;
  bool exact_ = true;
};

/// One assignment with the ranges of its iterators.
struct Assigned {
  const lang::Assignment& assignment;
  Names left, all;
  const std::map<std::string, lang::IntegerRange>& ranges;

  lang::Box box(const Names& names) const {
    lang::Box result;
    for (const auto& name : names) {
      auto found = ranges.find(name);
      if (found == ranges.end())
        throw Refusal("ranges", "",
                      str("the evidence has no range of the iterator '", name, "' of the statement that writes '",
                          assignment.target, "'"));
      if (found->second.extent > (std::int64_t{1} << 31))
        throw Undecided("text", str("the iterator '", name, "' has more than 2^31 values"));
      result.push_back(found->second);
    }
    return result;
  }
};

class TextReader {
 public:
  TextReader(isl::ctx ctx, const lang::Def& def, const lang::SizeMap& sizes, const GivenRanges& ranges)
      : ctx_(ctx), def_(def), sizes_(sizes), ranges_(ranges) {}

  TextProgram run() {
    for (const auto& [name, info] : def_.tensors) {
      auto box = ranges_.boxes.find(name);
      if (box == ranges_.boxes.end())
        throw Refusal("ranges", "", str("the evidence has no box of the tensor '", name, "'"));
      program_.tensors[name] = {info.type, box->second, info.role};
      boxes_[name] = box->second;
    }
    if (ranges_.assignments.size() != def_.statements.size())
      throw Refusal("ranges", "",
                    str("the text has ", def_.statements.size(), " statements, and the evidence ranges of ",
                        ranges_.assignments.size()));
    for (std::size_t i = 0; i < def_.statements.size(); ++i) read(i);
    return std::move(program_);
  }

 private:
  void read(std::size_t index) {
    const auto& statement = def_.statements[index];
    const auto* assignment = std::get_if<lang::Assignment>(&statement.node);
    if (!assignment) throw Undecided("text", "the def calls another one");
    Assigned assigned{*assignment, lang::left_iterators(*assignment), {}, ranges_.assignments[index]};
    assigned.all = assigned.left;
    assigned.all.insert(assigned.all.end(), assignment->reduction_iterators.begin(),
                        assignment->reduction_iterators.end());
    if (assigned.left.size() != assignment->subscripts.size())
      throw Undecided("text", str("a subscript of '", assignment->target, "' on the left is no iterator"));
    loops_.clear();
    for (const auto& loop : statement.loops) {
      const auto at = std::find(assigned.left.begin(), assigned.left.end(), loop.iterator);
      if (at == assigned.left.end())
        throw Undecided("text", str("'", loop.iterator, "' is no index of '", assignment->target, "'"));
      loops_.push_back({loop.id, static_cast<int>(at - assigned.left.begin())});
    }
    if (is_empty(assigned.box(assigned.left))) return;
    const bool runs = !is_empty(assigned.box(assigned.all));
    const std::string copy = runs && loops_.empty() ? copied_target(assigned) : "";
    if (!assignment->reduction) return add(Kind::Assign, assignment->target, assigned, assigned.all, copy);
    if (accumulates_apart(assigned)) return read_apart(assigned, runs, copy);
    if (assignment->initialise) add(Kind::Initialise, assignment->target, assigned, assigned.left, "");
    if (runs) add(Kind::Update, assignment->target, assigned, assigned.all, copy);
  }

  /// A sum in a temporary of the accumulator's type, stored once.
  void read_apart(const Assigned& assigned, bool runs, const std::string& copy) {
    const auto& target = assigned.assignment.target;
    const auto accumulator =
        temporary(target + "_acc", accumulator_type(program_.tensors.at(target).type), assigned.box(assigned.left));
    if (!assigned.assignment.initialise) move(assigned, target, accumulator);
    if (assigned.assignment.initialise) add(Kind::Initialise, accumulator, assigned, assigned.left, "");
    if (runs) add(Kind::Update, accumulator, assigned, assigned.all, copy);
    move(assigned, accumulator, target);
  }

  bool accumulates_apart(const Assigned& assigned) const {
    const auto op = assigned.assignment.reduction;
    return (op == ReductionOp::Sum || op == ReductionOp::Product) && !assigned.assignment.reduction_iterators.empty() &&
           is_half(program_.tensors.at(assigned.assignment.target).type);
  }

  /// Is \p access the element that \p assigned writes?
  static bool is_own(const lang::Access& access, const Assigned& assigned) {
    if (assigned.assignment.reduction || access.subscripts.size() != assigned.left.size()) return false;
    for (std::size_t d = 0; d < assigned.left.size(); ++d) {
      const auto* name = std::get_if<lang::Name>(&access.subscripts[d]->node);
      if (!name || name->id != assigned.left[d]) return false;
    }
    return true;
  }

  /// The copy of its target that \p assigned reads, made here; "" where it reads none but its own element.
  std::string copied_target(const Assigned& assigned) {
    const auto& target = assigned.assignment.target;
    bool spoiled = false;
    lang::for_each_expr(assigned.assignment.rhs, [&](const ExprPtr& expr) {
      const auto* access = std::get_if<lang::Access>(&expr->node);
      spoiled = spoiled || (access && access->tensor == target && !is_own(*access, assigned));
    });
    if (!spoiled) return "";
    const auto original = program_.tensors.at(target);
    const auto copy = temporary(target + "_old", original.type, original.box);
    TextStatement statement = named(Kind::Assign);
    statement.domain = box_set(ctx_, statement.id, original.box);
    statement.write = same_indices(statement.domain, copy);
    statement.reads = {{target, same_indices(statement.domain, target), statement.domain, true}};
    program_.statements.push_back(statement);
    return copy;
  }

  /// to(left) = from(left)
  void move(const Assigned& assigned, const std::string& from, const std::string& to) {
    TextStatement statement = named(Kind::Assign);
    statement.domain = box_set(ctx_, statement.id, assigned.box(assigned.left));
    statement.write = same_indices(statement.domain, to);
    statement.reads = {{from, same_indices(statement.domain, from), statement.domain, true}};
    program_.statements.push_back(statement);
  }

  /// One statement over \p iterators. Reads of its target, but of its own element, go to \p copy.
  void add(Kind kind, const std::string& target, const Assigned& assigned, const Names& iterators,
           const std::string& copy) {
    TextStatement statement = named(kind);
    statement.op = assigned.assignment.reduction.value_or(ReductionOp::Sum);
    statement.domain = box_set(ctx_, statement.id, assigned.box(iterators));
    auto all = call(ctx_, isl_set_universe, statement.domain.space().release());
    auto write = same_indices(all, target);
    const auto extra = static_cast<unsigned>(iterators.size() - assigned.left.size());
    if (extra > 0) {
      auto prefix = call(ctx_, isl_map_project_out, write.copy(), isl_dim_out,
                         static_cast<unsigned>(assigned.left.size()), extra);
      write = prefix.set_range_tuple(target);
    }
    statement.write = write.intersect_domain(statement.domain);
    if (kind != Kind::Initialise) {
      const AffineReader reader(statement.domain, iterators, sizes_, boxes_);
      Reads reads(reader, statement.domain);
      reads.visit(copy.empty() ? assigned.assignment.rhs : redirected(assigned.assignment.rhs, assigned, copy));
      statement.reads = std::move(reads.found);
      for (auto& read : statement.reads) read.element = read.element.intersect_domain(statement.domain);
      statement.has_integer_values = computes_integers(assigned.assignment.rhs);
    }
    program_.statements.push_back(std::move(statement));
  }

  static ExprPtr redirected(const ExprPtr& expr, const Assigned& assigned, const std::string& copy) {
    auto parts = lang::children(expr);
    for (auto& part : parts) part = redirected(part, assigned, copy);
    const auto* access = std::get_if<lang::Access>(&expr->node);
    if (access && access->tensor == assigned.assignment.target && !is_own(*access, assigned))
      return lang::make_expr(lang::Access{copy, parts, access->bare}, expr->range, expr->type);
    return lang::with_children(expr, parts);
  }

  /// Does \p expr compute integers of elements?
  static bool computes_integers(const ExprPtr& expr) {
    bool result = false;
    lang::for_each_expr(expr, [&](const ExprPtr& each) {
      const bool operation =
          std::holds_alternative<lang::Binary>(each->node) || std::holds_alternative<lang::Call>(each->node) ||
          std::holds_alternative<lang::Unary>(each->node) || std::holds_alternative<lang::Cast>(each->node);
      if (!operation || !each->type || !is_integer(*each->type)) return;
      lang::for_each_expr(
          each, [&](const ExprPtr& part) { result = result || std::holds_alternative<lang::Access>(part->node); });
    });
    return result;
  }

  TextStatement named(Kind kind) const {
    TextStatement statement;
    statement.id = str("S", program_.statements.size());
    statement.kind = kind;
    statement.loops = loops_;
    return statement;
  }

  /// { S[i] -> T[i] }
  static isl::map same_indices(const isl::set& domain, const std::string& tensor) {
    return domain.space().identity_multi_aff_on_domain().as_map().set_range_tuple(tensor).intersect_domain(domain);
  }

  /// The prime ends no name of a text.
  std::string temporary(const std::string& stem, DType type, lang::Box box) {
    const int count = temporaries_[stem]++;
    const auto name = count == 0 ? stem + "'" : str(stem, count, "'");
    boxes_[name] = box;
    program_.tensors[name] = {type, std::move(box), lang::Role::Temporary};
    return name;
  }

  isl::ctx ctx_;
  const lang::Def& def_;
  const lang::SizeMap& sizes_;
  const GivenRanges& ranges_;
  TextProgram program_;
  std::vector<TextLoop> loops_;  ///< around the assignment at hand
  std::map<std::string, lang::Box> boxes_;
  std::map<std::string, int> temporaries_;
};

}  // namespace

std::size_t common_loops(const TextStatement& a, const TextStatement& b) {
  std::size_t count = 0;
  while (count < a.loops.size() && count < b.loops.size() && a.loops[count].id == b.loops[count].id) ++count;
  return count;
}

isl::set box_set(isl::ctx ctx, const std::string& tuple, const lang::Box& box) {
  Names dimensions, bounds;
  for (std::size_t d = 0; d < box.size(); ++d) {
    dimensions.push_back(str("d", d));
    bounds.push_back(str(box[d].min, " <= d", d, " < ", box[d].min + box[d].extent));
  }
  return isl::set(
      ctx, str("{ ", tuple, "[", join(dimensions), "]", bounds.empty() ? "" : " : ", join(bounds, " and "), " }"));
}

int TextProgram::find(const std::string& id) const {
  for (std::size_t i = 0; i < statements.size(); ++i)
    if (statements[i].id == id) return static_cast<int>(i);
  return -1;
}

TextProgram read_text(isl::ctx ctx, const lang::Def& def, const lang::SizeMap& sizes, const GivenRanges& ranges) {
  return TextReader(ctx, def, sizes, ranges).run();
}

}  // namespace tc::proof
