#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/base/target_text.h"

namespace tc {
namespace {

using target_text::parse_size;
using target_text::reject;
using target_text::size_text;

/// What differs between architectures. Sizes in KiB, L2 in MiB.
struct Row {
  const char* architecture;
  int multiprocessors, multiprocessor_threads, multiprocessor_blocks, multiprocessor_shared, requested_shared, l2;
  bool asynchronous_copies = true, group_units = false;
};

constexpr Row rows[] = {
    {"sm_75", 40, 1024, 16, 64, 64, 4, false}, {"sm_80", 108, 2048, 32, 164, 163, 40},
    {"sm_86", 84, 1536, 16, 100, 99, 6},       {"sm_87", 16, 1536, 16, 164, 163, 4},
    {"sm_89", 128, 1536, 24, 100, 99, 72},     {"sm_90", 132, 2048, 32, 228, 227, 50, true, true},
    {"sm_100", 148, 2048, 32, 228, 227, 126},  {"sm_103", 148, 2048, 32, 228, 227, 126},
    {"sm_110", 20, 1536, 24, 228, 227, 32},    {"sm_120", 170, 1536, 24, 100, 99, 96},
    {"sm_121", 48, 1536, 24, 100, 99, 24},
};

/// The row of "sm_90", or of "sm_90a" and "sm_90f", which allow what only this architecture has.
const Row* find_row(std::string_view architecture) {
  if (!architecture.empty() && (architecture.back() == 'a' || architecture.back() == 'f'))
    architecture.remove_suffix(1);
  for (const Row& row : rows)
    if (row.architecture == architecture) return &row;
  return nullptr;
}

std::string known_architectures() {
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.architecture);
  return join(names);
}

/// A limit that a text may set, up to `most`.
struct Field {
  std::string_view key;
  std::int64_t GridLimits::* limit;
  std::int64_t most;
};

constexpr Field fields[] = {
    {"multiprocessors", &GridLimits::multiprocessors, 1 << 16},
    {"threads", &GridLimits::block_threads, 1024},
    {"resident_threads", &GridLimits::multiprocessor_threads, 1 << 16},
    {"resident_blocks", &GridLimits::multiprocessor_blocks, 1 << 16},
    {"registers", &GridLimits::multiprocessor_registers, 1 << 24},
    {"thread_registers", &GridLimits::thread_registers, 255},
    {"shared", &GridLimits::block_shared_bytes_requested, 1 << 20},
    {"static_shared", &GridLimits::block_shared_bytes, 1 << 20},
    {"multiprocessor_shared", &GridLimits::multiprocessor_shared_bytes, 1 << 20},
    {"l2", &GridLimits::l2_bytes, std::int64_t{1} << 40},
};

void apply_cuda_field(Target& target, std::string_view whole, const std::string& text) {
  auto equals = text.find('=');
  std::string key = text.substr(0, equals);
  if (equals == std::string::npos) reject(whole, str("unknown word '", key, "'"));
  auto value = parse_size(whole, text.substr(equals + 1));
  if (key == "vectors") {
    if (value > 16 || (value & (value - 1)) != 0) reject(whole, str("'", value, "' is no power of two up to 16"));
    target.widest_vector = value == 16 ? 64 : static_cast<int>(value);
    return;
  }
  for (const Field& field : fields) {
    if (key != field.key) continue;
    if (value > field.most) reject(whole, str("'", key, "' is at most ", field.most));
    (*target.grid).*field.limit = value;
    return;
  }
  reject(whole, str("unknown field '", key, "'"));
}

void check(std::string_view whole, const GridLimits& grid) {
  if (grid.block_threads < grid.warp_size)
    reject(whole, str("a block has room for a warp of ", grid.warp_size, " threads at least"));
  if (grid.block_shared_bytes > grid.block_shared_bytes_requested) reject(whole, "'static_shared' is at most 'shared'");
}

}  // namespace

GridLimits GridLimits::of(std::string_view architecture) {
  const Row* row = find_row(architecture);
  if (!row) throw OptionsError(str("no architecture '", architecture, "' is known, but ", known_architectures()));
  GridLimits grid;
  grid.architecture = architecture;
  grid.multiprocessors = row->multiprocessors;
  grid.multiprocessor_threads = row->multiprocessor_threads;
  grid.multiprocessor_blocks = row->multiprocessor_blocks;
  grid.multiprocessor_shared_bytes = std::int64_t{row->multiprocessor_shared} << 10;
  grid.block_shared_bytes_requested = std::int64_t{row->requested_shared} << 10;
  grid.reserved_shared_bytes = row->multiprocessor_shared == row->requested_shared ? 0 : 1 << 10;
  grid.l2_bytes = std::int64_t{row->l2} << 20;
  grid.asynchronous_copies = grid.matrix_units = row->asynchronous_copies;
  grid.group_units = row->group_units;
  return grid;
}

namespace target_text {

Target parse_cuda(std::string_view text, const std::vector<std::string>& parts) {
  const std::string& architecture = parts.front();
  if (!find_row(architecture))
    reject(text, str(architecture.empty() ? "it has no architecture" : str("no architecture '", architecture, "'"),
                     "; known are ", known_architectures()));
  Target target;
  target.grid = GridLimits::of(architecture);
  for (std::size_t i = 1; i < parts.size(); ++i) apply_cuda_field(target, text, parts[i]);
  check(text, *target.grid);
  return target;
}

std::string print_cuda(const Target& target) {
  const auto& grid = *target.grid;
  auto usual = GridLimits::of(grid.architecture);
  auto text = str("cuda:", grid.architecture, ",multiprocessors=", grid.multiprocessors);
  for (const Field& field : fields) {
    auto value = grid.*field.limit;
    if (value != usual.*field.limit && field.key != "multiprocessors")
      text += str(",", field.key, "=", size_text(value));
  }
  if (target.widest_vector < 16) text += str(",vectors=", target.widest_vector);
  return text;
}

}  // namespace target_text
}  // namespace tc
