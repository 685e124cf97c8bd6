#include "test/cuda_emulator/shadow.h"

#include <algorithm>

namespace tc::emulator {

Shadow::Shadow(std::size_t bytes, int granule_shift, bool per_block)
    : shift_(granule_shift), per_block_(per_block), pages_(((bytes >> granule_shift) + page_cells) / page_cells) {}

Shadow::Cell& Shadow::cell(const HappensBefore& order, std::size_t index) {
  auto& page = pages_[index / page_cells];
  if (!page) page = std::make_unique<Cell[]>(page_cells);
  auto& found = page[index % page_cells];
  if (per_block_ && std::max(found.write.block, found.read.block) != order.block()) found = Cell{};
  return found;
}

std::optional<Conflict> Shadow::conflict(const HappensBefore& order, int thread, const Cell& cell, AccessKind kind) {
  if (cell.write.block && !(kind == AccessKind::Atomic && cell.write.atomic) && !order.ordered(cell.write, thread))
    return Conflict{cell.write, cell.write_site, cell.write.atomic ? AccessKind::Atomic : AccessKind::Write, 0};
  if (kind == AccessKind::Read || !cell.read.block) return std::nullopt;
  if (cell.other_read.block && !order.ordered(cell.other_read, thread))
    return Conflict{cell.other_read, cell.other_site, AccessKind::Read, 0};
  Stamp reader = cell.read;
  const unsigned first = reader.thread / HappensBefore::warp * HappensBefore::warp;
  for (auto lanes = cell.lanes; lanes; lanes &= lanes - 1) {
    reader.thread = first + static_cast<unsigned>(__builtin_ctz(lanes));
    if (!order.ordered(reader, thread)) return Conflict{reader, cell.read_site, AccessKind::Read, 0};
  }
  return std::nullopt;
}

void Shadow::note_read(const HappensBefore& order, int thread, Cell& cell, Stamp now, std::uint32_t site) {
  const std::uint32_t lane = 1u << (thread % HappensBefore::warp);
  const Stamp last = cell.read;
  const bool same_warp =
      last.block == now.block && last.thread / HappensBefore::warp == now.thread / HappensBefore::warp;
  if (same_warp && last.epoch == now.epoch && last.local == now.local) {
    cell.lanes |= lane;
  } else {
    const bool keep = last.block && !same_warp && !order.ordered(last, thread);
    const bool other_block = cell.other_read.block && cell.other_read.block != now.block;
    if (keep && !(other_block && last.block == now.block)) {
      cell.other_read = last;
      cell.other_site = cell.read_site;
    }
    cell.lanes = lane;
  }
  cell.read = now;
  cell.read_site = site;
}

void Shadow::note(const HappensBefore& order, int thread, Cell& cell, AccessKind kind, std::uint32_t site) {
  Stamp now = order.now(thread);
  if (kind == AccessKind::Read) return note_read(order, thread, cell, now, site);
  now.atomic = kind == AccessKind::Atomic;
  cell = Cell{};
  cell.write = now;
  cell.write_site = site;
}

std::optional<Conflict> Shadow::access(const HappensBefore& order, int thread, std::size_t offset, std::size_t bytes,
                                       AccessKind kind, std::uint32_t site) {
  std::optional<Conflict> found;
  for (std::size_t i = offset >> shift_, last = (offset + bytes - 1) >> shift_; i <= last; ++i) {
    auto& at = cell(order, i);
    if (!found) {
      found = conflict(order, thread, at, kind);
      if (found) found->offset = i << shift_;
    }
    note(order, thread, at, kind, site);
  }
  return found;
}

std::optional<Conflict> Shadow::unit_access(const HappensBefore& order, int thread, std::size_t offset,
                                            std::size_t bytes, std::uint32_t site) {
  auto found = access(order, thread, offset, bytes, AccessKind::Read, site);
  for (std::size_t i = offset >> shift_, last = (offset + bytes - 1) >> shift_; !found && i <= last; ++i) {
    const auto& at = cell(order, i);
    if (at.write.block && !order.fenced(at.write, thread))
      found = Conflict{at.write, at.write_site, AccessKind::Write, i << shift_, true};
  }
  return found;
}

std::optional<Conflict> Shadow::begin_copy(const HappensBefore& order, int thread, std::size_t offset,
                                           std::size_t bytes, std::uint32_t site) {
  auto found = access(order, thread, offset, bytes, AccessKind::Write, site);
  for (std::size_t i = offset >> shift_, last = (offset + bytes - 1) >> shift_; i <= last; ++i)
    cell(order, i).write.local = Stamp::in_flight;
  return found;
}

void Shadow::end_copy(const HappensBefore& order, int thread, std::size_t offset, std::size_t bytes) {
  for (std::size_t i = offset >> shift_, last = (offset + bytes - 1) >> shift_; i <= last; ++i)
    cell(order, i).write = order.now(thread);
}

}  // namespace tc::emulator
