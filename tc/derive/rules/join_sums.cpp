#include "tc/derive/rules/join_sums.h"

#include <algorithm>
#include <array>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/sum_term.h"

namespace tc::derive {

namespace {

/// One of the two sums: its two operands, and its instances from those of the joined one.
struct Part {
  SumTerm term;
  std::array<Read, 2> operands;
  isl::multi_aff instance;
};

class SumJoiner {
 public:
  SumJoiner(const Program& program, const std::string& tensor, std::size_t first, std::size_t second, ReductionOp op,
            std::vector<int> order, int joint)
      : program_(program),
        scope_(changeable(program, tensor)),
        op_(op),
        terms_numbers_{first, second},
        order_(std::move(order)),
        joint_(joint) {
    if (scope_.cases.size() != 1 || scope_.op) throw Refusal{"it is no sum of such sums"};
    terms_ = terms(own().body, op_);
    if (first == second || first >= terms_.size() || second >= terms_.size()) throw Refusal{"there are no such terms"};
    for (std::size_t t : {0, 1}) {
      const auto term = sum_term(program, own(), terms_[terms_numbers_[t]], op_);
      if (!term) throw Refusal{"a term is no sum that is read once"};
      parts_[t].term = *term;
    }
    summed_ = summed_count(*parts_[0].term.sum);
    auto sorted = order_;
    std::sort(sorted.begin(), sorted.end());
    if (summed_count(*parts_[1].term.sum) != summed_ || sorted != run_of(0, summed_) || joint < 0 || joint >= summed_)
      throw Refusal{"the sums differ"};
    make_box();
    for (std::size_t t : {0, 1}) read_part(t);
    pair_operands();
  }

  bool share_an_operand() const {
    for (const auto& a : parts_[0].operands)
      for (const auto& b : parts_[1].operands)
        if (a.tensor == b.tensor) return true;
    return false;
  }

  Step run() const {
    if (scope_.fill != neutral(op_) && !box_set(ctx(), scope_.box).is_subset(written_cells(scope_)))
      throw Refusal{"other elements hold a number"};
    auto names = scope_.iterators;
    const auto& sum = *parts_[0].term.sum;
    for (int d = 0; d < summed_; ++d)
      names.push_back(fresh_iterator(program_, names, sum.iterators[static_cast<std::size_t>(sum.left() + d)]));
    std::vector<Scope> scopes{copy(0, names, "C"), copy(1, names, "C_1")};
    Scope joined = scope_;
    joined.op = op_;
    joined.fill = neutral(op_);
    joined.iterators = names;
    joined.cases = {{own().domain.preimage(to_own()).intersect(box_set(ctx(), box_)), nullptr, {}}};
    auto& part = joined.cases[0];
    std::vector<lang::ExprPtr> both;
    for (std::size_t o : {0, 1}) {
      part.reads.push_back({scopes[o].tensor, projection(ctx(), dimensions(), dimensions_of(o))});
      both.push_back(lang::make_expr(lang::Name{read_name(o)}));
    }
    part.body = product(both, times_);
    if (is_all()) {
      scopes.push_back(joined);
    } else {
      joined.tensor = fresh_tensor(program_, "T");
      joined.box = iterator_box(scope_);
      scopes.push_back(joined);
      scopes.push_back(with_rest(joined.tensor));
    }
    const auto what = str(parts_[0].term.sum->tensor, " and ", parts_[1].term.sum->tensor, " in ", scope_.tensor);
    Step step{"join sums", what, with_scopes(program_, scope_.tensor, std::move(scopes)), certificate()};
    std::erase_if(step.after.scopes,
                  [&](const ScopePtr& scope) { return scope == parts_[0].term.sum || scope == parts_[1].term.sum; });
    return step;
  }

 private:
  isl::ctx ctx() const { return *program_.context; }
  const Case& own() const { return scope_.cases[0]; }
  bool is_all() const { return terms_.size() == 2; }
  int left() const { return scope_.dimensions(); }
  int dimensions() const { return left() + summed_; }
  isl::multi_aff to_own() const { return projection(ctx(), dimensions(), run_of(0, left())); }

  /// The ranges of what sum \p t sums over, in the order of the first.
  lang::Box summed_ranges(std::size_t t) const {
    const auto& sum = *parts_[t].term.sum;
    const auto all = iterator_box(sum);
    lang::Box result(static_cast<std::size_t>(summed_));
    for (int d = 0; d < summed_; ++d)
      result[static_cast<std::size_t>(t == 0 ? d : order_[static_cast<std::size_t>(d)])] =
          all[static_cast<std::size_t>(sum.left() + d)];
    return result;
  }

  void make_box() {
    const auto first = summed_ranges(0), second = summed_ranges(1);
    box_ = iterator_box(scope_);
    for (int d = 0; d < summed_; ++d) {
      const auto &a = first[static_cast<std::size_t>(d)], &b = second[static_cast<std::size_t>(d)];
      if (d != joint_ && !(a == b)) throw Refusal{"the sums differ"};
      if (d == joint_ && (a.min != 0 || b.min != 0)) throw Refusal{"a sum does not begin at 0"};
      box_.push_back(d == joint_ ? lang::IntegerRange{0, a.extent + b.extent} : a);
    }
    length_ = first[static_cast<std::size_t>(joint_)].extent;
  }

  /// The operands of sum \p t; its instances have no guards but those of its reads.
  void read_part(std::size_t t) {
    auto& part = parts_[t];
    const auto& sum = *part.term.sum;
    const auto& only = sum.cases[0];
    const auto times = product_operator(only.body, op_);
    const auto all = factors(only.body, times);
    if (all.size() != 2 || !read_number(all[0]) || !read_number(all[1]) || times != (t == 0 ? times : times_))
      throw Refusal{"a sum is not one of products of two elements"};
    times_ = times;
    if (!only.domain.is_equal(box_set(ctx(), iterator_box(sum)).intersect(reads_inside(program_, only))))
      throw Refusal{"a sum has guards"};
    std::vector<std::string> sums;
    for (int d = 0; d < summed_; ++d) {
      const int from = t == 0 ? d : order_[static_cast<std::size_t>(d)];
      sums.push_back(t == 1 && from == joint_ ? str("i", left() + from, " - ", length_) : str("i", left() + from));
    }
    part.instance = part.term.at.pullback(to_own()).flat_range_product(function(ctx(), dimensions(), sums));
    for (std::size_t o : {0, 1}) {
      const auto& read = only.reads[*read_number(all[o])];
      part.operands[o] = {read.tensor, read.at.pullback(part.instance)};
    }
  }

  std::vector<int> left_of(const Read& read) const {
    std::vector<int> result;
    for (int d = 0; d < left(); ++d)
      if (depends(read.at, d)) result.push_back(d);
    return result;
  }

  /// The operands of the second in the order of those of the first: by the iterators of the result that they hold.
  void pair_operands() {
    auto& second = parts_[1].operands;
    if (left_of(parts_[0].operands[0]) != left_of(second[0])) std::swap(second[0], second[1]);
  }

  /// The dimensions of joined operand \p o.
  std::vector<int> dimensions_of(std::size_t o) const {
    std::vector<int> result;
    for (int d = 0; d < dimensions(); ++d)
      if (d == left() + joint_ || depends(parts_[0].operands[o].at, d) || depends(parts_[1].operands[o].at, d))
        result.push_back(d);
    return result;
  }

  /// Joined operand \p o; the numbers of the second sum go into its second operand.
  Scope copy(std::size_t o, const std::vector<std::string>& names, const char* wish) const {
    Scope made;
    made.tensor = fresh_tensor(program_, wish);
    made.type = scope_.type;
    made.fill = neutral(op_);
    const auto order = dimensions_of(o);
    std::vector<std::string> values;
    for (const auto& range : box_) values.push_back(str(range.min));
    for (std::size_t p = 0; p < order.size(); ++p) {
      const auto d = static_cast<std::size_t>(order[p]);
      made.iterators.push_back(names[d]);
      made.box.push_back(box_[d]);
      values[d] = str("i", p);
    }
    const auto back = function(ctx(), static_cast<int>(order.size()), values);
    for (std::size_t t : {0, 1}) {
      auto box = box_;
      box[static_cast<std::size_t>(left() + joint_)] = t == 0 ? lang::IntegerRange{0, length_} : second_range();
      const auto at = parts_[t].operands[o].at.pullback(back);
      const auto inside = box_set(ctx(), program_.box(parts_[t].operands[o].tensor)).preimage(at);
      auto all = o == 1 ? parts_[t].term.numbers : std::vector<lang::ExprPtr>();
      all.push_back(only_read());
      made.cases.push_back({box_set(ctx(), box).preimage(back).intersect(box_set(ctx(), made.box)).intersect(inside),
                            product(all, times_),
                            {{parts_[t].operands[o].tensor, at}}});
    }
    std::erase_if(made.cases, [](const Case& part) { return part.domain.is_empty(); });
    return made;
  }

  lang::IntegerRange second_range() const {
    return {length_, box_[static_cast<std::size_t>(left() + joint_)].extent - length_};
  }

  /// The other terms, and \p joined.
  Scope with_rest(const std::string& joined) const {
    Scope rest = scope_;
    auto& part = rest.cases[0];
    part.reads.push_back({joined, projection(ctx(), left(), run_of(0, left()))});
    std::vector<lang::ExprPtr> all;
    for (std::size_t t = 0; t < terms_.size(); ++t)
      if (t != terms_numbers_[0] && t != terms_numbers_[1]) all.push_back(terms_[t]);
    all.push_back(lang::make_expr(lang::Name{read_name(part.reads.size() - 1)}));
    part.body = sum(all, op_);
    part = with_used_reads(part);
    return rest;
  }

  /// From [x, element of sum t, k] to [x, k, both operands], or [x, element of the joined sum, k, both operands].
  isl::multi_aff from(std::size_t t) const {
    const int element = parts_[t].term.sum->left();
    std::vector<std::string> own, values;
    for (int d = 0; d < left(); ++d) own.push_back(str("i", d));
    values = own;
    own.resize(static_cast<std::size_t>(dimensions()));
    for (int d = 0; d < summed_; ++d) {
      const int to = t == 0 ? d : order_[static_cast<std::size_t>(d)];
      const auto from = str("i", left() + element + d);
      own[static_cast<std::size_t>(left() + to)] = t == 1 && to == joint_ ? str(from, " + ", length_) : from;
    }
    if (is_all()) values.clear();
    values.insert(values.end(), own.begin(), own.end());
    for (std::size_t o : {0, 1})
      for (int d : dimensions_of(o)) values.push_back(own[static_cast<std::size_t>(d)]);
    return function(ctx(), left() + element + summed_, values);
  }

  Certificate certificate() const {
    const auto others = terms_.size() - 2;
    auto all = isl::union_map::empty(ctx());
    std::size_t rest = 0;
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      const bool one = t == terms_numbers_[0], other = t == terms_numbers_[1];
      if (!one && !other) {
        all = all.unite(link(t, rest++, projection(ctx(), left(), run_of(0, left())), term_name));
        continue;
      }
      // Whichever number the case of two cases of operands has that is not empty.
      for (std::size_t q = 0; q < 4; ++q) all = all.unite(link(t, others + q, from(one ? 0 : 1), term_name));
    }
    Certificate result;
    result.maps.emplace(scope_.tensor, all);
    return result;
  }

  const Program& program_;
  const Scope& scope_;
  ReductionOp op_;
  std::array<std::size_t, 2> terms_numbers_;
  std::vector<int> order_;
  int joint_ = 0, summed_ = 0;
  std::vector<lang::ExprPtr> terms_;
  std::array<Part, 2> parts_;
  std::string times_;
  lang::Box box_;  ///< of the joined sum
  std::int64_t length_ = 0;
};

}  // namespace

Step join_sums(const Program& program, const std::string& tensor, std::size_t first, std::size_t second,
               const std::vector<int>& order, int joint) {
  const auto op = sum_operator(program, changeable(program, tensor));
  if (!op) throw Refusal{str("'", tensor, "' reads no sums")};
  return SumJoiner(program, tensor, first, second, *op, order, joint).run();
}

std::vector<Step> sum_joins(const Program& program) {
  std::vector<Step> result;
  const auto add = [&](const Scope& scope, std::size_t a, std::size_t b, ReductionOp op, int summed) {
    auto order = run_of(0, summed);
    do {
      for (int joint = 0; joint < summed; ++joint) try {
          const SumJoiner joiner(program, scope.tensor, a, b, op, order, joint);
          if (joiner.share_an_operand()) return;
          return result.push_back(joiner.run());
        } catch (const Refusal&) {
        }
    } while (std::next_permutation(order.begin(), order.end()));
  };
  for (const auto& scope : program.scopes) {
    const auto op = scope->op ? std::nullopt : sum_operator(program, *scope);
    if (!op || !scope->uniform || scope->cases.size() != 1) continue;
    const auto all = terms(scope->cases[0].body, *op);
    std::vector<std::pair<std::size_t, int>> sums;
    for (std::size_t t = 0; t < all.size(); ++t)
      if (const auto term = sum_term(program, scope->cases[0], all[t], *op);
          term && summed_count(*term->sum) <= most_summed)
        sums.emplace_back(t, summed_count(*term->sum));
    for (std::size_t i = 0; i < sums.size(); ++i)
      for (std::size_t j = i + 1; j < sums.size(); ++j)
        if (sums[i].second == sums[j].second) add(*scope, sums[i].first, sums[j].first, *op, sums[i].second);
  }
  return result;
}

}  // namespace tc::derive
