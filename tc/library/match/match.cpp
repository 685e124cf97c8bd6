#include "tc/library/match/match.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/library/match/post_ops.h"
#include "tc/library/match/prove.h"
#include "tc/library/match/read_off.h"

namespace tc::library {
namespace {

/// What the def \p text of a routine computes, understood once.
const Computation& known_routine(const std::string& text) {
  static auto& mutex = *new ForkMutex;
  static auto& known = *new std::map<std::string, std::unique_ptr<const Computation>>;
  {
    std::lock_guard lock(mutex);
    if (const auto found = known.find(text); found != known.end()) return *found->second;
  }
  auto made = std::make_unique<const Computation>(understand_routine(text));
  std::lock_guard lock(mutex);
  return *known.try_emplace(text, std::move(made)).first->second;
}

/// The value of \p given before it is rounded to the half that the result holds: routines compute in float32 and round once.
NodePtr unrounded(const Computation& given) {
  const auto type = given.arguments.at(given.result).dtype;
  const auto* apply = std::get_if<Apply>(&given.value->value);
  return is_half(type) && apply && apply->function == str("to ", type) ? apply->arguments.at(0) : given.value;
}

/// The matching of one expression with one routine, post-ops cut off.
class Matcher {
 public:
  Matcher(const Computation& given, const Library& library, const Routine& routine)
      : given_(given), library_(library), routine_(routine), computed_(known_routine(routine.def)) {}

  std::optional<Call> run() const {
    if (!given_.finite && !routine_.special_values) return std::nullopt;
    for (const auto& peeled : peel(unrounded(given_))) {
      if (!std::all_of(peeled.ops.begin(), peeled.ops.end(), [&](const auto& op) { return takes(op); })) break;
      std::optional<Call> best;
      for (const auto& pairing : pair_up(peeled.core, computed_.value))
        if (auto call = bind(peeled, pairing); call && (!best || call->times() < best->times())) best = std::move(call);
      if (best) return best;
    }
    return std::nullopt;
  }

 private:
  bool takes(const PeeledOp& op) const {
    if (!routine_.post_ops) return false;
    if (op.kind == PostOp::Kind::Gelu) return routine_.gelu && given_.finite;
    if (op.kind == PostOp::Kind::AtMost) return routine_.at_most && given_.finite;
    return op.kind != PostOp::Kind::Relu || given_.finite || (op.drops_nan && routine_.relu_drops_nan);
  }

  std::optional<Call> bind(const Peeled& peeled, const Pairing& pairing) const {
    std::vector<Read> reads;
    for (const auto& op : peeled.ops)
      if (op.read) reads.push_back(*op.read);
    const auto problem = make_problem(given_, pairing, reads);
    auto best = bind(peeled, pairing, problem, problem);
    const bool is_natural = best && best->cost() == std::pair<std::int64_t, int>(1, 0);
    if (routine_.blocks && !is_natural)
      for (const auto& joined : joined_problems(problem))
        if (auto bound = bind(peeled, pairing, problem, joined); bound && (!best || bound->cost() < best->cost()))
          best = std::move(bound);
    return best ? std::optional(std::move(best->call)) : std::nullopt;
  }

  struct Bound {
    Call call;
    int mismatches = 0;

    std::pair<std::int64_t, int> cost() const { return {call.times(), mismatches}; }
  };

  /// The call that \p joined is, which is \p problem with counters joined or without.
  std::optional<Bound> bind(const Peeled& peeled, const Pairing& pairing, const Problem& problem,
                            const Problem& joined) const {
    for (const auto& assignment : assignments(joined, pairing, computed_, routine_.loops)) {
      auto call = read_off(joined, pairing, computed_, assignment);
      if (!call || !has_types(*call)) continue;
      call->library = library_.name;
      call->version = library_.find().version;
      call->routine = routine_.name;
      call->machine = library_.machine;
      add_post_ops(*call, peeled, joined, assignment);
      if (routine_.accepts && !routine_.accepts(*call)) continue;
      if (prove(problem, joined.joins, pairing, computed_, assignment, *call))
        return Bound{std::move(*call), assignment.mismatches};
    }
    return std::nullopt;
  }

  bool has_types(const Call& call) const {
    std::vector<DType> types;
    for (const auto& operand : call.operands) types.push_back(operand.type);
    return std::find(routine_.types.begin(), routine_.types.end(), types) != routine_.types.end();
  }

  void add_post_ops(Call& call, const Peeled& peeled, const Problem& problem, const Assignment& assignment) const {
    std::size_t next = 0;
    for (const auto& op : peeled.ops) {
      PostOp made{op.kind, std::nullopt, op.limit};
      if (op.read) {
        const auto& address = problem.post_ops[next++];
        made.operand = Operand{address.argument, address.type, address.function.constant, {}, {}};
        for (int id : computed_.outer) {
          const auto found = assignment.of_routine.find(id);
          const auto* counter = found == assignment.of_routine.end() ? nullptr : &found->second;
          add_dimension(*made.operand, problem, address, counter, computed_.outer.size());
        }
        for (const auto& loop : assignment.loops) made.operand->steps.push_back(address.function.factor(loop.id));
      }
      call.post_ops.push_back(std::move(made));
    }
  }

  const Computation& given_;
  const Library& library_;
  const Routine& routine_;
  const Computation& computed_;
};

/// Is there nothing to compute, or to sum?
bool is_empty(const Computation& given) {
  const auto runs = iterators_run(given);
  return std::any_of(runs.begin(), runs.end(),
                     [&](int id) { return given.iterators[static_cast<std::size_t>(id)].extent < 1; });
}

}  // namespace

std::optional<Call> match(const Computation& given, const Library& library, const Routine& routine) {
  if (is_empty(given)) return std::nullopt;
  return Matcher(given, library, routine).run();
}

}  // namespace tc::library
