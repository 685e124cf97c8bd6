#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "test/cuda_emulator/happens_before.h"

namespace tc::emulator {

enum class AccessKind : std::uint8_t { Read, Write, Atomic };

/// An earlier access that conflicts with one of now.
struct Conflict {
  Stamp stamp;
  std::uint32_t site = 0;
  AccessKind kind = AccessKind::Read;
  std::size_t offset = 0;  ///< of the granule, in bytes
  bool unfenced = false;   ///< ordered before, but not for an asynchronous unit
};

/// Who touched each granule of a region last. Finds accesses that conflict and are not ordered.
class Shadow {
 public:
  /// For \p bytes bytes in granules of 2^\p granule_shift; \p per_block: what other blocks did is of no account.
  Shadow(std::size_t bytes, int granule_shift, bool per_block);
  int granule_shift() const { return shift_; }

  /// Records the access; an earlier one it races with, if any.
  std::optional<Conflict> access(const HappensBefore& order, int thread, std::size_t offset, std::size_t bytes,
                                 AccessKind kind, std::uint32_t site);
  /// As a read of an asynchronous unit: an earlier write that no proxy fence lets it see, too.
  std::optional<Conflict> unit_access(const HappensBefore& order, int thread, std::size_t offset, std::size_t bytes,
                                      std::uint32_t site);
  /// As a write that has no end yet, and its end.
  std::optional<Conflict> begin_copy(const HappensBefore& order, int thread, std::size_t offset, std::size_t bytes,
                                     std::uint32_t site);
  void end_copy(const HappensBefore& order, int thread, std::size_t offset, std::size_t bytes);

 private:
  /// The last write, and of the reads since then the last and one that is concurrent to it in another warp or block.
  struct Cell {
    Stamp write, read, other_read;
    std::uint32_t lanes = 0;  ///< of the last reader's warp that read at its local time
    std::uint32_t write_site = 0, read_site = 0, other_site = 0;
  };
  static constexpr std::size_t page_cells = 512;

  /// The cell \p index as \p order's block may know it.
  Cell& cell(const HappensBefore& order, std::size_t index);
  static std::optional<Conflict> conflict(const HappensBefore& order, int thread, const Cell& cell, AccessKind kind);
  static void note_read(const HappensBefore& order, int thread, Cell& cell, Stamp now, std::uint32_t site);
  static void note(const HappensBefore& order, int thread, Cell& cell, AccessKind kind, std::uint32_t site);

  int shift_;
  bool per_block_;
  std::vector<std::unique_ptr<Cell[]>> pages_;
};

}  // namespace tc::emulator
