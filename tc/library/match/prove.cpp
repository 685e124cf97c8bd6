#include "tc/library/match/prove.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::library {
namespace {

class Prover {
 public:
  Prover(const Problem& problem, const std::vector<Join>& joins, const Pairing& pairing, const Computation& routine,
         const Assignment& assignment, const Call& call)
      : problem_(problem), joins_(joins), pairing_(pairing), routine_(routine), assignment_(assignment), call_(call) {
    for (std::size_t i = 0; i < routine.iterators.size(); ++i) {
      const auto found = assignment.of_routine.find(static_cast<int>(i));
      values_[static_cast<int>(i)] = found == assignment.of_routine.end() ? Affine() : value_of(found->second);
    }
  }

  bool run() const {
    for (int id : iterators_run(routine_))
      if (!has_extent(id)) return false;
    for (std::size_t r = 0; r < problem_.reads.size(); ++r) {
      const auto& read = pairing_.reads[r].routine;
      const auto& operand = call_.operands.at(std::min(read.argument, routine_.sizes.size()));
      if (!is_same(problem_.reads[r], operand, read.subscripts)) return false;
    }
    if (!is_same(problem_.result, call_.result(), routine_.written)) return false;
    std::size_t next = 0;
    for (const auto& op : call_.post_ops)
      if (op.operand && !is_same(problem_.post_ops.at(next++), *op.operand, routine_.written)) return false;
    for (std::size_t c = 0; c < problem_.conditions.size(); ++c)
      if (!have_same_instances(problem_.conditions[c], pairing_.conditions[c].routine)) return false;
    return true;
  }

 private:
  /// Does an iterator of the routine run through what the user's does, or once where none does?
  bool has_extent(int id) const {
    const auto& size = routine_.iterators[static_cast<std::size_t>(id)].size;
    const auto found = assignment_.of_routine.find(id);
    const std::int64_t given = found == assignment_.of_routine.end() ? 1 : found->second.extent;
    const auto number = call_.numbers.find(size);
    return number != call_.numbers.end() && number->second == given;
  }
  /// \p counter of the assignment in those of the problem.
  Affine value_of(const Counter& counter) const {
    Affine value;
    value.terms[counter.id] = {1, ""};
    for (const auto& join : joins_)
      if (join.inner == counter.id) value.terms[join.outer] = {join.size, ""};
    return value;
  }
  /// \p function of the routine, for the numbers of the call and the iterators of the user's def.
  Affine translated(const Affine& function) const { return substitute(with_numbers(function, call_.numbers), values_); }

  std::string names() const {
    std::vector<std::string> result;
    for (const auto& counter : problem_.counters) result.push_back(str("i", counter.id));
    return str("[", join(result), "]");
  }
  /// The instances under \p conditions, in isl's words.
  std::string instances(const Conditions& conditions) const {
    std::vector<std::string> result{"true"};
    for (const auto& counter : problem_.counters) result.push_back(str("0 <= i", counter.id, " < ", counter.extent));
    for (const auto& condition : conditions) result.push_back(str(to_string(condition), " >= 0"));
    return join(result, " and ");
  }
  isl::map map(const std::string& address) const {
    return isl::map(context_, str("{ ", names(), " -> [", address, "] : ", instances({}), " }"));
  }

  bool is_same(const Address& given, const Operand& operand, const std::vector<Affine>& subscripts) const {
    if (given.argument != operand.argument || given.type != operand.type) return false;
    Affine address;
    address.constant = operand.offset;
    std::string in_blocks;
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      const auto index = translated(subscripts[d]);
      const auto block = operand.block(d);
      address = address + index * operand.strides.at(d);
      if (block.size == 0) continue;
      const auto step = block.stride - block.size * operand.strides.at(d);
      if (const auto number = block_number(index, block.size))
        address = address + *number * step;
      else
        in_blocks += str(" + ", step, "*floor((", to_string(index), ")/", block.size, ")");
    }
    for (std::size_t l = 0; l < assignment_.loops.size(); ++l)
      address = address + value_of(assignment_.loops[l]) * operand.steps.at(l);
    if (in_blocks.empty() && address == given.function) return true;
    return map(to_string(given.function)).is_equal(map(to_string(address) + in_blocks));
  }

  /// floor(\p index / \p size) where \p index is a join of counters in blocks of this size; nothing where isl must tell.
  std::optional<Affine> block_number(const Affine& index, std::int64_t size) const {
    for (const auto& join : joins_)
      if (join.size == size && index == value_of({join.inner}) && extent_of(join.inner) == size) {
        Affine outer;
        outer.terms[join.outer] = {1, ""};
        return outer;
      }
    return std::nullopt;
  }
  std::int64_t extent_of(int counter) const {
    for (const auto& own : problem_.counters)
      if (own.id == counter) return own.extent;
    return 0;
  }

  bool have_same_instances(const Conditions& given, const Conditions& routine) const {
    Conditions translation;
    for (const auto& condition : routine) translation.push_back(translated(condition));
    if (given == translation) return true;
    auto set = [&](const Conditions& conditions) {
      return isl::set(context_, str("{ ", names(), " : ", instances(conditions), " }"));
    };
    return set(given).is_equal(set(translation));
  }

  const Problem& problem_;
  const std::vector<Join>& joins_;
  const Pairing& pairing_;
  const Computation& routine_;
  const Assignment& assignment_;
  const Call& call_;
  polyhedral::Context context_;
  std::map<int, Affine> values_;
};

}  // namespace

bool prove(const Problem& problem, const std::vector<Join>& joins, const Pairing& pairing, const Computation& routine,
           const Assignment& assignment, const Call& call) {
  return Prover(problem, joins, pairing, routine, assignment, call).run();
}

}  // namespace tc::library
