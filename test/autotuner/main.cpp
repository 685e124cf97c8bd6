#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "chaos.h"
#include "tc/autotuner/worker/worker.h"

/// The tests, or with --worker the process in which their candidates run: with what befalls them, and the milliseconds
/// that it takes to start.
int main(int count, char** words) {
  if (count > 1 && std::strcmp(words[1], "--worker") == 0) {
    if (count > 3) ::usleep(1000 * static_cast<useconds_t>(std::atoi(words[3])));
    return tc::autotuner::worker_main(tc::autotuner::chaos(count > 2 ? words[2] : ""));
  }
  ::testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
