#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "test/cuda_emulator/emulator.h"

namespace tc::emulator {

/// Counts what the accesses of warps cost. The k-th execution of a place of the text by one lane is taken to be one
/// instruction with the k-th execution by the other lanes of its warp.
class AccessCounts {
 public:
  void begin_block(int threads);
  void note(int thread, std::uint32_t place, std::uintptr_t address, std::size_t bytes, bool shared, bool write);
  void end_block();

  /// A place of the text and what it does there: a copy reads one memory and writes the other.
  struct Site {
    std::uint32_t place = 0;
    bool shared = false, write = false;
    auto operator<=>(const Site&) const = default;
  };
  const std::map<Site, SiteCount>& sites() const { return sites_; }

 private:
  struct Entry {
    Site site;
    std::uint32_t execution;
    std::uintptr_t address;
    std::uint16_t bytes;
    std::uint8_t lane;
  };
  void count(const Entry* begin, const Entry* end);

  std::vector<std::vector<Entry>> warps_;
  std::vector<std::map<Site, std::uint32_t>> executions_;  ///< of a site, by thread
  std::map<Site, SiteCount> sites_;
};

}  // namespace tc::emulator
