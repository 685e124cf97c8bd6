#include "tc/strategy/cost/streamed_tensors.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::Scop;
using polyhedral::ScopBuilder;
using Names = std::set<std::string>;

/// Tensors A and C of 64 x 64 floats, 16 KiB each, and B of 64.
class StreamedTensors : public polyhedral::IslTest {
 protected:
  ScopBuilder tensors() const {
    return ScopBuilder(context()).input("A", {64, 64}).input("B", {64}).output("C", {64, 64}).output("s", {64});
  }
  static Names of(const Scop& scop, const std::string& caches = "l2=8k,l3=30k") {
    return streamed_tensors(scop, Target::parse("cpu:avx512,cores=1,l1=4k," + caches));
  }

  const std::string square_ = "[i, j] : 0 <= i < 64 and 0 <= j < 64";
};

TEST_F(StreamedTensors, AreLargerThanTheSecondCacheInARunThatLeavesTheLast) {
  const Scop scop = tensors().statement("S0" + square_, "C[i, j]", {"A[i, j]", "B[j]"}).scop();
  EXPECT_EQ(of(scop), Names{"C"});
  EXPECT_EQ(of(scop, "l2=8k,l3=40k"), Names{});
  EXPECT_EQ(of(scop, "l2=16k,l3=30k"), Names{});
}

TEST_F(StreamedTensors, AreWrittenOnceAndNotRead) {
  EXPECT_EQ(of(tensors()
                   .statement("S0" + square_, "C[i, j]", {"A[i, j]"})
                   .statement("S1[i] : 0 <= i < 64", "s[i]", {"C[i, i]"})
                   .scop()),
            Names{});
  EXPECT_EQ(of(tensors().identity("S0" + square_, "C[i, j]").accumulate("S1" + square_, "C[i, j]", {"A[i, j]"}).scop()),
            Names{});
  EXPECT_EQ(of(tensors()
                   .statement("S0[i, j, k] : 0 <= i < 64 and 0 <= j < 64 and 0 <= k < 2", "C[i, j]", {"A[i, j]"})
                   .scop()),
            Names{});
}

}  // namespace
}  // namespace tc::strategy
