#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace tc::autotuner {

/// Random numbers that are the same on every machine for a seed; the state can be written down.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : engine_(seed) {}

  /// In [0, count); \p count is positive.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  /// In [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  /// What restore() takes to draw the same numbers from here on.
  std::string state() const;
  /// The inverse; false, and nothing changes, for another text.
  bool restore(const std::string& state);

 private:
  std::mt19937_64 engine_;
};

}  // namespace tc::autotuner
