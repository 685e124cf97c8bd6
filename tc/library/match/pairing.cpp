#include "tc/library/match/pairing.h"

#include <set>
#include <string>

namespace tc::library {
namespace {

using Pairings = std::vector<Pairing>;

/// More ways are not looked at.
constexpr std::size_t most_pairings = 64;

bool commutes(const std::string& function) {
  static const auto& all = *new std::set<std::string>{"+", "*", "max", "min", "fmax", "fmin"};
  return all.count(function) > 0;
}

Pairing joined(Pairing a, const Pairing& b) {
  a.scopes.insert(a.scopes.end(), b.scopes.begin(), b.scopes.end());
  a.reads.insert(a.reads.end(), b.reads.begin(), b.reads.end());
  a.conditions.insert(a.conditions.end(), b.conditions.begin(), b.conditions.end());
  return a;
}

/// Every way of \p a with every way of \p b.
Pairings both(const Pairings& a, const Pairings& b) {
  Pairings result;
  for (const auto& first : a)
    for (const auto& second : b)
      if (result.size() < most_pairings) result.push_back(joined(first, second));
  return result;
}

Pairings pair_arguments(const std::vector<NodePtr>& given, const std::vector<NodePtr>& routine) {
  Pairings result(1);
  for (std::size_t i = 0; i < given.size(); ++i) result = both(result, pair_up(given[i], routine[i]));
  return result;
}

Pairings pair(const Apply& given, const Apply& routine) {
  if (given.function != routine.function || given.arguments.size() != routine.arguments.size()) return {};
  auto result = pair_arguments(given.arguments, routine.arguments);
  if (given.arguments.size() == 2 && commutes(given.function)) {
    const auto other = pair_arguments({given.arguments[1], given.arguments[0]}, routine.arguments);
    result.insert(result.end(), other.begin(), other.end());
  }
  return result;
}

Pairings pair(const Reduce& given, const Reduce& routine) {
  if (given.op != routine.op) return {};
  Pairing here;
  here.scopes.push_back({given.iterators, routine.iterators});
  here.conditions.push_back({given.conditions, routine.conditions});
  return both({here}, pair_up(given.body, routine.body));
}

Pairings pair(const Guarded& given, const Guarded& routine) {
  Pairing here;
  here.conditions.push_back({given.conditions, routine.conditions});
  return both({here}, both(pair_up(given.value, routine.value), pair_up(given.otherwise, routine.otherwise)));
}

Pairings pair(const Read& given, const Read& routine) {
  Pairing here;
  here.reads.push_back({given, routine});
  return {here};
}

Pairings pair(const Constant& given, const Constant& routine) {
  return given.value == routine.value ? Pairings(1) : Pairings();
}

}  // namespace

std::vector<Pairing> pair_up(const NodePtr& given, const NodePtr& routine) {
  return std::visit(
      [&]<typename T>(const T& own) -> Pairings {
        const auto* other = std::get_if<T>(&routine->value);
        return other ? pair(own, *other) : Pairings();
      },
      given->value);
}

}  // namespace tc::library
