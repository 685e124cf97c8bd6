#include "test/cuda_emulator/access_counts.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace tc::emulator {
namespace {

constexpr std::uintptr_t sector = 32, banks = 32, word = 4;  // a wavefront: a word of each bank

/// Wavefronts of the accesses of some lanes that are served together: the most distinct words of one bank.
std::int64_t bank_words(const std::set<std::uintptr_t>& words) {
  std::array<std::int64_t, banks> load{};
  for (auto w : words) ++load[w % banks];
  return *std::max_element(load.begin(), load.end());
}

}  // namespace

void AccessCounts::begin_block(int threads) {
  warps_.assign(static_cast<std::size_t>(threads + 31) / 32, {});
  executions_.assign(static_cast<std::size_t>(threads), {});
}

void AccessCounts::note(int thread, std::uint32_t place, std::uintptr_t address, std::size_t bytes, bool shared,
                        bool write) {
  auto t = static_cast<std::size_t>(thread);
  Site site{place, shared, write};
  warps_[t / 32].push_back(
      {site, executions_[t][site]++, address, static_cast<std::uint16_t>(bytes), static_cast<std::uint8_t>(t % 32)});
}

void AccessCounts::end_block() {
  for (auto& entries : warps_) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.site, a.execution, a.lane) < std::tie(b.site, b.execution, b.lane);
    });
    for (std::size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
      while (end < entries.size() && entries[end].site == entries[begin].site &&
             entries[end].execution == entries[begin].execution)
        ++end;
      count(&entries[begin], &entries[begin] + (end - begin));
    }
  }
  warps_.clear();
}

void AccessCounts::count(const Entry* begin, const Entry* end) {
  auto& site = sites_[begin->site];
  site.shared = begin->site.shared;
  site.write = begin->site.write;
  site.bytes = begin->bytes;
  ++site.warp_accesses;
  const std::uintptr_t unit = begin->site.shared ? word : sector;
  const std::ptrdiff_t together =
      begin->site.shared ? std::max<std::ptrdiff_t>(1, 128 / std::max<int>(begin->bytes, 4)) : 32;
  for (const Entry* group = begin; group < end; group += together) {
    std::set<std::uintptr_t> units, bytes;
    for (const Entry* e = group; e < std::min(end, group + together); ++e) {
      for (auto u = e->address / unit; u <= (e->address + e->bytes - 1) / unit; ++u) units.insert(u);
      for (int b = 0; b < e->bytes; ++b) bytes.insert(e->address + static_cast<std::uintptr_t>(b));
    }
    site.transactions += begin->site.shared ? bank_words(units) : static_cast<std::int64_t>(units.size());
    const std::int64_t most = begin->site.shared ? banks * word : sector;
    site.ideal += (static_cast<std::int64_t>(bytes.size()) + most - 1) / most;
  }
}

}  // namespace tc::emulator
