#include "tc/layout/rewrite/certify.h"

#include <algorithm>
#include <optional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"
#include "tc/layout/rewrite/isl_index.h"
#include "tc/layout/rewrite/same_value.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::layout {

using namespace lang;

namespace {

/// Some seconds; proofs of convolutions in tiles take a hundredth of it.
constexpr unsigned long operations_of_a_proof = 50'000'000;

/// Instances, and what they give to the place they write.
struct Branch {
  isl::set instances;
  ExprPtr value;
};

class Proof {
 public:
  explicit Proof(const RewrittenStatement& statement)
      : s_(statement),
        target_(s_.tensors.at(s_.before.assignment.target)),
        old_(names_of(s_.before.ranges), "o"),
        new_(new_names(s_.reindexing), "n") {}

  /// run() within the quota of isl.
  StatementProof proved();

 private:
  StatementProof run();
  static std::vector<std::string> names_of(const IteratorRanges& ranges) {
    std::vector<std::string> names;
    for (const auto& [name, range] : ranges) names.push_back(name);
    return names;
  }
  static std::vector<std::string> new_names(const Reindexing& reindexing) {
    auto names = reindexing.left;
    names.insert(names.end(), reindexing.reduced.begin(), reindexing.reduced.end());
    return names;
  }

  void need(bool holds, const std::string& what) const {
    if (!holds)
      throw InternalError(str("layouts: '", print(Statement{s_.after, {}}), "' is not '",
                              print(Statement{s_.before.assignment, {}}), "': ", what));
  }
  isl::set set(const std::string& text) const { return isl::set(owner_, text); }
  isl::map map(const std::string& text) const { return isl::map(owner_, text); }

  isl::map places_of(const PlacedTensor& tensor) const;
  isl::map origins() const;
  std::optional<isl::map> new_reads(const ExprPtr& access) const;
  void check_head() const;
  std::vector<ReadPair> take_apart();
  void check_instances();
  void check_rest_of_value();
  void check_branch(const Branch& branch) const;
  bool zero_factors(const ExprPtr& value, const isl::set& instances) const;
  void check_read(const ReadPair& read, StatementProof& proof) const;

  bool reduces_nothing() const;
  bool is_self(const ExprPtr& expr) const;
  bool is_neutral(const ExprPtr& expr) const;
  bool zero_holes() const { return target_.map && target_.map->fill() == Fill::Zero; }
  /// Those of \p instances that write to places of elements.
  isl::set to_elements(const isl::set& instances) const {
    return instances.intersect(writes_.intersect_range(element_places_).domain());
  }

  const RewrittenStatement& s_;
  const PlacedTensor& target_;
  polyhedral::Context owner_;
  IslIndex old_, new_;

  isl::map writes_;          ///< new instances -> places
  isl::map origins_;         ///< new instances -> old ones
  isl::set element_places_;  ///< that the target's elements have
  Branch value_;             ///< where the old value is computed
  std::vector<Branch> others_;
  isl::set proper_;  ///< those that stand for old instances
};

/// From the indices of a tensor to its places.
isl::map Proof::places_of(const PlacedTensor& tensor) const {
  std::vector<std::string> names, moved, box{"1 = 1"};
  for (std::size_t d = 0; d < tensor.box.size(); ++d) {
    names.push_back(str("i", d));
    moved.push_back(str("i", d, " - (", tensor.map ? tensor.box[d].min : 0, ")"));
    box.push_back(str(tensor.box[d].min, " <= i", d, " < ", tensor.box[d].min + tensor.box[d].extent));
  }
  const isl::map inside = map(str("{ [", join(names), "] -> [", join(moved), "] : ", join(box, " and "), " }"));
  return tensor.map ? inside.apply_range(map(tensor.map->relation())) : inside;
}

isl::map Proof::origins() const {
  std::vector<ExprPtr> values;
  for (const auto& [name, range] : s_.before.ranges) values.push_back(to_expr(s_.reindexing.values.at(name)));
  const auto tuple = new_.tuple_of(values);
  need(tuple.has_value(), "its iterators are decided by data");
  return map(str("{ ", new_.tuple(), " -> ", *tuple, " : ", new_.box(s_.reindexing.ranges), " }"));
}

void Proof::check_head() const {
  const auto& before = s_.before.assignment;
  need(s_.after.target == target_.stored_as && s_.after.reduction == before.reduction &&
           s_.after.initialise == before.initialise,
       "target or operator differ");
  need(left_iterators(s_.after) == s_.reindexing.left, "subscripts on the left differ");
  std::size_t ranges = 0;
  for (const auto& clause : s_.after.clauses) {
    const auto* range = std::get_if<RangeClause>(&clause.node);
    need(range, "it has a clause that is no range");
    const auto& want = s_.reindexing.ranges.at(range->index);
    need(print(range->low) == str(want.min) && print(range->high) == str(want.min + want.extent), "a range differs");
    ++ranges;
  }
  need(ranges == s_.reindexing.ranges.size(), "an iterator has no range");
}

/// Finds the old value within the conditions around it.
std::vector<ReadPair> Proof::take_apart() {
  std::map<std::string, std::string> names, tensors;
  for (const auto& [name, value] : s_.reindexing.values) names[name] = print(value_of(value));
  for (const auto& [name, tensor] : s_.tensors) tensors[name] = tensor.stored_as;
  value_ = {set(str("{ ", new_.tuple(), " : ", new_.box(s_.reindexing.ranges), " }")), s_.after.rhs};
  for (;;) {
    if (auto reads = same_value(s_.before.assignment.rhs, value_.value, names, tensors)) return std::move(*reads);
    const auto* choice = std::get_if<Select>(&value_.value->node);
    need(choice, "the values differ");
    const auto condition = new_.condition(choice->condition);
    need(condition.has_value(), "a condition is not affine");
    const isl::set holds = set(str("{ ", new_.tuple(), " : ", *condition, " }"));
    others_.push_back({value_.instances.subtract(holds), choice->else_value});
    value_ = {value_.instances.intersect(holds), choice->then_value};
  }
}

/// Instances are, for each place of each element, the old ones one to one.
void Proof::check_instances() {
  const auto& before = s_.before.assignment;
  const isl::set old_box = set(str("{ ", old_.tuple(), " : ", old_.box(s_.before.ranges), " }"));
  const isl::map old_writes = map(str("{ ", old_.tuple(), " -> ", *old_.tuple_of(before.subscripts), " }"));
  const isl::map all_places = places_of(target_);
  element_places_ = all_places.range();
  origins_ = origins();
  writes_ = map(str("{ ", new_.tuple(), " -> ", new_.leading(s_.reindexing.left.size()), " }"));
  const isl::map wanted = old_writes.intersect_domain(old_box).apply_range(all_places);
  proper_ = origins_.intersect_range(old_box)
                .domain()
                .intersect(value_.instances)
                .intersect(writes_.intersect_range(wanted.range()).domain());
  const isl::map found = writes_.range_product(origins_).intersect_domain(proper_);
  need(found.is_injective(), "an instance of the old statement is there twice");
  need(found.range().is_equal(wanted.reverse().wrap()), "its instances are not those of the old statement");
  const isl::set everywhere = origins_.domain();
  const bool zero_identity = before.reduction == ReductionOp::Sum || before.reduction == ReductionOp::Or;
  need(!before.initialise || zero_identity || !zero_holes() || !reduces_nothing(), "a hole is not 0");
  if (before.initialise)
    need(to_elements(everywhere).apply(writes_).is_subset(wanted.range()), "it initialises what the old one leaves");
}

/// Are there places to write, and no instances for them?
bool Proof::reduces_nothing() const {
  const auto empty = [&](const std::string& name) { return s_.reindexing.ranges.at(name).extent <= 0; };
  const auto& left = s_.reindexing.left;
  const auto& reduced = s_.reindexing.reduced;
  return std::none_of(left.begin(), left.end(), empty) && std::any_of(reduced.begin(), reduced.end(), empty);
}

bool Proof::is_self(const ExprPtr& expr) const {
  const auto* access = std::get_if<Access>(&expr->node);
  if (!access || access->tensor != s_.after.target || s_.after.initialise) return false;
  const auto op = s_.after.reduction;
  if (op && op != ReductionOp::Min && op != ReductionOp::Max) return false;
  return print(expr) == print(make_expr(Access{s_.after.target, s_.after.subscripts, false}));
}

bool is_number(const ExprPtr& expr, std::uint64_t value) {
  const auto* number = std::get_if<IntLiteral>(&expr->node);
  const auto* truth = std::get_if<BoolLiteral>(&expr->node);
  return (number && number->value == value) || (truth && truth->value == (value != 0));
}

bool Proof::is_neutral(const ExprPtr& expr) const {
  const auto op = s_.after.reduction;
  if (op == ReductionOp::Sum || op == ReductionOp::Or) return is_number(expr, 0);
  return (op == ReductionOp::Product || op == ReductionOp::And) && is_number(expr, 1);
}

/// What instances without the old value give changes no element, and leaves 0 in holes where they are to be 0.
void Proof::check_branch(const Branch& branch) const {
  const isl::set at_elements = to_elements(branch.instances), at_holes = branch.instances.subtract(at_elements);
  const bool keeps = is_self(branch.value) || is_neutral(branch.value);
  need(at_elements.is_empty() || keeps, "a condition changes an element");
  const bool zero = is_number(branch.value, 0) || (keeps && !s_.after.initialise);
  need(at_holes.is_empty() || !zero_holes() || zero, "a hole is not 0");
}

std::optional<isl::map> Proof::new_reads(const ExprPtr& access) const {
  const auto tuple = new_.tuple_of(std::get<Access>(access->node).subscripts);
  return tuple ? std::optional(map(str("{ ", new_.tuple(), " -> ", *tuple, " }"))) : std::nullopt;
}

/// Is \p value, where \p instances compute it, a product of zeros from holes?
bool Proof::zero_factors(const ExprPtr& value, const isl::set& instances) const {
  if (const auto* pair = std::get_if<Binary>(&value->node))
    return pair->op == BinaryOp::Mul && zero_factors(pair->left, instances) && zero_factors(pair->right, instances);
  const auto* access = std::get_if<Access>(&value->node);
  if (!access) return false;
  const auto& tensor = s_.tensors.at(access->tensor);
  const auto reads = new_reads(value);
  if (!reads || !tensor.map || tensor.map->fill() != Fill::Zero) return false;
  for (const auto& [name, other] : s_.tensors)
    if (other.stored_as == access->tensor && name != access->tensor) return false;
  return instances.apply(*reads).intersect(places_of(tensor).range()).is_empty();
}

/// Where the old value is computed for no old instance, it is written to a hole, or adds zeros.
void Proof::check_rest_of_value() {
  const isl::set rest = value_.instances.subtract(proper_);
  const isl::set at_elements = to_elements(rest), at_holes = rest.subtract(at_elements);
  const bool sum = s_.after.reduction == ReductionOp::Sum;
  need(at_elements.is_empty() || (sum && zero_factors(value_.value, at_elements)), "other values reach an element");
  need(at_holes.is_empty() || !zero_holes() || (sum && zero_factors(value_.value, at_holes)), "a hole is not 0");
}

void Proof::check_read(const ReadPair& read, StatementProof& proof) const {
  const auto& before = std::get<Access>(read.before->node);
  const auto& tensor = s_.tensors.at(before.tensor);
  const auto made = new_reads(read.after);
  const auto subscripts = old_.tuple_of(before.subscripts);
  if (!made || !subscripts) {
    proof.unproved.push_back(print(read.before));
    return;
  }
  const isl::map elements = origins_.apply_range(map(str("{ ", old_.tuple(), " -> ", *subscripts, " }")));
  PlacedTensor plain = tensor;
  plain.map = nullptr;
  const isl::set box = places_of(plain).range();
  const isl::map places = places_of(tensor);
  const isl::set inside = elements.intersect_range(box).domain().intersect(proper_);
  if (!inside.apply(elements).is_subset(places.domain()))
    throw OptionsError(str("'", print(read.before), "' reads an element that has no place in the layout '",
                           to_string(tensor.map->layout()), "' of '", before.tensor, "'"));
  need(made->intersect_domain(inside).is_subset(elements.apply_range(places)),
       str("'", print(read.after), "' is not where '", print(read.before), "' is"));
}

StatementProof Proof::proved() {
  polyhedral::OperationQuota quota(owner_, operations_of_a_proof);
  try {
    return run();
  } catch (const isl::exception& error) {
    const std::string text = print(Statement{s_.after, {}});
    if (!quota.caused(error)) throw InternalError(str("layouts: '", text, "': ", error.what()));
    throw ResourceError(str("layouts: '", text, "' is not proved by ", operations_of_a_proof, " operations of isl"));
  }
}

StatementProof Proof::run() {
  check_head();
  const auto reads = take_apart();
  check_instances();
  check_rest_of_value();
  for (const auto& branch : others_) check_branch(branch);
  StatementProof proof{str(origins_.intersect_domain(proper_)), {}};
  for (const auto& read : reads) check_read(read, proof);
  return proof;
}

}  // namespace

StatementProof certify(const RewrittenStatement& statement) { return Proof(statement).proved(); }

}  // namespace tc::layout
