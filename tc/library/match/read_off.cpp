#include "tc/library/match/read_off.h"

#include <algorithm>
#include <numeric>

namespace tc::library {
namespace {

/// Rounded towards minus infinity, and plus.
std::int64_t divided_down(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
std::int64_t divided_up(std::int64_t a, std::int64_t b) { return -divided_down(-a, b); }

struct Bounds {
  std::int64_t low = 0, high = 0;
};

class Reader {
 public:
  Reader(const Problem& problem, const Pairing& pairing, const Computation& routine, const Assignment& assignment)
      : problem_(problem), pairing_(pairing), routine_(routine), assignment_(assignment) {}

  std::optional<Call> run() {
    const auto params = routine_.sizes.size();
    call_.operands.resize(params + 1);
    std::vector<bool> seen(params + 1, false);
    for (const auto& loop : assignment_.loops) call_.loops.push_back(loop.extent);
    for (int id : iterators_run(routine_))
      if (!set(routine_.iterators[static_cast<std::size_t>(id)].size, extent(id))) return std::nullopt;
    for (std::size_t r = 0; r < problem_.reads.size(); ++r) {
      const auto& read = pairing_.reads[r].routine;
      auto operand = operand_of(problem_.reads[r], read.subscripts, read.argument);
      if (!operand) return std::nullopt;
      auto& place = call_.operands[std::min(read.argument, params)];
      if (seen[std::min(read.argument, params)] && !(place == *operand)) return std::nullopt;
      seen[std::min(read.argument, params)] = true;
      place = std::move(*operand);
    }
    auto result = operand_of(problem_.result, routine_.written, params);
    if (!result || (seen[params] && !(call_.operands[params] == *result))) return std::nullopt;
    call_.operands[params] = std::move(*result);
    return std::move(call_);
  }

 private:
  std::int64_t extent(int id) const {
    const auto found = assignment_.of_routine.find(id);
    return found == assignment_.of_routine.end() ? 1 : found->second.extent;
  }
  const Counter* counter_of(int id) const {
    const auto found = assignment_.of_routine.find(id);
    return found == assignment_.of_routine.end() ? nullptr : &found->second;
  }
  std::int64_t factor(const Address& address, int id) const {
    const auto* counter = counter_of(id);
    return counter ? address.function.factor(counter->id) : 0;
  }

  /// Gives \p name a number; false where it has another one.
  bool set(const std::string& name, std::int64_t number) {
    return name.empty() || call_.numbers.emplace(name, number).first->second == number;
  }

  std::optional<Operand> operand_of(const Address& address, const std::vector<Affine>& subscripts,
                                    std::size_t argument) {
    Operand operand{address.argument, address.type, address.function.constant, {}, {}};
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      const auto& terms = subscripts[d].terms;
      const bool plain = terms.size() == 1 && terms.begin()->second == Factor{1, ""} && subscripts[d].names.empty() &&
                         subscripts[d].constant == 0;
      if (plain) {
        add_dimension(operand, problem_, address, counter_of(terms.begin()->first), subscripts.size());
      } else if (is_in_blocks(address, subscripts[d])) {
        return std::nullopt;
      } else {
        const auto stride = add_window(address, subscripts[d], routine_.sizes.at(argument).at(d), operand.offset);
        if (!stride) return std::nullopt;
        operand.strides.push_back(*stride);
      }
    }
    for (const auto& loop : assignment_.loops) {
      if (block_of_counter(problem_, address, loop.id).size != 0) return std::nullopt;
      operand.steps.push_back(address.function.factor(loop.id));
    }
    return operand;
  }
  bool is_in_blocks(const Address& address, const Affine& subscript) const {
    return std::any_of(subscript.terms.begin(), subscript.terms.end(), [&](const auto& term) {
      const auto* counter = counter_of(term.first);
      return counter && block_of_counter(problem_, address, counter->id).size != 0;
    });
  }

  /// The dimension of the tensor that a window runs along, of which all factors are multiples; its stride alone where it is none.
  struct WindowDimension {
    std::int64_t stride = 1, extent = 0;
  };
  WindowDimension window_dimension(const Address& address, const Affine& subscript) const {
    std::int64_t common = 0;
    for (const auto& [id, factor] : subscript.terms) common = std::gcd(common, this->factor(address, id));
    for (const auto& [id, factor] : subscript.terms) {
      const auto found = assignment_.of_routine.find(id);
      if (found == assignment_.of_routine.end()) continue;
      for (std::size_t d = 0; d < address.together.size(); ++d)
        if (const auto own = address.strides[d];
            own > 0 && address.together[d].count(found->second.id) && common % own == 0)
          return {own, address.extents[d]};
    }
    return {std::max<std::int64_t>(common, 1)};
  }

  /// The elements of a dimension of which windows \p along touch \p touched: all that the tensor has, if no more windows would fit.
  std::int64_t whole_extent(std::int64_t touched, std::int64_t extent, const Affine& along) const {
    std::int64_t step = 1;  // from window to window
    for (const auto& counter : problem_.counters)
      if (counter.scope == 0) step = std::max(step, along.factor(counter.id));
    return touched < extent && extent - touched < step ? extent : touched;
  }

  /// Sets what \p subscript names, and the size of its dimension; its stride. Moves \p offset to where it begins.
  std::optional<std::int64_t> add_window(const Address& address, const Affine& subscript, const std::string& size,
                                         std::int64_t& offset) {
    const auto dimension = window_dimension(address, subscript);
    const auto stride = dimension.stride;
    Affine along;
    for (const auto& [id, own] : subscript.terms) {
      const auto number = factor(address, id) / stride;
      if (number < 0) return std::nullopt;
      if (number != 0) along.terms[assignment_.of_routine.at(id).id] = {number, ""};
      const bool is_there = assignment_.of_routine.count(id) != 0;
      if (own.name.empty() ? is_there && number != own.number : !set(own.name, is_there ? number : 1))
        return std::nullopt;
    }
    const auto bounds = bounds_of(along);
    if (subscript.names.size() > 1) return std::nullopt;
    for (const auto& [name, number] : subscript.names)
      if (number != -1 || !set(name, bounds.low)) return std::nullopt;
    if (subscript.names.empty() && bounds.low != 0) return std::nullopt;
    const auto touched = bounds.high - bounds.low + 1;
    const bool is_bounded = bounds.high != largest(along) || bounds.low != 0 || address.function.constant != 0;
    if (!set(size, is_bounded ? touched : whole_extent(touched, dimension.extent, along))) return std::nullopt;
    offset += stride * bounds.low;
    return stride;
  }

  std::int64_t largest(const Affine& along) const {
    std::int64_t result = 0;
    for (const auto& counter : problem_.counters) result += along.factor(counter.id) * (counter.extent - 1);
    return result;
  }

  /// What \p along takes, where conditions on multiples of it hold.
  Bounds bounds_of(const Affine& along) const {
    Bounds result{0, largest(along)};
    for (const auto& conditions : problem_.conditions)
      for (const auto& condition : conditions) {
        const auto times = quotient(condition, along);
        if (times > 0) result.low = std::max(result.low, divided_up(-condition.constant, times));
        if (times < 0) result.high = std::min(result.high, divided_down(condition.constant, -times));
      }
    result.high = std::max(result.high, result.low);
    return result;
  }

  /// How many times \p along the terms of \p condition are; 0: not a multiple of it.
  static std::int64_t quotient(const Affine& condition, const Affine& along) {
    if (along.terms.empty() || condition.terms.size() != along.terms.size()) return 0;
    const auto first = along.terms.begin();
    const auto times = condition.factor(first->first) / first->second.number;
    for (const auto& [id, factor] : along.terms)
      if (condition.factor(id) != times * factor.number) return 0;
    return times;
  }

  const Problem& problem_;
  const Pairing& pairing_;
  const Computation& routine_;
  const Assignment& assignment_;
  Call call_;
};

}  // namespace

std::optional<Call> read_off(const Problem& problem, const Pairing& pairing, const Computation& routine,
                             const Assignment& assignment) {
  return Reader(problem, pairing, routine, assignment).run();
}

}  // namespace tc::library
