#pragma once

#include <random>
#include <string>
#include <vector>

#include "tc/base/str.h"
#include "test/support/scop_builder.h"

namespace tc::polyhedral {

/// A small random program over tensors T0 ... T3 with \p extent elements a dimension: assignments and reductions,
/// accesses that permute, shift, reverse and sum iterators under guards, tensors written again and again.
class RandomScop {
 public:
  RandomScop(std::shared_ptr<Context> context, unsigned seed, int extent)
      : random_(seed), extent_(extent), builder_(std::move(context)) {}

  Scop make() {
    for (int i = 0; i < 4; ++i) {
      ranks_.push_back(below(4) == 0 ? 0 : 1 + below(2));
      builder_.output(str("T", i), std::vector<std::int64_t>(ranks_.back(), extent_));
    }
    for (int count = 2 + below(4); count > 0; --count) add_statement();
    return builder_.scop();
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % bound); }

  void add_statement() {
    static const std::vector<std::string> names = {"i", "j", "k", "l"};
    int tensor = below(4), rank = ranks_[tensor], reduced = below(3) == 0 ? 1 + below(2) : 0;
    std::vector<std::string> left(names.begin(), names.begin() + rank),
        all(names.begin(), names.begin() + rank + reduced);
    std::shuffle(left.begin(), left.end(), random_);
    auto write = str("T", tensor, "[", join(left), "]");
    bool accumulates = reduced > 0 || below(4) == 0;
    if (accumulates && below(2)) builder_.identity(tuple(left), write);
    std::vector<std::string> reads;
    for (int count = below(3); count > 0; --count) reads.push_back(read(all));
    if (accumulates)
      builder_.accumulate(tuple(all), write, reads);
    else
      builder_.statement(tuple(all), write, reads);
  }

  /// "S3[i, j] : 0 <= i < 4 and 0 <= j < 4"
  std::string tuple(const std::vector<std::string>& iterators) {
    std::vector<std::string> bounds;
    for (const auto& iterator : iterators) bounds.push_back(str("0 <= ", iterator, " < ", extent_));
    return str("S", count_++, "[", join(iterators), "]", bounds.empty() ? "" : " : ", join(bounds, " and "));
  }

  std::string read(const std::vector<std::string>& iterators) {
    int tensor = below(4);
    std::vector<std::string> indices, guards;
    for (int i = 0; i < ranks_[tensor]; ++i) {
      indices.push_back(subscript(iterators));
      guards.push_back(str("0 <= ", indices.back(), " < ", extent_));
    }
    return str("T", tensor, "[", join(indices), "]", guards.empty() ? "" : " : ", join(guards, " and "));
  }

  std::string subscript(const std::vector<std::string>& iterators) {
    if (iterators.empty() || below(8) == 0) return str(below(extent_));
    const auto& one = iterators[below(static_cast<int>(iterators.size()))];
    switch (below(8)) {
      case 0:
        return one + " + 1";
      case 1:
        return one + " - 1";
      case 2:
        return str(extent_ - 1, " - ", one);
      case 3:
        return one + " + " + iterators[below(static_cast<int>(iterators.size()))];
      default:
        return one;
    }
  }

  std::mt19937 random_;
  int extent_;
  int count_ = 0;
  std::vector<int> ranks_;
  ScopBuilder builder_;
};

inline Scop random_scop(std::shared_ptr<Context> context, unsigned seed, int extent = 4) {
  return RandomScop(std::move(context), seed, extent).make();
}

}  // namespace tc::polyhedral
