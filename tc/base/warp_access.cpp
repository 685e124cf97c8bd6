#include "tc/base/warp_access.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/base/ceil_div.h"

namespace tc {
namespace {

constexpr std::int64_t bank_bytes = 4;

/// Calls \p serve with the words that groups of threads are served together.
template <typename Function>
void for_each_group(const WarpAccess& access, std::int64_t banks, const Function& serve) {
  auto together = std::max<std::int64_t>(1, banks * bank_bytes / std::max<std::int64_t>(access.bytes(), bank_bytes));
  auto count = static_cast<std::int64_t>(access.places.size());
  for (std::int64_t begin = 0; begin < count; begin += together) {
    std::set<std::int64_t> words, bytes;
    for (auto i = begin; i < std::min(count, begin + together); ++i) {
      auto first = access.places[static_cast<std::size_t>(i)] * access.element_bytes;
      for (auto byte = first; byte < first + access.bytes(); ++byte) {
        words.insert(byte / bank_bytes);
        bytes.insert(byte);
      }
    }
    serve(words, static_cast<std::int64_t>(bytes.size()));
  }
}

}  // namespace

std::int64_t rounds(const WarpAccess& access, std::int64_t banks) {
  std::int64_t result = 0;
  for_each_group(access, banks, [&](const std::set<std::int64_t>& words, std::int64_t) {
    std::map<std::int64_t, std::int64_t> load;
    std::int64_t most = 0;
    for (auto word : words) most = std::max(most, ++load[word % banks]);
    result += most;
  });
  return result;
}

std::int64_t fewest_rounds(const WarpAccess& access, std::int64_t banks) {
  std::int64_t result = 0;
  for_each_group(access, banks, [&](const std::set<std::int64_t>& words, std::int64_t) {
    result += ceil_div(static_cast<std::int64_t>(words.size()), banks);
  });
  return result;
}

std::int64_t sectors(const WarpAccess& access, std::int64_t sector, std::int64_t base) {
  std::set<std::int64_t> touched;
  for (auto place : access.places) {
    auto first = base + place * access.element_bytes;
    for (auto at = floor_div(first, sector); at <= floor_div(first + access.bytes() - 1, sector); ++at)
      touched.insert(at);
  }
  return static_cast<std::int64_t>(touched.size());
}

}  // namespace tc
