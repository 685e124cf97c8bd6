#include "tc/library/match/assignment.h"

#include <algorithm>
#include <cmath>

namespace tc::library {
namespace {

/// More ways are not looked at.
constexpr std::size_t most_ways = 4000;

/// The operands that an iterator runs through, the result behind all.
using Signature = std::vector<bool>;

struct Scored {
  Assignment assignment;
  double score = 0;
};

class Search {
 public:
  Search(const Problem& problem, const Pairing& pairing, const Computation& routine, bool loops)
      : problem_(problem), pairing_(pairing), routine_(routine), loops_(loops) {}

  std::vector<Assignment> run() {
    extend(0);
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    std::vector<Assignment> result;
    for (auto& scored : found_) result.push_back(std::move(scored.assignment));
    return result;
  }

 private:
  Signature signature(const Counter& counter) const {
    Signature result;
    for (const auto& address : problem_.reads) result.push_back(address.function.factor(counter.id) != 0);
    result.push_back(problem_.result.function.factor(counter.id) != 0);
    return result;
  }

  Signature routine_signature(int id) const {
    auto runs = [&](const std::vector<Affine>& subscripts) {
      return std::any_of(subscripts.begin(), subscripts.end(), [&](const auto& f) { return f.terms.count(id) != 0; });
    };
    Signature result;
    for (const auto& pair : pairing_.reads) result.push_back(runs(pair.routine.subscripts));
    result.push_back(runs(routine_.written));
    return result;
  }

  const std::vector<int>& candidates(std::size_t scope) const {
    return scope == 0 ? routine_.outer : pairing_.scopes[scope - 1].routine;
  }

  void extend(std::size_t next) {
    if (found_.size() >= most_ways) return;
    if (next == problem_.counters.size()) {
      now_.mismatches = 0;
      for_each_pair([&](int a, const Counter& first, int b, const Counter& second) {
        now_.mismatches += share(first, second) != routine_shares(a, b);
      });
      for (const auto& [id, own] : now_.of_routine) now_.mismatches += skips(own) && !routine_skips(id);
      found_.push_back({now_, score()});
      return;
    }
    const auto& counter = problem_.counters[next];
    const auto wanted = signature(counter);
    for (int id : candidates(counter.scope)) {
      if (now_.of_routine.count(id) || routine_signature(id) != wanted) continue;
      now_.of_routine[id] = counter;
      extend(next + 1);
      now_.of_routine.erase(id);
    }
    if (!loops_ || counter.scope != 0 || is_bounded(counter)) return;
    now_.loops.push_back(counter);
    extend(next + 1);
    now_.loops.pop_back();
  }

  bool is_bounded(const Counter& counter) const {
    for (const auto& conditions : problem_.conditions)
      for (const auto& condition : conditions)
        if (condition.factor(counter.id) != 0) return true;
    return false;
  }

  /// Do \p a and \p b stand in one subscript of a read?
  bool share(const Counter& a, const Counter& b) const {
    for (const auto& address : problem_.reads)
      for (const auto& together : address.together)
        if (together.count(a.id) && together.count(b.id)) return true;
    return false;
  }
  bool routine_shares(int a, int b) const {
    for (const auto& pair : pairing_.reads)
      for (const auto& subscript : pair.routine.subscripts)
        if (subscript.terms.count(a) && subscript.terms.count(b)) return true;
    return false;
  }

  /// Does \p counter run over a dimension of a read tensor with elements between?
  bool skips(const Counter& counter) const {
    return std::any_of(problem_.reads.begin(), problem_.reads.end(), [&](const Address& address) {
      bool found = false;
      for (std::size_t d = 0; d < address.together.size(); ++d) {
        if (!address.together[d].count(counter.id)) continue;
        if (address.function.factor(counter.id) == address.strides[d]) return false;
        found = true;
      }
      return found;
    });
  }
  bool routine_skips(int id) const {
    for (const auto& pair : pairing_.reads)
      for (const auto& subscript : pair.routine.subscripts)
        if (const auto found = subscript.terms.find(id); found != subscript.terms.end() && !found->second.name.empty())
          return true;
    return false;
  }

  template <typename F>
  void for_each_pair(const F& visit) const {
    for (const auto& [a, first] : now_.of_routine)
      for (const auto& [b, second] : now_.of_routine)
        if (a < b) visit(a, first, b, second);
  }

  double score() const {
    double score = -20 * now_.mismatches;
    for (const auto& loop : now_.loops) score -= 1000 + 100 * std::log2(static_cast<double>(loop.extent));
    auto stride = [&](const Counter& c) { return std::abs(problem_.result.function.factor(c.id)); };
    for_each_pair([&](int, const Counter& first, int, const Counter& second) {
      score += 10 + (stride(first) > stride(second) ? 1 : 0);
    });
    return score;
  }

  const Problem& problem_;
  const Pairing& pairing_;
  const Computation& routine_;
  bool loops_;
  Assignment now_;
  std::vector<Scored> found_;
};

}  // namespace

std::vector<Assignment> assignments(const Problem& problem, const Pairing& pairing, const Computation& routine,
                                    bool loops) {
  return Search(problem, pairing, routine, loops).run();
}

}  // namespace tc::library
