#include "test/support/random/random_program.h"

#include <gtest/gtest.h>

#include <set>

#include "tc/base/error.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"

namespace tc::test {
namespace {

/// Does check accept the program?
bool is_valid(const RandomProgram& program) {
  try {
    lang::check(program.file);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(RandomProgram, PrintsAndParsesBack) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomProgram program = random_program(seed);
    lang::File file = lang::parse(program.text());
    ASSERT_EQ(file.defs.size(), program.file.defs.size()) << program.describe();
    for (std::size_t d = 0; d < file.defs.size(); ++d)
      EXPECT_TRUE(lang::equal(file.defs[d], program.file.defs[d])) << program.describe();
  }
}

TEST(RandomProgram, IsMostlyValidAndVaried) {
  int valid = 0;
  std::set<std::string> seen;
  const std::vector<std::string> features = {
      " min=",    " max=!",    " &&=!",   " ||=!", " *=!",  " +=!",       " += ",     "exists", " ? ",
      "select",   " % ",       " / ",     "!(",    "isnan", "clamp",      "popcount", "= g(",   ".0",
      "float16(", "bfloat16(", "uint64(", "int8(", "bool(", "where c = ", " && "};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomProgram program = random_program(seed);
    EXPECT_EQ(program.text(), random_program(seed).text());
    valid += is_valid(program);
    for (const auto& feature : features)
      if (program.text().find(feature) != std::string::npos) seen.insert(feature);
    if (seed % 4 != 0) continue;
    for (const auto& [name, tensor] : arguments_of(program, true))
      EXPECT_EQ(text_of(tensor), text_of(arguments_of(program).at(name)));
  }
  EXPECT_GE(valid, 290);
  for (const auto& feature : features) EXPECT_TRUE(seen.count(feature)) << feature;
}

TEST(RandomProgram, ScattersAreAmongThem) {
  int scatters = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomProgram program = random_program(seed);
    for (const auto& statement : program.def().statements)
      if (const auto* assignment = std::get_if<lang::Assignment>(&statement.node); assignment && is_valid(program))
        scatters += lang::left_iterators(*assignment).size() < assignment->subscripts.size();
  }
  EXPECT_GE(scatters, 10);
}

TEST(RandomProgram, IsReducedToWhatFails) {
  int reduced_programs = 0;
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    RandomProgram program = random_program(seed);
    auto fails = [](const RandomProgram& candidate) {
      return is_valid(candidate) && candidate.text().find(" % ") != std::string::npos;
    };
    if (!fails(program)) continue;
    RandomProgram reduced = reduce_program(program, fails);
    EXPECT_TRUE(fails(reduced)) << reduced.describe();
    EXPECT_EQ(reduced.def().statements.size() + reduced.file.defs.size(), 2u) << reduced.describe();
    EXPECT_LT(lang::print(reduced.def().statements[0]).size(), 90u) << reduced.describe();
    ++reduced_programs;
  }
  EXPECT_GT(reduced_programs, 2);
}

}  // namespace
}  // namespace tc::test
