#include "tc/autotuner/checkpoint.h"

#include <fstream>
#include <iterator>

#include "tc/base/error.h"
#include "test/support/expect_error.h"
#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

Checkpoint sample() {
  Candidate candidate;
  candidate.options = options::MappingOptions::parse("tile=8x4");
  candidate.status = Status::Wrong;
  candidate.seconds = 1.0 / 3;
  candidate.code = "ab";
  candidate.note = "element 3";
  candidate.generation = 2;
  return {"identity", "state", 12.5, 3, {candidate}};
}

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Checkpoint, ComesBack) {
  Folder folder;
  auto file = folder.path() + "/point";
  EXPECT_FALSE(load_checkpoint(file));
  save(sample(), file);
  auto found = load_checkpoint(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->identity + found->search, "identitystate");
  EXPECT_EQ(found->elapsed, 12.5);
  EXPECT_EQ(found->generation, 3);
  ASSERT_EQ(found->candidates.size(), 1u);
  const auto& candidate = found->candidates[0];
  EXPECT_EQ(candidate.options.to_text(), "tile=8x4");
  EXPECT_EQ(candidate.status, Status::Wrong);
  EXPECT_EQ(candidate.seconds, 1.0 / 3);
  EXPECT_EQ(candidate.note, "element 3");
}

TEST(Checkpoint, DamagedOnesAreNone) {
  Folder folder;
  auto file = folder.path() + "/point";
  save(sample(), file);
  auto bytes = bytes_of(file);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    auto damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_FALSE(load_checkpoint(file)) << i;
    std::ofstream(file, std::ios::binary) << bytes.substr(0, i);
    EXPECT_FALSE(load_checkpoint(file)) << i;
  }
}

TEST(Checkpoint, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_ERROR(save(sample(), "/dev/null/point"), ResourceError,
               "the checkpoint '/dev/null/point' cannot be written: '/dev/null' is no folder");
}

TEST(Status, HasANameEach) {
  for (auto status : {Status::Ok, Status::Same, Status::Slow, Status::Wrong, Status::Crashed, Status::TimedOut,
                      Status::Exhausted, Status::Rejected})
    EXPECT_EQ(parse_status(name(status)), status);
  EXPECT_EQ(parse_status("?"), Status::Crashed);
}

}  // namespace
}  // namespace tc::autotuner
