// Decisions as texts: what is printed parses back, what means nothing is an error that shows the part.

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/polyhedral/map/grid_mapping.h"
#include "tc/polyhedral/map/mapping.h"

namespace tc::polyhedral {
namespace {

/// A mapping with something in every field.
Mapping full_mapping() {
  ClusterMapping cluster{.members = {{64, 8}, {0, 48}, {0, 1}},
                         .outermost = 1,
                         .parallel = true,
                         .above = {1, 0},
                         .register_tile = true,
                         .statements = {{"S0", 1, 16}, {"S1", 2, 8, 4}, {"S2"}},
                         .staged = {"Y", "Z"},
                         .reduction = {"S1", 3, 512},
                         .dot = {"S1", 3, 4, 16},
                         .window = {"S1", 4, 0, 3, 2},
                         .copies = {"", 1, 16}};
  cluster.packed = {{.statement = "S1", .read = 1, .panel = 1, .size = 48, .lanes = 16},
                    {.statement = "S1", .panel = 0, .size = 8, .panel_last = false, .below_blocks = true, .lanes = 8},
                    {.statement = "S1", .read = 2, .panel = 1, .size = 4, .lanes = 4, .once = true}};
  return {{cluster, {}, {.members = {{}, {}}}, {.outermost = 0}, {.dot = {"S3", 2, 4}}, {.register_tile = true}}, 4096};
}

TEST(MappingText, SaysEveryField) {
  EXPECT_EQ(
      to_string(full_mapping()),
      "parallel 1, blocks 64x0x0, above 1 0, register 8x48x1, S0: i1 x16, S1: i2 x8 unroll 4, S2: scalar, stage Y, "
      "stage Z, S1: i3 in blocks of 512, S1: i3 in products of matrices 16x4, S1: i4 slides along i0 width 3 step 2, "
      "pack read 1 of S1 in panels of 48 i1 lanes 16, pack read 0 of S1 in rows of 8 i0 below blocks lanes 8, "
      "pack read 2 of S1 in panels of 4 i1 once lanes 4, copies along 1 x16\n"
      "serial\n"
      "members 2\n"
      "outermost 0\n"
      "S3: i2 in dot products of 4\n"
      "register\n"
      "buffers 4096\n");
}

TEST(MappingText, ParsesBack) {
  EXPECT_EQ(parse_mapping(to_string(full_mapping())), full_mapping());
  EXPECT_EQ(parse_mapping(""), Mapping{});
}

GridMapping full_grid_mapping() {
  GridClusterMapping cluster{.members = {{128, 1, {1, 4}}, {1, 0, {}}, {0, -1, {-1, 2}}},
                             .statements = {{"S0", {{1, {0, 4}}, {2, {1, 1}}}, false, false, true, true},
                                            {"S1", {}},
                                            {"S2", {{0, {-1, 1}, 3}}},
                                            {"S3", {}, true, true, false, false}},
                             .others = {"", {}, false, true, true, false},
                             .blocks = {"S0", 3, 16, 3},
                             .separate = true,
                             .staged = {"Y", "Z"},
                             .promoted = {"t"},
                             .grid = {32, 16, 1},
                             .block = {16, 16, 2},
                             .thread_elements = 64,
                             .shared_bytes = 49152,
                             .blocks_per_multiprocessor = 2};
  cluster.copies = {{"S0", 1, 2, 3, 4, 2, GridCopy::Way::Asynchronous}, {"S0", 0}};
  return {{cluster, {}}};
}

TEST(GridMappingText, SaysEveryField) {
  EXPECT_EQ(
      to_string(full_grid_mapping()),
      "grid 32x16, block 16x16x2, member 0 tile 128 blocks y threads y run 4, member 1 tile 1 blocks x, member 2 tile "
      "0 "
      "run 2, S0: i1 threads x run 4, S0: i2 threads y, S0: vector unroll, S1: plain, S2: i0 beside 3, S3: together "
      "tile, "
      "others: tile vector, S0: i3 in blocks of 16 slots 3, copy read 1 of S0 along i2 run i3 vector 4 beside 2 "
      "asynchronous, "
      "copy read 0 of S0 by registers, separate full tiles, stage Y, stage Z, promote t, thread elements 64, "
      "shared bytes 49152, blocks per multiprocessor 2\n"
      "grid 1, block 1\n");
}

TEST(GridMappingText, ParsesBack) {
  EXPECT_EQ(parse_grid_mapping(to_string(full_grid_mapping())), full_grid_mapping());
  EXPECT_EQ(parse_grid_mapping(""), GridMapping{});
}

/// The message of the error that \p text is, "" if it is none.
template <typename Parse>
std::string error_of(const std::string& text, Parse parse) {
  try {
    parse(text);
    return "";
  } catch (const OptionsError& error) {
    return error.what();
  }
}

struct BadText {
  const char* text;
  const char* message;
};

TEST(MappingText, ShowsThePartThatMeansNothing) {
  const BadText cases[] = {
      {"points 1x16, tile 3", "'tile 3' is no part of a mapping: 'tile' is not known"},
      {"points 1x", "'' is no number"},
      {"points 0x4", "0 is less than 1"},
      {"points 1x16, blocks 4", "another part has other members"},
      {"members 1000", "a band has at most 64 members"},
      {"parallel", "it ends too early"},
      {"parallel 0 1", "'1' means nothing here"},
      {"S0: j1 x16", "'j1' does not start with 'i'"},
      {"S0: i1 y16", "'y16' does not start with 'x'"},
      {"S0: i1 x99999999999999999999", "is no number"},
      {"S0: i1 x9999999999", "9999999999 is too large"},
      {"S1: i2 in products of matrices 16", "products of matrices have"},
      {"S1: i2 slides along i1 step 1", "'width' is missing"},
      {"pack read 1 of S1 in heaps of 4 i1", "'rows' is missing"},
      {"copies 1 x4", "'along' is missing"},
      {"serial,, serial", "it ends too early"},
  };
  for (const auto& test : cases) {
    auto message = error_of(test.text, parse_mapping);
    EXPECT_NE(message.find(test.message), std::string::npos) << test.text << ": " << message;
  }
}

TEST(GridMappingText, ShowsThePartThatMeansNothing) {
  const BadText cases[] = {
      {"grid 1x1x1x1", "there are three dimensions"},
      {"grid 0", "0 is less than 1"},
      {"member 1 tile 4", "members stand in their order"},
      {"member 0 tile 4 blocks w", "'w' is none of x, y, z"},
      {"member 0 tile 4 threads x run 0", "0 is less than 1"},
      {"S0: vector fast", "'fast' means nothing here"},
      {"S0: fast", "'fast' does not start with 'i'"},
      {"copy read 0 of S0 along 2", "'2' does not start with 'i'"},
      {"separate tiles", "'separate' is not known"},
  };
  for (const auto& test : cases) {
    auto message = error_of(test.text, parse_grid_mapping);
    EXPECT_NE(message.find(test.message), std::string::npos) << test.text << ": " << message;
  }
}

}  // namespace
}  // namespace tc::polyhedral
