#include "tc/library/match/problem.h"

#include <algorithm>

namespace tc::library {
namespace {

Address address_of(const Computation& given, std::size_t argument, DType type, const std::vector<Affine>& subscripts) {
  Address address{argument, type, {}, {}, given.arguments[argument].strides};
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    address.function = address.function + subscripts[d] * address.strides[d];
    auto& together = address.together.emplace_back();
    for (const auto& term : subscripts[d].terms) together.insert(term.first);
  }
  return address;
}

template <typename F>
void for_each_address(Problem& problem, F&& visit) {
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
bool run_as_one(Problem& problem, const Counter& outer, const Counter& inner) {
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

}  // namespace tc::library
