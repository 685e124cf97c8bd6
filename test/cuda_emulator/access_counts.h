#pragma once

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
  void note(int thread, std::uint32_t site, std::uintptr_t address, std::size_t bytes, bool shared, bool write);
  void end_block();
  /// By site.
  const std::map<std::uint32_t, SiteCount>& sites() const { return sites_; }

 private:
  struct Entry {
    std::uint32_t site;
    std::uint32_t execution;
    std::uintptr_t address;
    std::uint16_t bytes;
    std::uint8_t lane;
    bool shared, write;
  };
  void count(const Entry* begin, const Entry* end);

  std::vector<std::vector<Entry>> warps_;
  std::vector<std::map<std::uint32_t, std::uint32_t>> executions_;  ///< of a site, by thread
  std::map<std::uint32_t, SiteCount> sites_;
};

}  // namespace tc::emulator
