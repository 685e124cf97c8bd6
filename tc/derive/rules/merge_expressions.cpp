#include "tc/derive/rules/merge_expressions.h"

#include <algorithm>
#include <set>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

namespace {

/// Does what defines \p tensor read \p other, straight or not?
bool needs(const Program& program, const std::string& tensor, const std::string& other) {
  std::set<std::string> wanted{tensor};
  for (auto scope = program.scopes.rbegin(); scope != program.scopes.rend(); ++scope) {
    if (!wanted.count((*scope)->tensor)) continue;
    for (const auto& part : (*scope)->cases)
      for (const auto k : reads_in(part.body)) wanted.insert(part.reads[k].tensor);
  }
  return wanted.count(other) != 0;
}

class Merger {
 public:
  Merger(const Program& program, const std::string& first, const std::string& second, std::optional<int> dimension)
      : program_(program), a_(changeable(program, first)), b_(changeable(program, second)), dimension_(dimension) {}

  Step run() {
    check();
    offset_ = dimension_ ? a_.box[static_cast<std::size_t>(*dimension_)].extent : 1;
    const auto box = iterator_box(a_);
    place_ = dimension_.value_or(0);
    own_ = a_.dimensions() + (dimension_ ? 0 : 1);
    merged_ = a_;
    merged_.tensor = fresh_tensor(program_, "T");
    if (dimension_) {
      merged_.box[static_cast<std::size_t>(*dimension_)].extent += b_.box[static_cast<std::size_t>(*dimension_)].extent;
    } else {
      merged_.box.insert(merged_.box.begin(), {0, 2});
      merged_.iterators.insert(merged_.iterators.begin(), fresh_iterator(program_, a_.iterators, "j"));
    }
    lang::Box all = merged_.box;
    all.insert(all.end(), box.begin() + a_.left(), box.end());
    merged_.cases[0].domain = box_set(ctx(), all);
    std::vector<Scope> scopes;
    for (std::size_t k = 0; k < a_.cases[0].reads.size(); ++k) merge_read(k, scopes);
    scopes.push_back(merged_);
    return finished(std::move(scopes));
  }

 private:
  isl::ctx ctx() const { return *program_.context; }
  bool is_second_later() const {
    for (const auto& scope : program_.scopes) {
      if (scope->tensor == a_.tensor) return true;
      if (scope->tensor == b_.tensor) return false;
    }
    return true;
  }

  void check() const {
    if (a_.tensor == b_.tensor || !is_second_later()) throw Refusal{"the second stands before the first"};
    if (a_.type != b_.type || a_.op != b_.op || a_.fill != b_.fill || a_.cases.size() != 1 || b_.cases.size() != 1 ||
        a_.left() != b_.left() || a_.dimensions() != b_.dimensions())
      throw Refusal{"the forms differ"};
    if (!lang::equal(a_.cases[0].body, b_.cases[0].body) || a_.cases[0].reads.size() != b_.cases[0].reads.size())
      throw Refusal{"the bodies differ"};
    const auto first = iterator_box(a_), second = iterator_box(b_);
    for (int d = 0; d < a_.dimensions(); ++d)
      if (dimension_ != d && !(first[static_cast<std::size_t>(d)] == second[static_cast<std::size_t>(d)]))
        throw Refusal{"the boxes differ"};
    if (dimension_ && (*dimension_ >= a_.left() || first[static_cast<std::size_t>(*dimension_)].min != 0 ||
                       second[static_cast<std::size_t>(*dimension_)].min != 0))
      throw Refusal{"the dimension does not begin at 0"};
    for (const auto* scope : {&a_, &b_})
      if (!scope->cases[0].domain.is_equal(box_set(ctx(), iterator_box(*scope)))) throw Refusal{"there are guards"};
    if (needs(program_, b_.tensor, a_.tensor)) throw Refusal{"the second needs the first"};
  }

  /// Dimensions of a_ (and b_) from those of the merged scope; \p shift is taken off the one they lie along.
  isl::multi_aff to_part(std::int64_t shift) const {
    std::vector<std::string> values;
    for (int d = 0; d < a_.dimensions(); ++d) {
      const int from = dimension_ ? d : d + 1;
      values.push_back(dimension_ == d ? str("i", from, " - ", shift) : str("i", from));
    }
    return function(ctx(), own_, values);
  }

  /// Read \p k of both: shared, or of a copy.
  void merge_read(std::size_t k, std::vector<Scope>& scopes) {
    const auto &a = a_.cases[0].reads[k], &b = b_.cases[0].reads[k];
    auto& read = merged_.cases[0].reads[k];
    const auto at = a.at.pullback(to_part(0));
    const bool same = a.tensor == b.tensor && at.plain_is_equal(b.at.pullback(to_part(dimension_ ? offset_ : 0)));
    if (same && !depends(at, place_)) {
      read = {a.tensor, at};
      return;
    }
    std::vector<int> order{place_};
    for (int d = 0; d < own_; ++d)
      if (d != place_ && (depends(at, d) || depends(b.at.pullback(to_part(offset_)), d))) order.push_back(d);
    scopes.push_back(copy_of_both(a, b, order, scopes));
    read = {scopes.back().tensor, projection(ctx(), own_, order)};
  }

  Scope copy_of_both(const Read& a, const Read& b, const std::vector<int>& order,
                     const std::vector<Scope>& scopes) const {
    Scope copy;
    copy.tensor = fresh_tensor(program_, scopes.empty() ? "C" : str("C_", scopes.size()));
    copy.type = a_.type;
    copy.fill = a_.fill;
    const auto ranges = merged_ranges();
    std::vector<std::string> values(static_cast<std::size_t>(own_), "0");
    for (std::size_t p = 0; p < order.size(); ++p) {
      copy.iterators.push_back(merged_.iterators[static_cast<std::size_t>(order[p])]);
      copy.box.push_back(ranges[static_cast<std::size_t>(order[p])]);
      values[static_cast<std::size_t>(order[p])] = str("i", p);
    }
    const auto back = function(ctx(), static_cast<int>(order.size()), values);
    auto first = copy.box, second = copy.box;
    first[0] = {0, offset_};
    second[0] = {offset_, copy.box[0].extent - offset_};
    const auto shift = dimension_ ? offset_ : 0;
    copy.cases.push_back({box_set(ctx(), first), only_read(), {{a.tensor, a.at.pullback(to_part(0)).pullback(back)}}});
    copy.cases.push_back(
        {box_set(ctx(), second), only_read(), {{b.tensor, b.at.pullback(to_part(shift)).pullback(back)}}});
    return copy;
  }

  lang::Box merged_ranges() const {
    auto all = merged_.box;
    const auto box = iterator_box(a_);
    all.insert(all.end(), box.begin() + a_.left(), box.end());
    return all;
  }

  /// Where an instance of a part lies among the merged ones: its dimensions, then those of the scopes written out.
  isl::multi_aff from_part(bool second, const std::vector<Scope>& scopes) const {
    std::vector<std::string> own, values;
    for (int d = 0; d < a_.dimensions(); ++d)
      own.push_back(dimension_ == d && second ? str("i", d, " + ", offset_) : str("i", d));
    if (!dimension_) own.insert(own.begin(), second ? "1" : "0");
    for (int d = 0; d < a_.left(); ++d) values.push_back(str("i", d));
    values.insert(values.end(), own.begin(), own.end());
    for (const auto k : reads_in(merged_.cases[0].body))
      for (const auto& scope : scopes)
        if (merged_.cases[0].reads[k].tensor == scope.tensor)
          for (std::size_t p = 0; p < scope.iterators.size(); ++p) {
            const auto& name = scope.iterators[p];
            values.push_back(own[static_cast<std::size_t>(
                std::find(merged_.iterators.begin(), merged_.iterators.end(), name) - merged_.iterators.begin())]);
          }
    return function(ctx(), a_.dimensions(), values);
  }

  Step finished(std::vector<Scope> scopes) const {
    const auto part = [&](const Scope& scope, bool second) {
      std::vector<std::string> values;
      for (int d = 0; d < scope.left(); ++d)
        values.push_back(dimension_ == d && second ? str("i", d, " + ", offset_) : str("i", d));
      if (!dimension_) values.insert(values.begin(), second ? "1" : "0");
      return copy_of(scope, merged_.tensor, function(ctx(), scope.left(), values), box_set(ctx(), scope.box));
    };
    Step step{"merge expressions", str(a_.tensor, " and ", b_.tensor), program_, {}, {a_.tensor, b_.tensor}};
    step.certificate = linked(a_.tensor, from_part(false, scopes), scopes);
    const auto other = linked(b_.tensor, from_part(true, scopes), scopes);
    step.certificate.maps.insert(other.maps.begin(), other.maps.end());
    scopes.push_back(part(a_, false));
    scopes.push_back(part(b_, true));
    step.after = with_scopes(program_, b_.tensor, std::move(scopes));
    const auto name = a_.tensor;
    step.after.scopes.erase(std::find_if(step.after.scopes.begin(), step.after.scopes.end(),
                                         [&](const ScopePtr& scope) { return scope->tensor == name; }));
    return sorted(std::move(step));
  }

  /// The one case before becomes that of the copies' cases which is not empty, whichever number it has.
  static Certificate linked(const std::string& tensor, const isl::multi_aff& map, const std::vector<Scope>& scopes) {
    isl::union_map all = link(0, 0, map);
    for (std::size_t k = 0; k < std::size_t{1} << scopes.size(); ++k) all = all.unite(link(0, k, map));
    Certificate result;
    result.maps.emplace(tensor, all);
    return result;
  }

  /// What read the first stands behind what now defines it.
  static Step sorted(Step step) {
    std::vector<ScopePtr> order, open = step.after.scopes;
    std::set<std::string> known;
    for (const auto& input : step.after.inputs) known.insert(input.tensor);
    while (!open.empty()) {
      const auto ready = std::find_if(open.begin(), open.end(), [&](const ScopePtr& scope) {
        for (const auto& part : scope->cases)
          for (const auto k : reads_in(part.body))
            if (!part.reads[k].tensor.empty() && !known.count(part.reads[k].tensor)) return false;
        return true;
      });
      if (ready == open.end()) throw Refusal{"the merged scopes need each other"};
      known.insert((*ready)->tensor);
      order.push_back(*ready);
      open.erase(ready);
    }
    step.after.scopes = order;
    return step;
  }

  const Program& program_;
  const Scope &a_, &b_;
  std::optional<int> dimension_;
  std::int64_t offset_ = 0;
  int place_ = 0, own_ = 0;
  Scope merged_;
};

bool shares_operand(const Scope& a, const Scope& b) {
  for (const auto& x : a.cases[0].reads)
    for (const auto& y : b.cases[0].reads)
      if (x.tensor == y.tensor) return true;
  return false;
}

}  // namespace

Step merge_expressions(const Program& program, const std::string& first, const std::string& second,
                       std::optional<int> dimension) {
  return Merger(program, first, second, dimension).run();
}

std::vector<Step> expression_merges(const Program& program) {
  std::vector<Step> result;
  const auto is_product = [](const Scope& scope) {
    return scope.op && scope.uniform && scope.cases.size() == 1 && reads_in(scope.cases[0].body).size() >= 2;
  };
  const auto add = [&](const Scope& a, const Scope& b, std::optional<int> dimension) {
    try {
      result.push_back(merge_expressions(program, a.tensor, b.tensor, dimension));
    } catch (const Refusal&) {
    }
  };
  for (std::size_t i = 0; i < program.scopes.size(); ++i)
    for (std::size_t j = i + 1; j < program.scopes.size(); ++j) {
      const auto &a = *program.scopes[i], &b = *program.scopes[j];
      if (!is_product(a) || !is_product(b)) continue;
      if (!shares_operand(a, b)) add(a, b, std::nullopt);
      for (int d = 0; d < a.left() && shares_operand(a, b); ++d) add(a, b, d);
    }
  return result;
}

}  // namespace tc::derive
