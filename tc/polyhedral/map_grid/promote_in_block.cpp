#include "tc/polyhedral/map_grid/promote_in_block.h"

#include <algorithm>
#include <optional>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map/contract.h"
#include "tc/polyhedral/map_grid/pipeline_copies.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::polyhedral {
namespace {

/// The runs a thread may have of a dimension.
constexpr std::int64_t runs[] = {1, 2, 4, 8, 16};

isl::pw_aff floor_of(const isl::pw_aff& value, std::int64_t divisor) {
  auto scaled = call(value.ctx(), isl_pw_aff_scale_down_val, value.copy(), isl::val(value.ctx(), divisor).release());
  return call(value.ctx(), isl_pw_aff_floor, scaled.copy());
}
isl::pw_aff mod(const isl::pw_aff& value, std::int64_t divisor) {
  return call(value.ctx(), isl_pw_aff_mod_val, value.copy(), isl::val(value.ctx(), divisor).release());
}

/// How a dimension of a buffer is spread: index p is in the thread floor(p / run) mod threads of some dimension of the
/// block, and in the warp floor(p / warp_run) mod warps of some dimension, if there are several.
struct Spread {
  std::int64_t run = 1, threads = 1;
  std::int64_t warp_run = 1, warps = 1;

  std::int64_t extent(std::int64_t whole) const {
    auto round = run * threads;
    if (warps > 1) whole = ceil_div(whole, warp_run * warps) * warp_run;
    return whole <= run ? whole : ceil_div(whole, round) * run;
  }
  isl::pw_aff place(const isl::pw_aff& index, std::int64_t whole) const {
    auto within = run > 1 ? mod(index, run) : index.sub(index);
    if (whole <= run * threads) return within;
    auto round = floor_of(warps > 1 ? mod(index, warp_run) : index, run * threads);
    if (warps > 1 && whole > warp_run * warps) {
      auto tiles = isl::val(index.ctx(), warp_run / (run * threads));
      round = round.add(
          call(index.ctx(), isl_pw_aff_scale_val, floor_of(index, warp_run * warps).release(), tiles.release()));
    }
    return call(index.ctx(), isl_pw_aff_scale_val, round.copy(), isl::val(index.ctx(), run).release()).add(within);
  }
};

class BufferPlacer {
 public:
  BufferPlacer(Scop& scop, const BlockThreads& threads)
      : scop_(scop), where_(threads.where), block_(threads.block), digits_(threads.digits) {}

  /// Does each element of \p buffer belong to one thread in each execution of the node \p inside?
  bool is_of_threads(const std::string& buffer, const isl::schedule_node& inside) const {
    auto all = isl::union_map::empty(scop_.ctx()), writes = all;
    for (const auto& statement : scop_.statements) {
      for (const auto* access : accesses(statement)) {
        if (!uses(*access, buffer)) continue;
        auto map = access->function.as_map().intersect_domain(statement.domain).to_union_map();
        all = all.unite(map);
        if (access == &statement.write) writes = writes.unite(map);
      }
    }
    auto pairs = writes.apply_range(all.reverse());
    auto prefix = call(scop_.ctx(), isl_schedule_node_get_prefix_schedule_multi_union_pw_aff, inside.get());
    if (prefix.size() > 0)
      pairs = call(scop_.ctx(), isl_union_map_eq_at_multi_union_pw_aff, pairs.copy(), prefix.copy());
    return across_threads(pairs, where_).is_empty();
  }

  /// Makes \p buffer what one thread has of it. False where that is more than \p most elements.
  bool keep_in_registers(const std::string& buffer, std::int64_t most) {
    auto& tensor = scop_.tensor(buffer);
    std::vector<std::optional<Spread>> spreads;
    auto extent = tensor.extent;
    std::int64_t count = 1;
    for (std::size_t i = 0; i < extent.size(); ++i) {
      spreads.push_back(spread_of(buffer, static_cast<int>(i)));
      if (spreads[i]) extent[i] = spreads[i]->extent(extent[i]);
      count *= extent[i];
    }
    if (count > most) return false;
    for (auto& statement : scop_.statements)
      for (auto* access : accesses(statement))
        if (uses(*access, buffer))
          access->function = compact(access->function, tensor.extent, spreads).gist(statement.domain);
    tensor.extent = extent;
    tensor.strides = row_major(extent);
    tensor.in_registers = true;
    return true;
  }

 private:
  static bool uses(const Access& access, const std::string& buffer) {
    return !access.function.is_null() && range_name(access.function) == buffer;
  }

  std::optional<Spread> spread_of(const std::string& buffer, int dimension) const {
    for (const auto& loop : digits_)
      if (has_digits(buffer, dimension, loop))
        return Spread{loop.lane.step, loop.lane.count, loop.warp.step, loop.warp.count};
    for (int axis = 0; axis < 3; ++axis)
      for (auto run : runs)
        if (block_[axis] > 1 && is_spread(buffer, dimension, axis, run)) return Spread{run, block_[axis]};
    return std::nullopt;
  }

  bool is_spread(const std::string& buffer, int dimension, int axis, std::int64_t run) const {
    return is_coordinate(buffer, dimension, axis,
                         [&](const isl::pw_aff& index) { return mod(floor_of(index, run), block_[axis]); });
  }

  /// Is the thread of each access to \p buffer the one that \p digits give to its index number \p dimension?
  bool has_digits(const std::string& buffer, int dimension, const WarpDigits& digits) const {
    const auto& [lane, warp] = digits;
    auto value = [](const WarpDigits::Digit& digit, const isl::pw_aff& index) {
      return mod(floor_of(index, digit.step), digit.count);
    };
    auto along_lanes = [&](const isl::pw_aff& index) { return value(lane, index); };
    auto along_warps = [&](const isl::pw_aff& index) { return value(warp, index); };
    if (warp.dimension != lane.dimension)
      return is_coordinate(buffer, dimension, lane.dimension, along_lanes) &&
             is_coordinate(buffer, dimension, warp.dimension, along_warps);
    return is_coordinate(buffer, dimension, lane.dimension, [&](const isl::pw_aff& index) {
      auto count = isl::val(index.ctx(), lane.count);
      return along_lanes(index).add(
          call(index.ctx(), isl_pw_aff_scale_val, along_warps(index).release(), count.release()));
    });
  }

  /// Is the coordinate \p axis of the thread of each access to \p buffer \p coordinate of its index number \p dimension?
  template <typename Coordinate>
  bool is_coordinate(const std::string& buffer, int dimension, int axis, const Coordinate& coordinate) const {
    for (const auto& statement : scop_.statements)
      for (const auto* access : accesses(statement)) {
        if (!uses(*access, buffer)) continue;
        auto difference = coordinate(access->function.at(dimension)).sub(where_.thread(statement, axis));
        auto same = call(scop_.ctx(), isl_pw_aff_zero_set, difference.copy());
        if (!statement.domain.is_subset(same)) return false;
      }
    return true;
  }

  static isl::pw_multi_aff compact(const isl::pw_multi_aff& function, const std::vector<std::int64_t>& extent,
                                   const std::vector<std::optional<Spread>>& spreads) {
    auto result = function;
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      int position = static_cast<int>(i);
      if (!spreads[i]) continue;
      auto place = spreads[i]->place(function.at(position), extent[i]);
      result = call(function.ctx(), isl_pw_multi_aff_set_pw_aff, result.copy(), static_cast<unsigned>(position),
                    place.copy());
    }
    return result;
  }

  Scop& scop_;
  const Coordinates& where_;
  const std::array<std::int64_t, 3>& block_;
  const std::vector<WarpDigits>& digits_;
};

std::int64_t bytes(const Tensor& tensor) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < tensor.extent.size(); ++i)
    last += (std::max<std::int64_t>(tensor.extent[i], 1) - 1) * tensor.strides[i];
  return (last + 1) * byte_size(tensor.type);
}

/// Strides with dimension \p contiguous last.
std::vector<std::int64_t> strides_with(const std::vector<std::int64_t>& extent, std::size_t contiguous) {
  std::vector<std::int64_t> strides(extent.size(), 1);
  std::int64_t size = extent[contiguous];
  for (std::size_t i = extent.size(); i-- > 0;) {
    if (i == contiguous) continue;
    strides[i] = size;
    size *= extent[i];
  }
  return strides;
}

/// Gives \p buffer, of the tensor of \p choice in \p before, a first dimension of \p choice.slots slots, which blocks of
/// \p choice.along take in turn.
///
///   before  block_A[m, k]      after  block_A[floor(k/16) mod 2, m, k mod 16]
void add_slots(Scop& scop, const Scop& before, const std::string& buffer, const GridBuffer& choice) {
  auto& tensor = scop.tensor(buffer);
  for (auto& statement : scop.statements) {
    const auto of_tensor = accesses(before.statement(statement.id));
    const auto of_buffer = accesses(statement);
    for (std::size_t i = 0; i < of_buffer.size(); ++i) {
      auto* access = of_buffer[i];
      if (access->function.is_null() || range_name(access->function) != buffer) continue;
      auto index = of_tensor[i]->function.at(choice.along);
      auto rest = mod(index, choice.size), slot = mod(floor_of(index, choice.size), choice.slots);
      auto inner = call(scop.ctx(), isl_pw_multi_aff_set_pw_aff, access->function.copy(),
                        static_cast<unsigned>(choice.along), rest.copy());
      auto place = call(scop.ctx(), isl_pw_multi_aff_from_pw_aff, slot.copy()).flat_range_product(inner);
      access->function = place.set_range_tuple(buffer).gist(statement.domain);
    }
  }
  auto& extent = tensor.extent.at(static_cast<std::size_t>(choice.along));
  extent = std::min(extent, choice.size);
  tensor.extent.insert(tensor.extent.begin(), choice.slots);
  tensor.min.insert(tensor.min.begin(), 0);
  tensor.strides = row_major(tensor.extent);
}

/// \p scop with the temporary of \p choice in a buffer, or as it was.
Scop promote(const Scop& scop, const std::vector<int>& inside, const GridBuffer& choice, const BlockThreads& threads,
             BlockMemory& memory) {
  const auto& name = choice.tensor;
  auto contracted = contract_one(scop, inside, name);
  if (!contracted) return scop;
  auto& result = contracted->scop;
  auto buffer = result.tensors.back().name;
  BufferPlacer placer(result, threads);
  if (!contracted->takes_turns && placer.is_of_threads(buffer, node_at(scop.schedule, inside)))
    return placer.keep_in_registers(buffer, memory.thread_elements) ? result : scop;
  bool slotted = choice.along >= 0;
  if (slotted) add_slots(result, scop, buffer, choice);
  auto& tensor = result.tensors.back();
  if (choice.contiguous >= 0)
    tensor.strides = strides_with(tensor.extent, static_cast<std::size_t>(choice.contiguous + slotted));
  auto size = bytes(tensor);
  if (size > memory.shared_bytes) return scop;
  memory.shared_bytes -= size;
  tensor.shared = true;
  return result;
}

}  // namespace

Scop promote_in_block(const Scop& scop, const std::vector<int>& inside, const std::vector<std::string>& names,
                      const BlockThreads& threads, BlockMemory& memory) {
  auto result = scop;
  for (const auto& name : names) result = promote(result, inside, {name, {}}, threads, memory);
  return result;
}

Scop promote_in_block(const Scop& scop, const GridBuffer& choice, const BlockThreads& threads, BlockMemory& memory) {
  auto node = common_node(scop.schedule, choice.statements);
  if (choice.along >= 0) node = band_above(node);
  return promote(scop, path_of(node), choice, threads, memory);
}

}  // namespace tc::polyhedral
