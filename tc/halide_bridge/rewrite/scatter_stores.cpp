#include "tc/halide_bridge/rewrite/scatter_stores.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tc/base/contains.h"
#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/lower/linear_index.h"
#include "tc/halide_bridge/lower/variable_names.h"
#include "tc/halide_bridge/rewrite/guarded_update.h"
#include "tc/halide_bridge/rewrite/winners.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Kind = ProgramStatement::Kind;

/// Where a statement is: launch and number.
using Place = std::pair<std::size_t, std::size_t>;

class StoreFinder {
 public:
  StoreFinder(const Program& program, Place place) : program_(program), at_(place), chosen_(&statement(place)) {
    for (std::size_t l = 0; l < program.launches.size(); ++l)
      for (std::size_t s = 0; s < program.launches[l].statements.size(); ++s) places_.emplace_back(l, s);
  }

  /// The store that the statement is, with the statements that it replaces in `dropped`; nothing if it is none.
  std::optional<ProgramStatement> run() {
    if (chosen_->kind != Kind::Assign || !chosen_->loops.empty()) return std::nullopt;
    const auto choice = as_conditional(chosen_->value);
    const auto* first = choice ? won_in(choice->condition) : nullptr;
    if (!first || !is_own_element(choice->else_value)) return std::nullopt;
    element_ = first->args;
    if (!find_winners(choice->then_value, first->name) || !is_chain() || !are_used_here_only()) return std::nullopt;
    const auto store = make(choice->then_value);
    return store && stays_inside(*store) && checks_hold(*store) ? store : std::nullopt;
  }

  std::set<Place> dropped;  ///< statements that the store replaces, with checks

 private:
  const ProgramStatement& statement(Place place) const {
    return program_.launches[place.first].statements[place.second];
  }

  bool is_own_element(const Expr& value) const {
    const auto* read = value.as<ir::Call>();
    return read && read->call_type == ir::Call::Halide && read->name == chosen_->target &&
           are_equal(read->args, chosen_->subscripts);
  }

  /// Notes the winners that the value and its condition read: tensors with an initialisation and one update before the statement.
  bool find_winners(const Expr& value, const std::string& first) {
    std::set<std::string> names = {first};
    for (const auto* read : element_reads(value)) {
      if (read->name == chosen_->target) return false;
      if (!is_winner(read->name)) continue;
      if (!are_equal(read->args, element_)) return false;
      names.insert(read->name);
    }
    for (const auto& name : names)
      if (!is_winner(name) || !add_winner(name)) return false;
    std::sort(winners_.begin(), winners_.end(),
              [](const Winner& a, const Winner& b) { return a.earlier.size() < b.earlier.size(); });
    return winners_[0].tensor == first;
  }

  bool is_winner(const std::string& name) const {
    const ProgramTensor& tensor = program_.tensor(name);
    if (tensor.role != lang::Role::Temporary || tensor.type != DType::Int64) return false;
    int inits = 0, updates = 0;
    for (const auto& place : places_) {
      const auto& each = statement(place);
      if (each.target != name) continue;
      if (each.kind == Kind::Assign || each.op != ReductionOp::Max || place > at_) return false;
      if (each.kind == Kind::Init)
        ++inits;
      else if (!is_identity(each.value, ReductionOp::Max))
        ++updates;
    }
    return inits == 1 && updates == 1;
  }

  bool add_winner(const std::string& name) {
    std::optional<Winner> result;
    for (const auto& place : places_) {
      const ProgramStatement& each = statement(place);
      if (each.target != name) continue;
      dropped.insert(place);
      if (each.kind == Kind::Update && !is_identity(each.value, each.op)) result = winner_of(each);
    }
    if (!result || result->update->subscripts.size() != element_.size()) return false;
    winners_.push_back(*std::move(result));
    return true;
  }

  /// Is each winner found among the instances that all before it name, by the same subscripts?
  bool is_chain() {
    const Winner& first = winners_[0];
    if (first.iterator.empty() ? winners_.size() != 1 || !first.iterators.empty()
                               : winners_.size() != first.iterators.size())
      return false;
    std::vector<Expr> named;
    for (const auto& subscript : first.update->subscripts) {
      const auto match = first.matches.find(subscript.as<ir::Variable>()->name);
      named.push_back(match == first.matches.end() ? subscript : match->second);
    }
    std::set<std::string> won;
    for (std::size_t k = 0; k < winners_.size(); ++k) {
      const Winner& winner = winners_[k];
      const bool same = winner.iterators == first.iterators &&
                        are_equal(winner.update->subscripts, first.update->subscripts) &&
                        winner.update->domain == first.update->domain && winner.matches.size() == first.matches.size();
      if (!same || winner.earlier.size() != k || (!winner.iterator.empty() && !won.insert(winner.iterator).second))
        return false;
      for (const auto& [iterator, index] : winner.matches)
        if (const auto other = first.matches.find(iterator);
            other == first.matches.end() || !ir::equal(index, other->second))
          return false;
      std::map<std::string, std::string> earlier;
      for (const auto& [read, iterator] : winner.earlier)
        if (!are_equal(read->args, named) || !earlier.emplace(read->name, iterator).second) return false;
      for (std::size_t j = 0; j < k; ++j)
        if (earlier[winners_[j].tensor] != winners_[j].iterator) return false;
    }
    return true;
  }

  const Winner* find_winner(const std::string& tensor) const {
    const auto found =
        std::find_if(winners_.begin(), winners_.end(), [&](const Winner& w) { return w.tensor == tensor; });
    return found == winners_.end() ? nullptr : &*found;
  }

  /// Do only this statement, the winners and checks read the winners, and is nothing written in between that the subscripts read?
  bool are_used_here_only() {
    std::set<std::string> read_by_winners;
    for (const auto& winner : winners_)
      for (const auto& name : tensors_read(*winner.update))
        if (!find_winner(name)) read_by_winners.insert(name);
    if (read_by_winners.count(chosen_->target)) return false;
    bool begun = false;
    for (const auto& place : places_) {
      const ProgramStatement& each = statement(place);
      begun = begun || dropped.count(place) > 0;
      if (place == at_ || dropped.count(place)) continue;
      if (begun && place < at_ && read_by_winners.count(each.target)) return false;
      const auto names = tensors_read(each);
      if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return find_winner(name); }))
        continue;
      if (!is_check(place)) return false;
      flags_.insert(each.target);
    }
    for (const auto& place : places_)
      if (flags_.count(statement(place).target)) dropped.insert(place);
    return true;
  }

  bool is_check(Place place) const {
    const auto& checks = program_.launches[place.first].checks;
    return std::any_of(checks.begin(), checks.end(),
                       [&](const IndexCheck& check) { return check.flag == statement(place).target; });
  }

  /// The statement that stores \p value of each instance, in their order.
  std::optional<ProgramStatement> make(const Expr& value) {
    const Winner& first = winners_[0];
    ProgramStatement result = *chosen_;
    result.iterators.clear();
    result.domain.clear();
    for (const auto& winner : winners_)
      if (!winner.iterator.empty()) {
        won_[winner.tensor] = iterator_values({winner.iterator})[0];
        result.iterators.push_back(winner.iterator);
        result.domain.push_back(range_of(*winner.update, winner.iterator));
      }
    for (std::size_t d = 0; d < element_.size(); ++d) {
      const auto* own = element_[d].as<ir::Variable>();
      const std::string in_update = first.update->subscripts[d].as<ir::Variable>()->name;
      if (!own || named_.count(own->name)) return std::nullopt;
      const auto match = first.matches.find(in_update);
      if (range_of(*chosen_, own->name) != range_of(*first.update, in_update)) return std::nullopt;
      if (match == first.matches.end() ? own->name != in_update
                                       : !conditions_of({own->name}, chosen_->conditions).empty())
        return std::nullopt;
      if (match != first.matches.end()) named_[own->name] = match->second;
    }
    for (std::size_t i = 0; i < chosen_->iterators.size(); ++i) {
      if (named_.count(chosen_->iterators[i])) continue;
      if (contains(result.iterators, chosen_->iterators[i])) return std::nullopt;
      result.iterators.push_back(chosen_->iterators[i]);
      result.domain.push_back(chosen_->domain[i]);
    }
    for (const auto& [own, index] : named_)
      for (const auto& name : variable_names({index}))
        if (!contains(result.iterators, name)) return std::nullopt;
    result.conditions = conditions_of(result.iterators, first.update->conditions);
    for (const auto& condition : conditions_of(result.iterators, chosen_->conditions))
      if (std::none_of(result.conditions.begin(), result.conditions.end(),
                       [&](const Expr& other) { return ir::equal(other, condition); }))
        result.conditions.push_back(condition);
    for (auto& subscript : result.subscripts) subscript = replaced(subscript, named_);
    result.value = at_instance(value);
    return result;
  }

  /// \p value, of an element, for the instance that wins it.
  Expr at_instance(const Expr& value) const { return replaced(value, named_, won_); }

  /// Is \p index in \p values, by the ranges of the iterators of \p store?
  static bool is_inside(const Expr& index, const lang::IntegerRange& values, const ProgramStatement& store) {
    const LinearIndices known(store.iterators, store.domain);
    const Expr begun = ir::LE::make(index_value(values.min), index);
    const Expr not_ended = ir::LT::make(index, index_value(values.min + values.extent));
    return ir::is_const_one(known.simplified(begun)) && ir::is_const_one(known.simplified(not_ended));
  }

  /// Does \p outside, uint64(index) >= extent, hold nowhere, by the ranges of the iterators of \p store or by a check in an earlier launch?
  bool is_excluded(const Expr& outside, const ProgramStatement& store) const {
    if (const auto guarded = as_conditional(outside);
        guarded && ir::is_const_zero(guarded->else_value) && is_excluded(guarded->then_value, store))
      return true;
    const auto* compared = outside.as<ir::GE>();
    const auto* index = compared ? compared->a.as<ir::Cast>() : nullptr;
    const auto* extent = compared ? compared->b.as<ir::UIntImm>() : nullptr;
    if (index && extent && is_inside(index->value, {0, static_cast<std::int64_t>(extent->value)}, store)) return true;
    for (const auto& place : places_) {
      const auto& check = statement(place);
      if (place.first >= at_.first || check.kind != Kind::Update || !is_check(place) ||
          !ir::equal(check.value, outside))
        continue;
      const auto covers = [&](const std::string& name) {
        return !contains(store.iterators, name) || range_of(check, name) == range_of(store, name);
      };
      if (std::all_of(check.iterators.begin(), check.iterators.end(), covers)) return true;
    }
    return false;
  }

  /// Do the subscripts of \p store that were indices stay among their values?
  bool stays_inside(const ProgramStatement& store) const {
    return std::all_of(named_.begin(), named_.end(), [&](const auto& named) {
      const lang::IntegerRange values = range_of(*chosen_, named.first);
      const Expr extent = ir::UIntImm::make(Halide::UInt(64), static_cast<std::uint64_t>(values.extent));
      const Expr outside = ir::GE::make(ir::Cast::make(Halide::UInt(64), named.second), extent);
      return is_inside(named.second, values, store) || (values.min == 0 && is_excluded(outside, store));
    });
  }

  /// Do the checks that read winners find nothing, if they look at all instances of \p store?
  bool checks_hold(const ProgramStatement& store) const {
    for (const auto& place : dropped) {
      const ProgramStatement& check = statement(place);
      if (!flags_.count(check.target) || check.kind != Kind::Update) continue;
      const auto choice = as_conditional(check.value);
      if (!choice || !ir::is_const_zero(choice->else_value)) return false;
      const auto* winner = won_in(choice->condition);
      if (!winner || winner->name != winners_[0].tensor) return false;
      if (!is_excluded(at_instance(choice->then_value), store)) return false;
    }
    return true;
  }

  const Program& program_;
  std::vector<Place> places_;
  const Place at_;
  const ProgramStatement* const chosen_;
  std::vector<Expr> element_;  ///< the subscripts of winners in the statement
  std::vector<Winner> winners_;
  std::set<std::string> flags_;
  std::map<std::string, Expr> won_, named_;  ///< by winner, its iterator; by index of the statement, what names it
};

/// \p program with \p store at \p place, without the statements \p dropped, their checks and what they write.
Program with_store(const Program& program, const ProgramStatement& store, Place place, const std::set<Place>& dropped) {
  Program result = program;
  std::set<std::string> unused;
  result.launches.clear();
  for (std::size_t l = 0; l < program.launches.size(); ++l) {
    const Launch& launch = program.launches[l];
    const bool continues = !result.launches.empty() && result.launches.back().checks.empty();
    Launch& kept = continues ? result.launches.back() : result.launches.emplace_back();
    for (std::size_t s = 0; s < launch.statements.size(); ++s)
      if (dropped.count({l, s}))
        unused.insert(launch.statements[s].target);
      else
        kept.statements.push_back(Place(l, s) == place ? store : launch.statements[s]);
    kept.checks = launch.checks;
    std::erase_if(kept.checks, [&](const IndexCheck& check) { return unused.count(check.flag) > 0; });
  }
  std::erase_if(result.tensors, [&](const ProgramTensor& tensor) { return unused.count(tensor.name) > 0; });
  return result;
}

/// \p program with its first store in the order of instances; nothing if it has none.
std::optional<Program> with_first_store(const Program& program) {
  for (std::size_t l = 0; l < program.launches.size(); ++l)
    for (std::size_t s = 0; s < program.launches[l].statements.size(); ++s) {
      StoreFinder finder(program, {l, s});
      if (const auto store = finder.run()) return with_store(program, *store, {l, s}, finder.dropped);
    }
  return std::nullopt;
}

bool copies_to_itself(const ProgramStatement& statement) {
  const auto* read = statement.kind == Kind::Assign ? statement.value.as<ir::Call>() : nullptr;
  return read && read->call_type == ir::Call::Halide && read->name == statement.target &&
         are_equal(read->args, statement.subscripts);
}

}  // namespace

Program scatter_stores(const Program& program) {
  Program result = program;
  while (auto next = with_first_store(result)) result = *std::move(next);
  for (auto& launch : result.launches) std::erase_if(launch.statements, copies_to_itself);
  return result;
}

}  // namespace tc::halide_bridge
