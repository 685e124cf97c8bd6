#include "tc/polyhedral/options.h"

#include <gtest/gtest.h>

#include <random>

#include "tc/base/error.h"

namespace tc::polyhedral {
namespace {

TEST(Options, PrintOnlyWhatDiffersFromTheDefault) {
  EXPECT_EQ(to_string(MappingOptions{}), "");
  MappingOptions options;
  options.fusion = FusionStrategy::Max;
  options.tile = {32, 0, 8};
  options.parallel = false;
  options.quota = 7;
  EXPECT_EQ(to_string(options), "fusion=max,tile=32x0x8,parallel=0,quota=7");
}

TEST(Options, ParseIsTheInverseOfPrint) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    MappingOptions options;
    options.fusion = static_cast<FusionStrategy>(random() % 3);
    for (bool* flag :
         {&options.allow_skewing, &options.positive_orthant, &options.parallel, &options.vectorise, &options.promote})
      *flag = random() % 2;
    for (int n = random() % 4; n > 0; --n) options.tile.push_back(random() % 100);
    options.quota = random();
    EXPECT_EQ(parse_mapping_options(to_string(options)), options) << to_string(options);
  }
}

TEST(Options, ErrorsNameTheFieldAndItsValues) {
  struct Row {
    const char *text, *message;
  };
  for (const auto& row : std::vector<Row>{
           {"fusion=most", "mapping option 'fusion=most': must be max, preserve3 or min"},
           {"parallel=2", "mapping option 'parallel=2': must be 0 or 1"},
           {"parallel", "mapping option 'parallel=': must be given a value"},
           {"tile=3x",
            "mapping option 'tile=3x': must be sizes joined by 'x', for example 32x64, where 0 leaves a loop whole"},
           {"tile=3x-1", "mapping option 'tile=3x-1': must be sizes of at least 0, where 0 leaves a loop whole"},
           {"quota=-1", "mapping option 'quota=-1': must be a number of isl operations, 0 for no limit"},
           {"colour=red",
            "no mapping option 'colour'; the options are fusion, allow_skewing, positive_orthant, tile, parallel, "
            "vectorise, promote, quota, each written name=value"}}) {
    try {
      parse_mapping_options(row.text);
      ADD_FAILURE() << row.text;
    } catch (const OptionsError& e) {
      EXPECT_STREQ(e.what(), row.message);
    }
  }
}

}  // namespace
}  // namespace tc::polyhedral
