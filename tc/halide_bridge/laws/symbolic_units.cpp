#include "tc/halide_bridge/laws/symbolic_units.h"

#include "tc/base/error.h"
#include "tc/base/fragment_lanes.h"
#include "tc/base/str.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

constexpr const char *load_prefix = "tc_load_matrix_", *multiply_prefix = "tc_multiply_m16n8k";

bool begins(const std::string& name, const char* prefix) { return name.rfind(prefix, 0) == 0; }

/// Of an element of the operands of an instruction.
int bits_of(const std::string& function) {
  if (function.ends_with("tf32")) return 32;
  return function.ends_with("f16") ? 16 : 8;
}

const ir::Load& pointer(const Expr& argument) {
  const auto* load = argument.as<ir::Load>();
  if (!load) broken(str("a matrix unit is given ", argument, " in the place of an element"));
  return *load;
}

}  // namespace

void broken(const std::string& what) { throw InternalError(str("law 'body accesses' is broken: ", what)); }

bool SymbolicUnits::is_unit(const ir::Call& call) {
  return begins(call.name, load_prefix) || begins(call.name, multiply_prefix);
}

void SymbolicUnits::run(const ir::Call& call, std::int64_t first) {
  begins(call.name, load_prefix) ? load(call, first) : multiply(call, first);
}

void SymbolicUnits::forget(const std::string& fragment, std::int64_t thread) { words_.erase({fragment, thread}); }

void SymbolicUnits::load(const ir::Call& call, std::int64_t first) {
  const int count = call.name[std::string(load_prefix).size()] - '0';
  const bool transposed = call.name.ends_with("_transposed");
  const auto &to = pointer(call.args[0]), &row = pointer(call.args[1]);
  const int bits = row.type.bits(), each = 32 / bits;
  if (transposed && bits != 16) broken(str("a load of matrices transposes elements of ", bits, " bits"));
  std::vector<std::int64_t> rows;
  for (int lane = 0; lane < 8 * count; ++lane) {
    rows.push_back(access_.number(row.index, first + lane));
    if (rows.back() % (4 * each) != 0)
      broken(
          str("a load of matrices takes a row at ", row.name, "[", rows.back(), "], which is not aligned to 16 bytes"));
  }
  for (int lane = 0; lane < warp; ++lane) {
    const auto at = access_.number(to.index, first + lane);
    for (int i = 0; i < count; ++i) {
      Word word;
      for (int e = 0; e < each; ++e) {
        const auto place = fragments::element_of_matrix(bits, lane, e, transposed);
        const auto begin = rows[static_cast<std::size_t>(8 * i + place.row)];
        word.push_back(access_.read(row.name, begin + place.column, first + lane));
      }
      words_[{to.name, first + lane}][at + i] = std::move(word);
    }
  }
}

/// Element \p i of the words of \p thread that begin at \p fragment.
std::uint64_t SymbolicUnits::element(const Expr& fragment, std::int64_t thread, int i, int bits) {
  const auto& begin = pointer(fragment);
  const auto each = static_cast<std::size_t>(32 / bits), number = static_cast<std::size_t>(i);
  const auto at = access_.number(begin.index, thread) + static_cast<std::int64_t>(number / each);
  const auto& words = words_[{begin.name, thread}];
  const auto found = words.find(at);
  if (found == words.end())
    broken(str("a matrix unit multiplies ", begin.name, "[", at, "], which nothing has loaded"));
  if (found->second.size() != each) broken(str(begin.name, "[", at, "] holds elements of another type"));
  return found->second[number % each];
}

/// Each element of C takes its products in the order of the steps, as the statement does. A step of which both factors are
/// constants adds nothing: tiles are filled with zeros.
void SymbolicUnits::multiply(const ir::Call& call, std::int64_t first) {
  const int bits = bits_of(call.name), steps = fragments::steps(bits);
  std::map<std::pair<int, int>, std::uint64_t> a, b;
  for (int lane = 0; lane < warp; ++lane) {
    for (int i = 0; i < fragments::count_of_a(bits); ++i) {
      const auto at = fragments::element_of_a(bits, lane, i);
      a[{at.row, at.column}] = element(call.args[4], first + lane, i, bits);
    }
    for (int i = 0; i < fragments::count_of_b(bits); ++i) {
      const auto at = fragments::element_of_b(bits, lane, i);
      b[{at.row, at.column}] = element(call.args[5], first + lane, i, bits);
    }
  }
  for (int lane = 0; lane < warp; ++lane)
    for (int i = 0; i < 4; ++i) {
      const auto& sum = pointer(call.args[static_cast<std::size_t>(i)]);
      const auto at = fragments::element_of_c(lane, i);
      const auto thread = first + lane, address = access_.number(sum.index, thread);
      for (int k = 0; k < steps; ++k) {
        const auto left = a[{at.row, k}], right = b[{k, at.column}];
        if (left == SymbolicMemory::constant && right == SymbolicMemory::constant) continue;
        access_.write(sum.name, address, {access_.read(sum.name, address, thread), left, right}, thread);
      }
    }
}

}  // namespace tc::halide_bridge
