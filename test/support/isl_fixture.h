#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

/// A test with an isl context and schedules as block YAML.
class IslTest : public testing::Test {
 protected:
  isl::schedule schedule(const std::string& text) const { return isl::schedule(ctx(), text); }
  isl::set set(const std::string& text) const { return isl::set(ctx(), text); }
  isl::map map(const std::string& text) const { return isl::map(ctx(), text); }
  isl::union_map union_map(const std::string& text) const { return isl::union_map(ctx(), text); }
  isl::union_set union_set(const std::string& text) const { return isl::union_set(ctx(), text); }
  isl::ctx ctx() const { return *context_; }
  /// The context that scops made in the test share.
  std::shared_ptr<Context> context() const { return context_; }

 private:
  std::shared_ptr<Context> context_ = std::make_shared<Context>();
};

/// Compares with isl's plain equality; on failure both are shown as block YAML.
inline testing::AssertionResult same_schedule(const isl::schedule& got, const isl::schedule& want) {
  if (plain_equal(got, want)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got:\n" << print_block(got) << "want:\n" << print_block(want);
}
inline testing::AssertionResult same_schedule(const isl::schedule& got, const std::string& want) {
  return same_schedule(got, isl::schedule(got.ctx(), want));
}

}  // namespace tc::polyhedral

#define EXPECT_SCHEDULE(got, want) EXPECT_TRUE(::tc::polyhedral::same_schedule(got, want))
