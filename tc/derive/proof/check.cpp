#include "tc/derive/proof/check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tc/base/str.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/proof/comparison.h"
#include "tc/derive/proof/duplicates.h"
#include "tc/derive/proof/flatten.h"
#include "tc/derive/proof/induction.h"
#include "tc/derive/proof/known_values.h"
#include "tc/polyhedral/core/isl_message.h"

namespace tc::derive {

using lang::ExprPtr;

namespace {

/// A point of a set, for messages.
std::string sample(const isl::set& set) {
  char* text = isl_set_to_str(isl::set(set.sample()).get());
  std::string result = text;
  std::free(text);
  return result;
}

isl::set named(const isl::set& set, const std::string& name) {
  return polyhedral::call(set.ctx(), isl_set_set_tuple_name, set.copy(), name.c_str());
}

isl::map anonymous(const isl::map& map) {
  const auto half = polyhedral::call(map.ctx(), isl_map_reset_tuple_id, map.copy(), isl_dim_in);
  return polyhedral::call(map.ctx(), isl_map_reset_tuple_id, half.copy(), isl_dim_out);
}

/// One tensor in two programs.
class TensorCheck {
 public:
  TensorCheck(const std::string& tensor, const Program& before, const Program& after,
              const std::set<std::string>& common, const KnownValues& known, const isl::union_map* map)
      : tensor_(tensor),
        map_(map),
        name_(map && speaks_of_terms(*map) ? term_name : case_name),
        before_(written_out(before, common)),
        after_(needs_induction(before, after, tensor)
                   ? written_out(with_induction(before, after, tensor, common), common)
                   : written_out(after, common)) {
    drop_without_effect(before_, known);
    drop_without_effect(after_, known);
  }

  Verdict run() {
    if (!same_values_outside()) return refusal("the operators, or what elements without an instance hold, differ");
    std::vector<isl::set> unreached;
    for (const auto& part : after_.cases) unreached.push_back(part.domain);
    for (std::size_t p = 0; p < before_.cases.size(); ++p) {
      isl::set open = before_.cases[p].domain;
      for (std::size_t q = 0; q < after_.cases.size(); ++q) {
        const auto link = link_between(p, q);
        if (link.is_empty()) continue;
        if (!link.is_single_valued() || !link.is_injective()) return refusal("the map is no bijection");
        if (!link.domain().is_subset(open) || !link.range().is_subset(unreached[q]))
          return refusal("the map is no bijection");
        open = open.subtract(link.domain());
        unreached[q] = unreached[q].subtract(link.range());
        if (auto verdict = compare(before_.cases[p], after_.cases[q], link); !verdict.equal) return verdict;
      }
      if (!open.is_empty()) return refusal(str("instances of the first that the second lacks, as ", sample(open)));
    }
    for (const auto& rest : unreached)
      if (!rest.is_empty()) return refusal(str("instances of the second that the first lacks, as ", sample(rest)));
    return {true, ""};
  }

 private:
  Flat written_out(const Program& program, const std::set<std::string>& common) const {
    return flatten(program, tensor_, common, name_ == term_name ? Sums::MultipliedOut : Sums::Kept);
  }
  /// Terms that change no sum are none of its terms.
  static void drop_without_effect(Flat& flat, const KnownValues& known) {
    if (!flat.op || known.empty()) return;
    for (auto& part : flat.cases)
      part.domain = part.domain.subtract(without_effect({part.domain, part.body, part.reads}, *flat.op, known));
  }
  Verdict refusal(const std::string& why) const { return {false, str(tensor_, ": ", why)}; }

  /// An assignment is a reduction of one instance, if the other elements hold what an empty reduction gives.
  bool same_values_outside() const {
    if (before_.fill && after_.fill && *before_.fill != *after_.fill) return false;
    return before_.op == after_.op || !before_.op || !after_.op;
  }

  isl::map link_between(std::size_t p, std::size_t q) const {
    const auto &from = before_.cases[p].domain, &to = after_.cases[q].domain;
    if (!map_) {
      const bool fits = p == q && polyhedral::dimensions(from) == polyhedral::dimensions(to);
      return fits ? from.identity().intersect_range(to) : isl::map::empty(from.product(to).unwrap().space());
    }
    const auto space = polyhedral::call(from.ctx(), isl_space_map_from_domain_and_range,
                                        named(from, name_(p)).space().release(), named(to, name_(q)).space().release());
    return anonymous(map_->extract_map(space)).intersect_domain(from).intersect_range(to);
  }

  Verdict compare(const FlatCase& a, const FlatCase& b, const isl::map& link) const {
    const auto written = a.writes.as_map().intersect_domain(link.domain()), other = link.apply_range(b.writes.as_map());
    if (!written.is_equal(other)) return refusal("the map takes an instance to one that writes another element");
    if (!Comparison({&a, link.domain().identity()}, {&b, link}).same(a.body, b.body))
      return refusal(str("other values are computed in instances as ", sample(link.domain())));
    return {true, ""};
  }

  std::string tensor_;
  const isl::union_map* map_;
  std::string (*name_)(std::size_t);  ///< of a case
  Flat before_, after_;
};

bool same_inputs(const Program& a, const Program& b) {
  return std::equal(
      a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(),
      [](const Input& x, const Input& y) { return x.tensor == y.tensor && x.type == y.type && x.box == y.box; });
}

std::set<std::string> common_tensors(const Program& a, const Program& b) {
  std::set<std::string> result;
  for (const auto& scope : a.scopes)
    if (b.find(scope->tensor)) result.insert(scope->tensor);
  return result;
}

bool reads_only(const Scope& scope, const std::set<std::string>& tensors, const Program& program) {
  for (const auto& part : scope.cases)
    for (const auto& read : part.reads)
      if (!read.tensor.empty() && program.find(read.tensor) && !tensors.count(read.tensor)) return false;
  return true;
}

/// Is the value of read \p k an operand of more than minima and maxima in \p body?
bool computes_with(const lang::ExprPtr& body, std::size_t k) {
  if (read_number(body) == k || !reads_in(body).count(k)) return false;
  if (const auto op = operator_of(body); op != "min" && op != "max") return true;
  const auto operands = lang::children(body);
  return std::any_of(operands.begin(), operands.end(), [&](const auto& operand) { return computes_with(operand, k); });
}

isl::multi_aff writes_of(const Program& program, const Scope& scope) {
  std::vector<int> left;
  for (int d = 0; d < scope.left(); ++d) left.push_back(d);
  return projection(*program.context, scope.dimensions(), left);
}

/// The elements of \p tensor that are no extremes because there was nothing to reduce.
isl::set reduced_elements(const Program& program, const std::string& tensor) {
  const auto box = box_set(*program.context, program.box(tensor));
  const auto scope = program.find(tensor);
  if (!scope) return box;
  auto written = isl::set::empty(box.space()), reduced = written;
  for (const auto& part : scope->cases) {
    auto domain = part.domain;
    for (const auto& read : part.reads)
      if (!read.tensor.empty()) domain = domain.intersect(reduced_elements(program, read.tensor).preimage(read.at));
    written = written.unite(part.domain.apply(writes_of(program, *scope).as_map()));
    reduced = reduced.unite(domain.apply(writes_of(program, *scope).as_map()));
  }
  return std::isinf(scope->fill) ? reduced : reduced.unite(box.subtract(written));
}

/// Are the elements of \p tensor, one of the loop around \p scope, that \p read finds in \p instances, of earlier iterations, or of this one
/// where the tensor is not that of \p scope?
bool is_earlier(const Program& program, const Scope& scope, const isl::set& instances, const Read& read) {
  const auto source = program.find(read.tensor);
  const auto at = read.at.at(source->loop->dimension);
  const auto own = projection(*program.context, scope.dimensions(), {scope.loop->dimension}).at(0);
  return instances.is_subset(source.get() == &scope ? at.lt_set(own) : at.le_set(own));
}

Verdict check_scope(const Program& program, const Scope& scope, const std::set<std::string>& known) {
  const auto refusal = [&](const std::string& why) { return Verdict{false, str(scope.tensor, ": ", why)}; };
  const auto box = box_set(*program.context, scope.box);
  const auto writes = writes_of(program, scope);
  isl::set all = isl::set::empty(scope.cases.front().domain.space());
  for (const auto& part : scope.cases) {
    if (!part.domain.is_subset(box.preimage(writes))) return refusal("an element outside of the tensor is written");
    if (!part.domain.is_disjoint(all)) return refusal("two cases share an instance");
    all = all.unite(part.domain);
    for (const auto& read : part.reads) {
      if (read.tensor.empty()) continue;
      const bool is_own = scope.loop && read.tensor == scope.tensor;
      if (!is_own && !known.count(read.tensor)) return refusal(str("'", read.tensor, "' is read before it is there"));
      const auto source = program.find(read.tensor);
      if (scope.loop && source && source->loop && source->loop->id == scope.loop->id &&
          !is_earlier(program, scope, part.domain, read))
        return refusal(str("'", read.tensor, "' is read before its iteration of the loop"));
      const auto outside = part.domain.subtract(box_set(*program.context, program.box(read.tensor)).preimage(read.at));
      if (!outside.is_empty())
        return refusal(str("'", read.tensor, "' is read outside of its box, as in ", sample(outside)));
      const auto k = static_cast<std::size_t>(&read - part.reads.data());
      if (is_integer(scope.type) && computes_with(part.body, k) &&
          !part.domain.is_subset(reduced_elements(program, read.tensor).preimage(read.at)))
        return refusal(str("'", read.tensor, "' holds extremes of integers, which are no infinities to compute with"));
    }
  }
  if (!scope.op && !writes.as_map().intersect_domain(all).is_injective()) return refusal("an element is written twice");
  if (scope.op && scope.fill != neutral(*scope.op))
    return refusal("an empty reduction does not hold the neutral element");
  return {true, ""};
}

/// Are the scopes of each loop neighbours, with one range for its iterations?
Verdict check_loops(const Program& program) {
  std::set<int> seen;
  const Scope* before = nullptr;
  for (const auto& scope : program.scopes) {
    if (scope->loop && before && before->loop && before->loop->id == scope->loop->id) {
      const auto range = [](const Scope& of) { return of.box.at(static_cast<std::size_t>(of.loop->dimension)); };
      if (!(range(*scope) == range(*before))) return {false, str(scope->tensor, ": the loop has two ranges")};
    } else if (scope->loop && !seen.insert(scope->loop->id).second) {
      return {false, str(scope->tensor, ": other scopes stand in the loop")};
    }
    before = scope.get();
  }
  return {true, ""};
}

/// Is \p program one, if the scopes that it shares with \p known, and what these read, are as they should be?
Verdict check_program(const Program& program, const Program* known) {
  const auto common = known ? common_tensors(program, *known) : std::set<std::string>();
  if (auto verdict = check_loops(program); !verdict.equal) return verdict;
  std::set<std::string> there;
  for (const auto& input : program.inputs) there.insert(input.tensor);
  for (const auto& scope : program.scopes) {
    if (scope->cases.empty()) return {false, str(scope->tensor, ": no cases")};
    const bool unchanged = known && !scope->loop && known->find(scope->tensor) == scope &&
                           reads_only(*scope, common, program) && reads_only(*scope, there, program);
    if (!unchanged)
      if (auto verdict = check_scope(program, *scope, there); !verdict.equal) return verdict;
    if (!there.insert(scope->tensor).second) return {false, str(scope->tensor, ": it is written twice")};
  }
  return {true, ""};
}

/// \p program with reciprocals for quotients of floats. A scope that both programs have is one in both of \p known.
Program without_quotients(const Program& program, std::map<ScopePtr, ScopePtr>& known) {
  auto result = program;
  for (auto& scope : result.scopes) {
    if (!is_float(scope->type) || !scope->keeps_values()) continue;
    const auto [found, is_new] = known.try_emplace(scope, scope);
    if (is_new) {
      auto made = *scope;
      bool changed = false;
      for (auto& part : made.cases) {
        const auto body = with_reciprocals(part.body);
        changed = changed || !lang::equal(body, part.body);
        part.body = body;
      }
      if (changed) found->second = std::make_shared<const Scope>(std::move(made));
    }
    scope = found->second;
  }
  return result;
}

Verdict compared(const Program& given, const Program& derived, const Certificate& certificate) {
  std::map<ScopePtr, ScopePtr> scopes;
  const auto own = without_duplicates(derived, certificate.duplicates);
  const auto before = without_quotients(given, scopes), after = without_quotients(own, scopes);
  if (!same_inputs(before, after)) return {false, "the inputs differ"};
  if (before.outputs != after.outputs) return {false, "the outputs differ"};
  const auto common = common_tensors(before, after);
  for (const auto& output : before.outputs)
    if (!common.count(output)) return {false, str("nothing defines '", output, "'")};
  // What the first text tells holds for the second too: by induction over its order, an element that it reads is the one of the first.
  const auto known = known_values(given);
  for (const auto& tensor : common) {
    const auto a = before.find(tensor), b = after.find(tensor);
    if (a->type != b->type || a->box != b->box) return {false, str(tensor, ": the tensors differ")};
    if (a == b && reads_only(*a, common, before)) continue;
    const auto found = certificate.maps.find(tensor);
    TensorCheck one(tensor, before, after, common, known, found == certificate.maps.end() ? nullptr : &found->second);
    if (auto verdict = one.run(); !verdict.equal) return verdict;
  }
  return {true, ""};
}

}  // namespace

Verdict check(const Program& program) try { return check_program(program, nullptr); } catch (const Refusal& refusal) {
  return {false, refusal.why};
}

Verdict check(const Program& before, const Program& after, const Certificate& certificate) {
  const auto verdict = check(before);
  return verdict.equal ? check_step(before, after, certificate) : verdict;
}

Verdict check_step(const Program& before, const Program& after, const Certificate& certificate) try {
  if (!same_inputs(before, after)) return {false, "the inputs differ"};
  const auto verdict = check_program(after, &before);
  return verdict.equal ? compare(before, after, certificate) : verdict;
} catch (const Refusal& refusal) {
  return {false, refusal.why};
} catch (const isl::exception& error) {
  return {false, str("isl: ", polyhedral::message_of(error))};
}

Verdict compare(const Program& before, const Program& after, const Certificate& certificate) try {
  return compared(before, after, certificate);
} catch (const Refusal& refusal) {
  return {false, refusal.why};
} catch (const isl::exception& error) {
  return {false, str("isl: ", polyhedral::message_of(error))};
}

}  // namespace tc::derive
