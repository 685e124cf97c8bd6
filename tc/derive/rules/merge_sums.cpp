#include "tc/derive/rules/merge_sums.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/sum_term.h"

namespace tc::derive {

namespace {

class SumMerger {
 public:
  SumMerger(const Program& program, const std::string& tensor, std::size_t first, std::size_t second, ReductionOp op,
            std::vector<int> order)
      : program_(program),
        scope_(changeable(program, tensor)),
        op_(op),
        first_(first),
        second_(second),
        order_(std::move(order)) {
    if (scope_.cases.size() != 1 || (scope_.op && scope_.op != op_)) throw Refusal{"it is no sum of such sums"};
    terms_ = terms(part().body, op_);
    if (first == second || first >= terms_.size() || second >= terms_.size()) throw Refusal{"there are no such terms"};
    const auto a = sum_term(program, part(), terms_[first], op_), b = sum_term(program, part(), terms_[second], op_);
    if (!a || !b) throw Refusal{"a term is no sum that is read once"};
    a_ = *a, b_ = *b;
    own_ = scope_.dimensions(), summed_ = summed_count(*a_.sum);
    auto sorted = order_;
    std::sort(sorted.begin(), sorted.end());
    if (summed_count(*b_.sum) != summed_ || sorted != run_of(0, summed_)) throw Refusal{"the sums differ"};
  }

  /// Do the two sums share a factor, and run over the same?
  bool share() const {
    if (!domain(a_, to_first()).is_equal(domain(b_, to_second()))) return false;
    const auto reads = [](const SumTerm& term, const isl::multi_aff& at) {
      std::vector<Read> result;
      for (const auto k : reads_in(term.sum->cases[0].body)) {
        const auto& read = term.sum->cases[0].reads[k];
        result.push_back({read.tensor, read.at.pullback(at)});
      }
      return result;
    };
    const auto others = reads(b_, to_second());
    for (const auto& read : reads(a_, to_first()))
      for (const auto& other : others)
        if (read.tensor == other.tensor && read.at.plain_is_equal(other.at)) return true;
    return false;
  }

  Step run() const {
    const auto where = domain(a_, to_first());
    if (!where.is_equal(domain(b_, to_second()))) throw Refusal{"the sums differ"};
    if (!scope_.op && scope_.fill != neutral(op_) && !box_set(ctx(), scope_.box).is_subset(written_cells(scope_)))
      throw Refusal{"other elements hold a number"};
    Scope made = scope_;
    made.op = op_;
    made.fill = neutral(op_);
    for (int d = 0; d < summed_; ++d)
      made.iterators.push_back(
          fresh_iterator(program_, made.iterators, a_.sum->iterators[static_cast<std::size_t>(a_.sum->left() + d)]));
    Case both{where, nullptr, {}};
    const auto f = added(a_, to_first(), both.reads), g = added(b_, to_second(), both.reads);
    both.body = sum({f, g}, op_);
    made.cases = {both};
    std::vector<Scope> scopes;
    if (is_all()) {
      scopes.push_back(made);
    } else {
      made.tensor = fresh_tensor(program_, "T");
      made.box = iterator_box(scope_);
      scopes = {made, with_rest(made.tensor)};
    }
    Step step{"merge sums", str(a_.sum->tensor, " and ", b_.sum->tensor, " in ", scope_.tensor),
              with_scopes(program_, scope_.tensor, std::move(scopes)), certificate()};
    std::erase_if(step.after.scopes, [&](const ScopePtr& scope) { return scope == a_.sum || scope == b_.sum; });
    return step;
  }

 private:
  isl::ctx ctx() const { return *program_.context; }
  const Case& part() const { return scope_.cases[0]; }
  bool is_all() const { return terms_.size() == 2; }

  /// Instances of the sums from those of the merged one, [x, k].
  isl::multi_aff to_own() const { return projection(ctx(), own_ + summed_, run_of(0, own_)); }
  isl::multi_aff to_first() const { return to(a_, run_of(own_, summed_)); }
  isl::multi_aff to_second() const {
    std::vector<int> sums;
    for (int d : order_) sums.push_back(own_ + d);
    return to(b_, sums);
  }
  isl::multi_aff to(const SumTerm& term, const std::vector<int>& sums) const {
    return term.at.pullback(to_own()).flat_range_product(projection(ctx(), own_ + summed_, sums));
  }
  isl::set domain(const SumTerm& term, const isl::multi_aff& at) const {
    return part().domain.preimage(to_own()).intersect(term.sum->cases[0].domain.preimage(at));
  }

  /// What \p term sums, its reads added to \p reads.
  lang::ExprPtr added(const SumTerm& term, const isl::multi_aff& at, std::vector<Read>& reads) const {
    const auto& own = term.sum->cases[0];
    const auto offset = reads.size();
    for (const auto& read : own.reads) reads.push_back({read.tensor, read.at.pullback(at)});
    auto all = term.numbers;
    all.push_back(
        with_reads(own.body, [&](std::size_t k) { return lang::make_expr(lang::Name{read_name(k + offset)}); }));
    return product(all, all.size() == 1 ? "" : product_operator(terms_[&term == &a_ ? first_ : second_], op_));
  }

  /// The other terms, and \p merged.
  Scope with_rest(const std::string& merged) const {
    Scope rest = scope_;
    auto& own = rest.cases[0];
    own.reads.push_back({merged, projection(ctx(), own_, run_of(0, own_))});
    std::vector<lang::ExprPtr> left;
    for (std::size_t t = 0; t < terms_.size(); ++t)
      if (t != first_ && t != second_) left.push_back(terms_[t]);
    left.push_back(lang::make_expr(lang::Name{read_name(own.reads.size() - 1)}));
    own.body = sum(left, op_);
    own = with_used_reads(own);
    return rest;
  }

  /// From [x, element of the sum, l] to [x, k], or [x, element of the merged one, k].
  isl::multi_aff from(const SumTerm& term, const std::vector<int>& order) const {
    const int left = term.sum->left();
    auto kept = run_of(0, own_);
    if (!is_all()) kept.insert(kept.end(), kept.begin(), kept.begin() + own_);
    for (int k = 0; k < summed_; ++k)
      kept.push_back(own_ + left + static_cast<int>(std::find(order.begin(), order.end(), k) - order.begin()));
    return projection(ctx(), own_ + left + summed_, kept);
  }

  Certificate certificate() const {
    const auto count = [&](const SumTerm& term) { return terms(term.sum->cases[0].body, op_).size(); };
    const auto a = count(a_), b = count(b_), others = terms_.size() - 2;
    auto all = isl::union_map::empty(ctx());
    std::size_t before = 0, rest = 0;
    const auto add = [&](std::size_t terms, std::size_t after, const isl::multi_aff& function) {
      for (std::size_t t = 0; t < terms; ++t) all = all.unite(link(before++, after + t, function, term_name));
    };
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      if (t == first_)
        add(a, others, from(a_, run_of(0, summed_)));
      else if (t == second_)
        add(b, others + a, from(b_, order_));
      else
        add(1, rest++, projection(ctx(), own_, run_of(0, own_)));
    }
    Certificate result;
    result.maps.emplace(scope_.tensor, all);
    return result;
  }

  const Program& program_;
  const Scope& scope_;
  ReductionOp op_;
  std::size_t first_, second_;
  std::vector<int> order_;
  std::vector<lang::ExprPtr> terms_;
  SumTerm a_, b_;
  int own_ = 0, summed_ = 0;
};

}  // namespace

Step merge_sums(const Program& program, const std::string& tensor, std::size_t first, std::size_t second,
                const std::vector<int>& order) {
  const auto op = sum_operator(program, changeable(program, tensor));
  if (!op) throw Refusal{str("'", tensor, "' reads no sums")};
  return SumMerger(program, tensor, first, second, *op, order).run();
}

std::vector<Step> sum_merges(const Program& program) {
  std::vector<Step> result;
  const auto add = [&](const Scope& scope, std::size_t a, std::size_t b, ReductionOp op, std::vector<int> order) {
    do {
      try {
        const SumMerger merger(program, scope.tensor, a, b, op, order);
        if (merger.share()) return result.push_back(merger.run());
      } catch (const Refusal&) {
      }
    } while (std::next_permutation(order.begin(), order.end()));
  };
  for (const auto& scope : program.scopes) {
    const auto op = sum_operator(program, *scope);
    if (!op || !scope->uniform || scope->cases.size() != 1) continue;
    const auto& part = scope->cases[0];
    const auto all = terms(part.body, *op);
    std::vector<std::pair<std::size_t, int>> sums;
    for (std::size_t t = 0; t < all.size(); ++t)
      if (const auto term = sum_term(program, part, all[t], *op); term && summed_count(*term->sum) <= most_summed)
        sums.emplace_back(t, summed_count(*term->sum));
    for (std::size_t i = 0; i < sums.size(); ++i)
      for (std::size_t j = i + 1; j < sums.size(); ++j)
        if (sums[i].second == sums[j].second) add(*scope, sums[i].first, sums[j].first, *op, run_of(0, sums[i].second));
  }
  return result;
}

}  // namespace tc::derive
