#include "tc/lang/interpret/program_order.h"

#include <cstdint>
#include <vector>

namespace tc::lang {
namespace {

/// The range [value, value + 1).
Range one_value(std::int64_t value) {
  const auto literal = [](std::int64_t number) {
    return make_expr(IntLiteral{static_cast<std::uint64_t>(number)}, {}, DType::Int64);
  };
  const ExprPtr low = value < 0 ? make_expr(Unary{UnaryOp::Negate, literal(-value)}, {}, DType::Int64) : literal(value);
  return {low, literal(1)};
}

class OrderedRun {
 public:
  OrderedRun(const Def& def, const Ranges& ranges, const SizeMap& sizes,
             const std::function<void(std::size_t, const std::map<std::string, Range>&)>& visit)
      : def_(def), ranges_(ranges), sizes_(sizes), visit_(visit), iterations_(ranges.statements) {}

  /// Statements \p first to \p last, all in the same \p depth loops, of which an iteration is at hand.
  void run(std::size_t first, std::size_t last, std::size_t depth) {
    for (std::size_t i = first, next = i; i < last; i = next) {
      next = i + 1;
      if (def_.statements[i].loops.size() == depth) {
        visit_(i, iterations_[i]);
        continue;
      }
      while (next < last && common_loops(def_.statements[i], def_.statements[next]) > depth) ++next;
      run_loop(i, next, depth);
    }
  }

 private:
  /// The iterations of the loop around statements \p first to \p last.
  void run_loop(std::size_t first, std::size_t last, std::size_t depth) {
    const auto iterator = [&](std::size_t s) { return def_.statements[s].loops[depth].iterator; };
    const auto whole = evaluate_box({ranges_.statements[first].at(iterator(first))}, sizes_)[0];
    for (std::int64_t value = whole.min; value < whole.min + whole.extent; ++value) {
      for (std::size_t s = first; s < last; ++s) iterations_[s].at(iterator(s)) = one_value(value);
      run(first, last, depth + 1);
    }
  }

  const Def& def_;
  const Ranges& ranges_;
  const SizeMap& sizes_;
  const std::function<void(std::size_t, const std::map<std::string, Range>&)>& visit_;
  std::vector<std::map<std::string, Range>> iterations_;  ///< of each statement, those of the iteration at hand
};

}  // namespace

void in_program_order(const Def& def, const Ranges& ranges, const SizeMap& sizes,
                      const std::function<void(std::size_t, const std::map<std::string, Range>&)>& run) {
  OrderedRun(def, ranges, sizes, run).run(0, def.statements.size(), 0);
}

}  // namespace tc::lang
