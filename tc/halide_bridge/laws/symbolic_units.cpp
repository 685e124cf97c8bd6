#include "tc/halide_bridge/laws/symbolic_units.h"

#include "tc/base/error.h"
#include "tc/base/fragment_lanes.h"
#include "tc/base/str.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

constexpr const char *load_prefix = "tc_load_matrix_", *multiply_prefix = "tc_multiply_m16n8k",
                     *group_prefix = "tc_multiply_m64n";
constexpr int group_threads = 128, group_rows = 64, group_steps = 16, half_bytes = 2, descriptor_bytes = 16;

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
  return begins(call.name, load_prefix) || begins(call.name, multiply_prefix) || begins(call.name, group_prefix);
}

std::int64_t SymbolicUnits::threads_of(const ir::Call& call) {
  return begins(call.name, group_prefix) ? group_threads : warp;
}

void SymbolicUnits::run(const ir::Call& call, std::int64_t first) {
  if (begins(call.name, group_prefix)) return multiply_group(call, first);
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

/// The symbols of the operand that \p described, tc_matrix(at, leading, stride) + ahead, says: for each of \p along rows of A
/// or columns of B, of each step.
std::vector<std::vector<std::uint64_t>> SymbolicUnits::operand_of_group(const Expr& described, bool transposed,
                                                                        int along, std::int64_t first) {
  const auto* sum = described.as<ir::Add>();
  const auto* matrix = sum ? sum->a.as<ir::Call>() : described.as<ir::Call>();
  if (!matrix || matrix->name != "tc_matrix") broken(str("a matrix unit is given ", described, " as an operand"));
  const auto& begin = pointer(matrix->args[0]);
  const auto number = [&](const Expr& expr, std::int64_t thread) { return access_.number(expr, thread); };
  for (std::int64_t thread = first; thread < first + group_threads; ++thread)
    if (number(begin.index, thread) != number(begin.index, first) ||
        (sum && number(sum->b, thread) != number(sum->b, first)))
      broken(str("threads of a group multiply different matrices of ", begin.name));
  const auto start = number(begin.index, first) * half_bytes + (sum ? number(sum->b, first) * descriptor_bytes : 0);
  std::vector<std::vector<std::uint64_t>> result(static_cast<std::size_t>(along));
  for (int i = 0; i < along; ++i)
    for (int k = 0; k < group_steps; ++k) {
      const auto byte = fragments::byte_of_operand(
          static_cast<unsigned>(start), static_cast<unsigned>(number(matrix->args[1], first)),
          static_cast<unsigned>(number(matrix->args[2], first)), transposed, i, k);
      result[static_cast<std::size_t>(i)].push_back(access_.read(begin.name, byte / half_bytes, first));
    }
  return result;
}

void SymbolicUnits::multiply_group(const ir::Call& call, std::int64_t first) {
  const int columns = std::stoi(call.name.substr(std::string(group_prefix).size()));
  const auto flag = [&](std::size_t i) { return access_.number(call.args[i], first); };
  if (first % group_threads != 0) broken("a group of warps begins in the middle of one");
  const auto a = operand_of_group(call.args[4], flag(2) != 0, group_rows, first),
             b = operand_of_group(call.args[5], flag(3) != 0, columns, first);
  const auto& sum = pointer(call.args[0]);
  for (int thread = 0; thread < group_threads; ++thread) {
    const auto begin = access_.number(sum.index, first + thread);
    for (int i = 0; i < columns / 2; ++i) {
      const auto at = fragments::element_of_group(thread, i);
      const auto address = begin + i / 2 % 2 * flag(1) + i / 4 * 2 + i % 2;
      for (std::size_t k = 0; k < group_steps; ++k) {
        const auto left = a[static_cast<std::size_t>(at.row)][k], right = b[static_cast<std::size_t>(at.column)][k];
        if (left == SymbolicMemory::constant && right == SymbolicMemory::constant) continue;
        access_.write(sum.name, address, {access_.read(sum.name, address, first + thread), left, right},
                      first + thread);
      }
    }
  }
}

}  // namespace tc::halide_bridge
