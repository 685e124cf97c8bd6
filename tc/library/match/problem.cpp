#include "tc/library/match/problem.h"

#include <algorithm>

namespace tc::library {
namespace {

Address address_of(const Computation& given, std::size_t argument, DType type, const std::vector<Affine>& subscripts) {
  const auto& tensor = given.arguments[argument];
  Address address{argument, type, {}, {}, tensor.strides, tensor.shape};
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    address.function = address.function + subscripts[d] * address.strides[d];
    auto& together = address.together.emplace_back();
    for (const auto& term : subscripts[d].terms) together.insert(term.first);
  }
  return address;
}

template <typename ProblemOrConst, typename F>
void for_each_address(ProblemOrConst& problem, F&& visit) {
  for (auto* list : {&problem.reads, &problem.post_ops})
    for (auto& address : *list) visit(address);
  visit(problem.result);
}

bool is_in_conditions(const Problem& problem, int id) {
  for (const auto& conditions : problem.conditions)
    for (const auto& condition : conditions)
      if (condition.factor(id) != 0) return true;
  return false;
}

/// Iterators of extent 1 are 0.
void drop_units(Problem& problem) {
  std::map<int, Affine> zeros;
  for (const auto& counter : problem.counters)
    if (counter.extent == 1) zeros[counter.id] = Affine();
  std::erase_if(problem.counters, [](const auto& counter) { return counter.extent == 1; });
  for_each_address(problem, [&](Address& address) { address.function = substitute(address.function, zeros); });
  for (auto& conditions : problem.conditions)
    for (auto& condition : conditions) condition = substitute(condition, zeros);
}

/// Do \p outer and \p inner run through each tensor as one iterator does?
bool run_as_one(const Problem& problem, const Counter& outer, const Counter& inner) {
  if (outer.scope != inner.scope || is_in_conditions(problem, outer.id) || is_in_conditions(problem, inner.id))
    return false;
  bool result = true;
  for_each_address(problem, [&](const Address& address) {
    result = result && address.function.factor(outer.id) == inner.extent * address.function.factor(inner.id);
  });
  return result;
}

void merge(Problem& problem, std::size_t outer, std::size_t inner) {
  const int gone = problem.counters[outer].id, kept = problem.counters[inner].id;
  problem.counters[inner].extent *= problem.counters[outer].extent;
  problem.counters.erase(problem.counters.begin() + static_cast<std::ptrdiff_t>(outer));
  for_each_address(problem, [&](Address& address) {
    address.function.terms.erase(gone);
    for (auto& together : address.together)
      if (together.erase(gone)) together.insert(kept);
  });
}

bool merge_some(Problem& problem) {
  for (std::size_t outer = 0; outer < problem.counters.size(); ++outer)
    for (std::size_t inner = 0; inner < problem.counters.size(); ++inner)
      if (outer != inner && run_as_one(problem, problem.counters[outer], problem.counters[inner])) {
        merge(problem, outer, inner);
        return true;
      }
  return false;
}

}  // namespace

Problem make_problem(const Computation& given, const Pairing& pairing, const std::vector<Read>& post_ops) {
  Problem problem;
  auto add = [&](const std::vector<int>& iterators, std::size_t scope) {
    for (int id : iterators)
      problem.counters.push_back({id, given.iterators[static_cast<std::size_t>(id)].extent, scope});
  };
  add(given.outer, 0);
  for (std::size_t s = 0; s < pairing.scopes.size(); ++s) add(pairing.scopes[s].given, s + 1);
  for (const auto& [read, other] : pairing.reads)
    problem.reads.push_back(address_of(given, read.argument, read.type, read.subscripts));
  for (const auto& read : post_ops)
    problem.post_ops.push_back(address_of(given, read.argument, read.type, read.subscripts));
  problem.result = address_of(given, given.result, given.arguments[given.result].dtype, given.written);
  for (const auto& pair : pairing.conditions) problem.conditions.push_back(pair.given);
  drop_units(problem);
  while (merge_some(problem)) {
  }
  return problem;
}

Block block_of_counter(const Problem& problem, const Address& address, int counter) {
  const auto* join = problem.join_of(counter);
  const auto rest = join ? address.function.factor(join->outer) : 0;
  return rest == 0 ? Block() : Block{join->size, rest + join->size * address.function.factor(join->inner)};
}

void add_dimension(Operand& operand, const Problem& problem, const Address& address, const Counter* counter,
                   std::size_t dimensions) {
  const auto d = operand.strides.size();
  operand.strides.push_back(counter ? address.function.factor(counter->id) : 0);
  const auto block = counter ? block_of_counter(problem, address, counter->id) : Block();
  if (block.size == 0) return;
  operand.blocks.resize(dimensions);
  operand.blocks[d] = block;
}

const Join* Problem::join_of(int counter) const {
  const auto found = std::find_if(joins.begin(), joins.end(), [&](const Join& join) { return join.inner == counter; });
  return found == joins.end() ? nullptr : &*found;
}

namespace {

/// More problems with joined counters are not looked at.
constexpr std::size_t most_joined_problems = 32;

/// Do \p outer and \p inner stand in \p subscript alone, or as their join does?
bool stands_alone(const std::set<int>& subscript, const Address& address, const Join& join) {
  const bool has_outer = subscript.count(join.outer) != 0, has_inner = subscript.count(join.inner) != 0;
  if (!has_outer || !has_inner) return (!has_outer && !has_inner) || subscript.size() == 1;
  return subscript.size() == 2 &&
         address.function.factor(join.outer) == join.size * address.function.factor(join.inner);
}

bool may_join(const Problem& problem, const Join& join) {
  bool result = true;
  for_each_address(problem, [&](const Address& address) {
    const auto outer = address.function.factor(join.outer), inner = address.function.factor(join.inner);
    result = result && (outer == 0) == (inner == 0) && outer >= inner && inner >= 0;
    for (const auto& subscript : address.together) result = result && stands_alone(subscript, address, join);
  });
  for (const auto& conditions : problem.conditions)
    for (const auto& condition : conditions)
      result = result && condition.factor(join.outer) == join.size * condition.factor(join.inner);
  return result;
}

Problem with_join(Problem problem, const Join& join) {
  const auto counter = [&](int id) {
    return std::find_if(problem.counters.begin(), problem.counters.end(), [&](const auto& c) { return c.id == id; });
  };
  counter(join.inner)->extent *= counter(join.outer)->extent;
  problem.counters.erase(counter(join.outer));
  for_each_address(problem, [&](Address& address) {
    Affine blocks;
    blocks.terms[join.outer] = {1, ""};
    address.function = address.function - blocks * (join.size * address.function.factor(join.inner));
    for (auto& together : address.together)
      if (together.erase(join.outer)) together.insert(join.inner);
  });
  for (auto& conditions : problem.conditions)
    for (auto& condition : conditions) condition.terms.erase(join.outer);
  problem.joins.push_back(join);
  return problem;
}

std::vector<Join> possible_joins(const Problem& problem) {
  std::vector<Join> result;
  for (const auto& outer : problem.counters)
    for (const auto& inner : problem.counters) {
      const Join join{outer.id, inner.id, inner.extent};
      if (outer.id != inner.id && outer.scope == inner.scope && may_join(problem, join)) result.push_back(join);
    }
  return result;
}

}  // namespace

std::vector<Problem> joined_problems(const Problem& problem) {
  const auto joins = possible_joins(problem);
  std::vector<std::pair<Problem, std::size_t>> made{{problem, 0}};  // with the first join that may be added
  for (std::size_t p = 0; p < made.size() && made.size() <= most_joined_problems; ++p)
    for (std::size_t j = made[p].second; j < joins.size(); ++j) {
      const auto has = [&](int id) {
        const auto& counters = made[p].first.counters;
        return !made[p].first.join_of(id) &&
               std::any_of(counters.begin(), counters.end(), [&](const auto& counter) { return counter.id == id; });
      };
      if (has(joins[j].outer) && has(joins[j].inner)) made.emplace_back(with_join(made[p].first, joins[j]), j + 1);
    }
  std::vector<Problem> result;
  for (std::size_t p = 1; p < made.size(); ++p) result.push_back(std::move(made[p].first));
  return result;
}

}  // namespace tc::library
