#include "tc/base/target.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "test/support/expect_error.h"

namespace tc {
namespace {

TEST(Target, TextRoundTrips) {
  for (const char* text : {"cpu:plain,cores=1,l1=32k,l2=1m,l3=16m", "cpu:avx2,cores=8,l1=48k,l2=2m,l3=32m",
                           "cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m,bf16_dot,int8_dot",
                           "cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m,vectors=32,int8_dot", "cpu:vectors=64,plain",
                           "avx512,-amx", "avx512,amx", "avx2,-int8_dot", "cuda:sm_90",
                           "cuda:sm_90a,multiprocessors=78", "cuda:sm_80,threads=512,shared=100k,vectors=8",
                           "cuda:sm_120,registers=32k,static_shared=16k,l2=1000,vectors=16"}) {
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

TEST(Target, ACoreIsNamedOrTheHosts) {
  for (auto core : processor_cores()) {
    auto target = Target::parse(std::string("cpu:avx512,core=").append(core));
    EXPECT_EQ(target.core, core);
    EXPECT_EQ(Target::parse(to_string(target)), target);
  }
  EXPECT_EQ(Target::parse("cpu").core, processor_core_here());
  EXPECT_EQ(Target::parse("avx2").core, "") << "an instruction set is no core";
  EXPECT_ERROR(Target::parse("core=fast"), OptionsError, "unknown core 'fast', known are ");
}

TEST(Target, ArchitecturesBringTheirLimits) {
  struct Case {
    const char* text;
    int multiprocessors, resident;
    std::int64_t shared;
  };
  for (const Case& c : {Case{"cuda:sm_75", 40, 1024, 64 << 10}, Case{"cuda:sm_80", 108, 2048, 163 << 10},
                        Case{"cuda:sm_86", 84, 1536, 99 << 10}, Case{"cuda:sm_89", 128, 1536, 99 << 10},
                        Case{"cuda:sm_90a", 132, 2048, 227 << 10}, Case{"cuda:sm_100", 148, 2048, 227 << 10},
                        Case{"cuda:sm_120", 170, 1536, 99 << 10}}) {
    Target target = Target::parse(c.text);
    EXPECT_TRUE(target.is_cuda());
    EXPECT_EQ(target.grid->multiprocessors, c.multiprocessors) << c.text;
    EXPECT_EQ(target.grid->multiprocessor_threads, c.resident) << c.text;
    EXPECT_EQ(target.grid->block_shared_bytes_requested, c.shared) << c.text;
    EXPECT_EQ(target.vector_bytes(), 16);
  }
  EXPECT_FALSE(Target::parse("cpu").is_cuda());
  EXPECT_EQ(to_string(Target::parse("cuda:sm_90")), "cuda:sm_90,multiprocessors=132");
  EXPECT_EQ(to_string(Target::parse("cuda:sm_80,multiprocessors=64,shared=64k,vectors=8")),
            "cuda:sm_80,multiprocessors=64,shared=64k,vectors=8");
  EXPECT_NE(Target::parse("cuda:sm_90"), Target::parse("cuda:sm_90a"));
}

TEST(Target, FlagsAreAddedAndTakenAway) {
  EXPECT_TRUE(Target::parse("avx512,amx").matrix_tiles);
  EXPECT_FALSE(Target::parse("avx512,amx,-amx").matrix_tiles);
  EXPECT_FALSE(Target::parse("avx2").matrix_tiles);
  EXPECT_FALSE(Target::parse("avx512,-int8_dot").int8_dot);
  for (const auto& flag : instruction_flags())
    EXPECT_EQ(Target::parse("avx512").*flag.field, flag.on_this_machine(*find_instruction_set("avx512")));
}

TEST(Target, VectorsMayBeNarrowerThanRegisters) {
  EXPECT_EQ(Target::parse("avx512,vectors=32").vector_bytes(), 32);
  EXPECT_EQ(Target::parse("avx2,vectors=8").vector_bytes(), 8);
  EXPECT_EQ(Target::parse("vectors=32,avx2"), Target::parse("avx2"));
  EXPECT_NE(Target::parse("avx512,vectors=32"), Target::parse("avx512"));
}

TEST(Target, WrongTextsSayWhatIsKnown) {
  for (const char* text : {"cpu:avx1024", "gpu:sm_90", "cpu:cores=0", "cpu:cores=x", "cpu:l1=3q", "cpu:hearts=2",
                           "cpu:vectors=24", "cpu:-avx2", "cpu:-", "cpu:vectors=128", "cuda", "cuda:", "cuda:sm_10",
                           "cuda:sm_90,threads=2048", "cuda:sm_90,threads=16", "cuda:sm_90,hearts=2",
                           "cuda:sm_90,shared=1k", "cuda:sm_90,avx2", "cuda:sm_90,vectors=32"}) {
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
