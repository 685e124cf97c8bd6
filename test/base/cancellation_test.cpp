#include "tc/base/cancellation.h"

#include <gtest/gtest.h>

#include <limits>

#include "tc/base/error.h"
#include "test/support/expect_error.h"

namespace tc {
namespace {

TEST(Cancellation, AChildHeedsItsParentAndNotTheReverse) {
  Cancellation parent;
  auto child = parent.child(), sibling = parent.child();
  child.cancel();
  EXPECT_TRUE(child.requested());
  EXPECT_FALSE(parent.requested());
  EXPECT_FALSE(sibling.requested());
  parent.cancel();
  EXPECT_TRUE(sibling.requested());
  EXPECT_ERROR(sibling.check("a test"), CancelledError, "cancelled in a test");
}

TEST(Cancellation, DeadlinesAreOfTheirOwn) {
  Cancellation parent;
  auto child = parent.child();
  child.set_time_limit(1e-9);
  EXPECT_ERROR(child.check("a test"), ResourceError, "the time limit was reached in a test");
  EXPECT_FALSE(parent.requested());
  parent.set_time_limit(1e-9);
  EXPECT_TRUE(parent.child().requested());
}

TEST(Cancellation, LimitsThatNoClockCountsAreNone) {
  for (double seconds : {0.0, std::numeric_limits<double>::infinity(), 1e300}) {
    Cancellation cancellation;
    cancellation.set_time_limit(seconds);
    EXPECT_FALSE(cancellation.requested()) << seconds;
  }
  for (double seconds : {-1.0, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_ERROR(Cancellation().set_time_limit(seconds), OptionsError,
                 "a time limit is a number of seconds that is not negative; 0: none")
        << seconds;
}

TEST(Cancellation, AThreadAsksWhatItWorksFor) {
  check_cancelled("a test");
  Cancellation outer, inner;
  inner.cancel();
  CancellationScope scope(outer);
  check_cancelled("a test");
  {
    CancellationScope nested(inner);
    EXPECT_ERROR(check_cancelled("a test"), CancelledError, "cancelled in a test");
  }
  check_cancelled("a test");
}

}  // namespace
}  // namespace tc
