#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tc::test {

/// One level of caches: lines of 64 bytes in sets of `ways`, of which the one used longest ago is replaced. A write
/// fetches its line first; a changed line is written back when it is replaced.
class CacheLevel {
 public:
  CacheLevel(std::int64_t bytes, int ways, CacheLevel* next)
      : sets_(bytes / 64 / ways), ways_(ways), lines_(sets_ * ways), next_(next) {}

  void access(std::int64_t line, bool write) {
    auto* set = &lines_[static_cast<std::size_t>(line % sets_ * ways_)];
    auto* found = std::find_if(set, set + ways_, [&](const Line& entry) { return entry.line == line; });
    if (found == set + ways_) {
      ++fetched_;
      found = set + ways_ - 1;
      put_back(*found);
      if (next_) next_->access(line, false);
      *found = {line, false};
    }
    found->changed |= write;
    std::rotate(set, found, found + 1);
  }

  /// Writes back all that was changed.
  void flush() {
    for (auto& line : lines_) put_back(line);
    if (next_) next_->flush();
  }

  double bytes_read() const { return static_cast<double>(fetched_) * 64; }
  double bytes_written() const { return static_cast<double>(written_) * 64; }

 private:
  struct Line {
    std::int64_t line = -1;
    bool changed = false;
  };

  void put_back(Line& line) {
    if (!line.changed) return;
    ++written_;
    if (next_) next_->access(line.line, true);
    line.changed = false;
  }

  std::int64_t sets_;
  int ways_;
  std::vector<Line> lines_;
  CacheLevel* next_;
  std::int64_t fetched_ = 0, written_ = 0;
};

/// Three levels in front of a memory, empty at first.
class CacheSimulator {
 public:
  CacheSimulator(std::int64_t l1, std::int64_t l2, std::int64_t l3, int ways = 8)
      : l3_(l3, ways, nullptr), l2_(l2, ways, &l3_), l1_(l1, ways, &l2_) {}

  void access(std::int64_t address, bool write) { l1_.access(address / 64, write); }
  void flush() { l1_.flush(); }
  /// Level 1 to 3: what went between it and the next one.
  const CacheLevel& level(int number) const { return number == 1 ? l1_ : number == 2 ? l2_ : l3_; }

 private:
  CacheLevel l3_, l2_, l1_;
};

}  // namespace tc::test
