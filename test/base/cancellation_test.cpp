#include "tc/base/cancellation.h"

#include <gtest/gtest.h>

#include <limits>

#include "tc/base/error.h"

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
  EXPECT_THROW(sibling.check("a test"), CancelledError);
}

TEST(Cancellation, DeadlinesAreOfTheirOwn) {
  Cancellation parent;
  auto child = parent.child();
  child.set_time_limit(1e-9);
  EXPECT_THROW(child.check("a test"), ResourceError);
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
    EXPECT_THROW(Cancellation().set_time_limit(seconds), OptionsError) << seconds;
}

TEST(Cancellation, AThreadAsksWhatItWorksFor) {
  check_cancelled("a test");
  Cancellation outer, inner;
  inner.cancel();
  CancellationScope scope(outer);
  check_cancelled("a test");
  {
    CancellationScope nested(inner);
    EXPECT_THROW(check_cancelled("a test"), CancelledError);
  }
  check_cancelled("a test");
}

}  // namespace
}  // namespace tc
