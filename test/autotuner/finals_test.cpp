#include "tc/autotuner/finals.h"

#include <gtest/gtest.h>

namespace tc::autotuner {
namespace {

TEST(Faster, IsBeyondNoise) {
  struct Row {
    std::vector<double> of, than;
    bool faster;
  };
  const Row rows[] = {
      {{}, {}, false},
      {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, false},
      {{0.9, 0.9, 0.9, 0.9, 0.9}, {1, 1, 1, 1, 1}, true},
      {{0.995, 0.995, 0.995, 0.995, 0.995}, {1, 1, 1, 1, 1}, false},
      {{1.1, 1.1, 1.1, 1.1, 1.1}, {1, 1, 1, 1, 1}, false},
      {{0.5, 1.9, 0.97, 1.6, 0.6}, {1, 1, 1, 1, 1}, false},
      {{1, 1, 1, 1, 1}, {2, 2, 2, 0.99, 2}, false},
      {{0.87, 0.88, 0.90, 0.92, 0.94, 0.97, 1.01, 1.03, 1.05}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, false},
      {{0.9, 1.8, 0.9, 2.7, 0.9}, {1, 2, 1, 3, 1}, true},
  };
  for (const auto& row : rows) EXPECT_EQ(faster(row.of, row.than), row.faster) << testing::PrintToString(row.of);
}

}  // namespace
}  // namespace tc::autotuner
