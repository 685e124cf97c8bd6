#include "tc/base/shared_banks.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>

#include "tc/base/ceil_div.h"

namespace tc {
namespace {

constexpr std::int64_t bank_bytes = 4;

/// Accesses that are counted, at most; they are many where loops nest deeply.
constexpr std::size_t most_counted = 96;

int logarithm(std::int64_t power) {
  int result = 0;
  while ((std::int64_t{1} << result) < power) ++result;
  return result;
}

/// Layouts with rows of \p row elements and \p piece elements that stay together, the simplest first.
std::vector<SharedLayout> candidates(const SharedLayout& now, std::int64_t row, std::int64_t piece) {
  std::vector<SharedLayout> result{now};
  for (std::int64_t pad : {0, 1, 2, 4, 8}) result.push_back({now.columns, now.rows, row + pad * piece, {}});
  int row_bits = logarithm(row), to = logarithm(piece);
  if ((std::int64_t{1} << row_bits) != row || (std::int64_t{1} << to) != piece) return result;
  for (int bits = 1; to + bits <= row_bits && bits <= 5; ++bits)
    for (int from = row_bits; from <= row_bits + 4; ++from)
      result.push_back({now.columns, now.rows, row, {bits, from, to}});
  return result;
}

/// Accesses to rows and columns of a buffer.
class Accesses {
 public:
  Accesses(const std::vector<WarpAccess>& accesses, std::size_t every, const SharedLayout& before, std::int64_t banks)
      : counter_(banks) {
    for (std::size_t i = 0; i < accesses.size(); i += every) {
      accesses_.push_back(&accesses[i]);
      for (const auto place : accesses[i].places) {
        const auto dense = before.swizzle(place);
        rows_.push_back(dense / before.pitch);
        columns_.push_back(dense % before.pitch);
      }
    }
  }

  /// Rounds in \p layout, or in a part of the accesses where these are \p limit or more.
  BankCount count(const SharedLayout& layout, std::int64_t limit) {
    BankCount result;
    std::size_t at = 0;
    for (const auto* access : accesses_) {
      places_.clear();
      for (std::size_t i = 0; i < access->places.size(); ++i, ++at)
        places_.push_back(layout.swizzle(rows_[at] * layout.pitch + columns_[at]));
      const auto one = counter_.count(*access, places_);
      result.rounds += access->times * one.rounds;
      result.fewest += access->times * one.fewest;
      if (result.rounds >= limit) break;
    }
    return result;
  }

 private:
  BankCounter counter_;
  std::vector<const WarpAccess*> accesses_;
  std::vector<std::int64_t> rows_, columns_, places_;
};

constexpr auto no_limit = std::numeric_limits<std::int64_t>::max();

}  // namespace

BankCount BankCounter::count(const WarpAccess& access, const std::vector<std::int64_t>& places) {
  const auto together = static_cast<std::size_t>(
      std::max<std::int64_t>(1, banks_ * bank_bytes / std::max<std::int64_t>(access.bytes(), bank_bytes)));
  BankCount result;
  for (std::size_t begin = 0; begin < places.size(); begin += together) {
    words_.clear();
    std::fill(newest_.begin(), newest_.end(), -1);
    for (auto i = begin; i < std::min(places.size(), begin + together); ++i) {
      const auto first = places[i] * access.element_bytes;
      for (auto word = floor_div(first, bank_bytes); word <= floor_div(first + access.bytes() - 1, bank_bytes);
           ++word) {
        auto& newest = newest_[static_cast<std::size_t>(word - floor_div(word, banks_) * banks_)];
        auto at = newest;
        while (at >= 0 && words_[static_cast<std::size_t>(at)].word != word)
          at = words_[static_cast<std::size_t>(at)].earlier;
        if (at >= 0) continue;
        words_.push_back({word, newest});
        newest = static_cast<int>(words_.size()) - 1;
      }
    }
    std::int64_t most = 0;
    for (auto at : newest_) {
      std::int64_t load = 0;
      for (; at >= 0; at = words_[static_cast<std::size_t>(at)].earlier) ++load;
      most = std::max(most, load);
    }
    result.rounds += most;
    result.fewest += ceil_div(static_cast<std::int64_t>(words_.size()), banks_);
  }
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

std::int64_t SharedLayout::elements() const { return round_up((rows - 1) * pitch + columns, swizzle.period()); }

BankCount count_bank_conflicts(const std::vector<WarpAccess>& accesses, const SharedLayout& before,
                               const SharedLayout& after, std::int64_t banks) {
  return Accesses(accesses, 1, before, banks).count(after, no_limit);
}

SharedLayout best_layout(const std::vector<WarpAccess>& accesses, const SharedLayout& now, std::int64_t banks,
                         std::int64_t most) {
  Accesses counted(accesses, std::max<std::size_t>(ceil_div(accesses.size(), most_counted), 1), now, banks);
  auto best = now;
  auto count = counted.count(now, no_limit);
  std::int64_t piece = 1;
  for (const auto& access : accesses) piece = std::max<std::int64_t>(piece, access.elements);
  for (const auto& layout : candidates(now, round_up(now.columns, piece), piece)) {
    if (count.conflicts() == 0) break;
    if (layout.elements() > std::max(most, now.elements())) continue;
    auto here = counted.count(layout, count.rounds);
    if (here.rounds >= count.rounds) continue;
    count = here;
    best = layout;
  }
  return best;
}

}  // namespace tc
