#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "chaos.h"
#include "tc/autotuner/worker.h"

/// The tests, or with --worker the process in which their candidates run.
int main(int count, char** words) {
  if (count > 1 && std::strcmp(words[1], "--worker") == 0)
    return tc::autotuner::worker_main(tc::autotuner::chaos(count > 2 ? words[2] : ""));
  ::testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
