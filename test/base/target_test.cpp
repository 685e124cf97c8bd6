#include "tc/base/target.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"

namespace tc {
namespace {

TEST(Target, TextRoundTrips) {
  for (const char* text : {"cpu:plain,cores=1,l1=32k,l2=1m,l3=16m", "cpu:avx2,cores=8,l1=48k,l2=2m,l3=32m",
                           "cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m,bf16_dot,int8_dot",
                           "cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m,vectors=32,int8_dot", "cpu:vectors=64,plain"}) {
    Target target = Target::parse(text);
    EXPECT_EQ(Target::parse(to_string(target)), target) << text;
  }
  EXPECT_EQ(to_string(Target::parse("cpu:plain,cores=1,l1=32k,l2=1m,l3=16m")), "cpu:plain,cores=1,l1=32k,l2=1m,l3=16m");
}

TEST(Target, MissingFieldsAreTheHosts) {
  EXPECT_EQ(Target::parse("cpu").cores, Target::parse("avx2").cores);
  EXPECT_EQ(Target::parse("avx2").vector_bytes(), 32);
  EXPECT_EQ(Target::parse("avx2,cores=3").cores, 3);
}

TEST(Target, VectorsMayBeNarrowerThanRegisters) {
  EXPECT_EQ(Target::parse("avx512,vectors=32").vector_bytes(), 32);
  EXPECT_EQ(Target::parse("avx2,vectors=8").vector_bytes(), 8);
  EXPECT_EQ(Target::parse("vectors=32,avx2"), Target::parse("avx2"));
  EXPECT_NE(Target::parse("avx512,vectors=32"), Target::parse("avx512"));
}

TEST(Target, WrongTextsSayWhatIsKnown) {
  for (const char* text : {"cpu:avx1024", "gpu:sm_90", "cpu:cores=0", "cpu:cores=x", "cpu:l1=3q", "cpu:hearts=2", "cpu:vectors=24", "cpu:vectors=128"}) {
    try {
      Target::parse(text);
      ADD_FAILURE() << text;
    } catch (const OptionsError& error) {
      EXPECT_NE(std::string(error.what()).find("a target is for example"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tc
