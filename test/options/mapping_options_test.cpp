#include "tc/options/mapping_options.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <unordered_set>

#include "tc/base/error.h"
#include "test/options/options_cases.h"
#include "test/support/expect_error.h"

namespace tc::options {
namespace {

/// Code and what it makes; a line break before a call is no part of the code.
std::string one_line(std::string code) {
  for (auto at = code.find(" ."); at != std::string::npos; at = code.find(" .")) code.erase(at, 1);
  return code;
}
#define ROW(text, code, python) {text, one_line("tc::options::" #code), python, code}

struct Row {
  std::string text, cpp, python;
  MappingOptions options;
};

std::vector<Row> rows() {
  return {
      ROW("", MappingOptions(), "MappingOptions()"),
      ROW("fusion=max,tile=32x0x8",
          MappingOptions().with_fusion(tc::options::FusionStrategy::Max).with_tile({32, 0, 8}),
          "MappingOptions(fusion='max', tile=[32, 0, 8])"),
      ROW("fusion=min,allow_skewing=1,positive_orthant=0",
          MappingOptions()
              .with_fusion(tc::options::FusionStrategy::Min)
              .with_allow_skewing(true)
              .with_positive_orthant(false),
          "MappingOptions(fusion='min', allow_skewing=True, positive_orthant=False)"),
      ROW("promote=0,quota=7,parallel=0,vectorise=0",
          MappingOptions().with_promote(false).with_quota(7).with_parallel(false).with_vectorise(false),
          "MappingOptions(promote=False, quota=7, parallel=False, vectorise=False)"),
      ROW("promote_bytes=4096,vector_bytes=32,register_tile=6x2,unroll=8",
          MappingOptions().with_promote_bytes(4096).with_vector_bytes(32).with_register_tile({6, 2}).with_unroll(8),
          "MappingOptions(promote_bytes=4096, vector_bytes=32, register_tile=[6, 2], unroll=8)"),
      ROW("prefetch=0,prefetch_distance=2", MappingOptions().with_prefetch(false).with_prefetch_distance(2),
          "MappingOptions(prefetch=False, prefetch_distance=2)"),
      ROW("pack=0,reduction_block=256", MappingOptions().with_pack(false).with_reduction_block(256),
          "MappingOptions(pack=False, reduction_block=256)"),
      ROW("reduction_parts=64", MappingOptions().with_reduction_parts(64), "MappingOptions(reduction_parts=64)"),
      ROW("batch_invariant=1", MappingOptions().with_batch_invariant(true), "MappingOptions(batch_invariant=True)"),
      ROW("grid=256x4,block=32x8,shared=0,registers=0",
          MappingOptions().with_grid({256, 4}).with_block({32, 8}).with_shared(false).with_registers(false),
          "MappingOptions(grid=[256, 4], block=[32, 8], shared=False, registers=False)"),
      ROW("shared_bytes=65536,reduce_in_block=0,unroll_limit=16",
          MappingOptions().with_shared_bytes(65536).with_reduce_in_block(false).with_unroll_limit(16),
          "MappingOptions(shared_bytes=65536, reduce_in_block=False, unroll_limit=16)"),
      ROW("cooperative=1", MappingOptions().with_cooperative(true), "MappingOptions(cooperative=True)"),
      ROW("construct=roller", MappingOptions().with_construct(tc::options::Construction::Roller),
          "MappingOptions(construct='roller')"),
      ROW("construct=gensor!", MappingOptions().with_construct(tc::options::Construction::GensorAlone),
          "MappingOptions(construct='gensor!')"),
      ROW("gather_reuse=3", MappingOptions().with_gather_reuse(3), "MappingOptions(gather_reuse=3)"),
      ROW("nest=nest of S0|m0/8 on cores|S0: m0%8", MappingOptions().with_nest("nest of S0|m0/8 on cores|S0: m0%8"),
          "MappingOptions(nest='nest of S0|m0/8 on cores|S0: m0%8')"),
      ROW("parallel_along=n,vector_along=o/i_2",
          MappingOptions().with_parallel_along({"n"}).with_vector_along({"o", "i_2"}),
          "MappingOptions(parallel_along=['n'], vector_along=['o', 'i_2'])"),
  };
}

TEST(MappingOptions, PrintAsTextAndAsCodeThatMakesThem) {
  for (const auto& row : rows()) {
    EXPECT_EQ(row.options.to_text(), row.text);
    EXPECT_EQ(row.options.to_cpp(), row.cpp);
    EXPECT_EQ(row.options.to_python(), row.python);
    EXPECT_EQ(MappingOptions::parse(row.text), row.options) << row.text;
  }
}

TEST(MappingOptions, EveryOptionHasARow) {
  std::string texts;
  for (const auto& row : rows()) texts += "," + row.text;
  for (const auto& name : MappingOptions::names()) EXPECT_NE(texts.find("," + name + "="), std::string::npos) << name;
}

/// The tables of the page have one row an option, in the order of the schema, with its default.
TEST(MappingOptions, EveryOptionIsDocumented) {
  std::ifstream in(std::string(TC_SOURCE_DIR) + "/docs/options.md");
  std::string page(std::istreambuf_iterator<char>(in), {});
  auto section =
      page.substr(page.find("## The options"), page.find("## Strategies with names") - page.find("## The options"));
  const std::regex row(R"(\n\| `(\w+)` \| `?(\w+)`? \|)");
  std::vector<std::string> documented;
  for (std::sregex_iterator match(section.begin(), section.end(), row), end; match != end; ++match) {
    documented.push_back((*match)[1]);
    auto text = text_of(MappingOptions().value(documented.back()));
    EXPECT_EQ((*match)[2], text.empty() ? "none" : text) << documented.back();
  }
  EXPECT_EQ(documented, MappingOptions::names());
}

TEST(MappingOptions, DefaultsAreThoseOfThePasses) {
  EXPECT_EQ(MappingOptions().values(), polyhedral::MappingOptions{});
  EXPECT_EQ(MappingOptions(),
            MappingOptions().with_fusion(FusionStrategy::Preserve3Coincident).with_parallel().with_tile({}));
}

TEST(MappingOptions, ReachThePasses) {
  polyhedral::MappingOptions plain;
  plain.fusion = FusionStrategy::Min;
  plain.allow_skewing = true;
  plain.positive_orthant = false;
  plain.tile = {4, 0};
  plain.promote = false;
  plain.quota = 9;
  plain.parallel = false;
  plain.vectorise = false;
  plain.promote_bytes = 10;
  plain.reduction_parts = 13;
  plain.batch_invariant = true;
  plain.nest = "nest of S0|S0:";
  plain.vector_bytes = 16;
  plain.register_tile = {3, 4};
  plain.unroll = 2;
  plain.pack = false;
  plain.reduction_block = 5;
  plain.prefetch = false;
  plain.prefetch_distance = 7;
  plain.parallel_along = {"a", "b"};
  plain.vector_along = {"c"};
  plain.grid = {2, 3};
  plain.block = {64};
  plain.shared = false;
  plain.registers = false;
  plain.shared_bytes = 11;
  plain.reduce_in_block = false;
  plain.unroll_limit = 12;
  plain.cooperative = true;
  plain.gather_reuse = 14;
  auto options = MappingOptions::parse(
      "gather_reuse=14,cooperative=1,batch_invariant=1,nest=nest of "
      "S0|S0:,reduction_parts=13,unroll_limit=12,reduce_in_block=0,shared_"
      "bytes=11,registers=0,"
      "shared=0,block="
      "64,grid=2x3,reduction_block=5,prefetch=0,prefetch_distance=7,pack=0,vector_along=c,parallel_along=a/"
      "b,unroll=2,register_tile=3x4,vector_bytes=16,promote_bytes=10,vectorise=0,parallel=0,quota=9,promote=0,tile=4x0,"
      "positive_orthant=0,allow_skewing=1,fusion=min");
  EXPECT_EQ(options.values(), plain);
}

/// No option can be forgotten on its way to the compiler: each changes what passes take, or what chooses.
TEST(MappingOptions, EveryOptionChangesWhatIsTaken) {
  std::mt19937 random(1);
  for (const auto& field : fields()) {
    bool changes = false;
    for (int i = 0; i < 20 && !changes; ++i) {
      auto options = MappingOptions().with(field.name(), random_value(field, random));
      changes = !(options.values() == polyhedral::MappingOptions{}) || options.construct() != Construction::Checked;
    }
    EXPECT_TRUE(changes) << field.name();
  }
}

TEST(MappingOptions, StrategiesHaveNames) {
  EXPECT_EQ(MappingOptions::named("naive").to_text(),
            "tile=32x32x32,reduction_parts=1,grid=256x256,block=32x8,shared=0,registers=0,reduce_in_block=0");
  EXPECT_EQ(MappingOptions::parse("naive"), MappingOptions::named("naive"));
  EXPECT_EQ(MappingOptions::parse("construct").construct(), Construction::BestFirst);
  EXPECT_EQ(MappingOptions::parse("construct:roller,parallel=0").construct(), Construction::Roller);
  EXPECT_EQ(MappingOptions::named("construct:gensor").to_text(), "construct=gensor");
  EXPECT_EQ(MappingOptions::parse("construct:gensor_printed").construct(), Construction::GensorPrinted);
  EXPECT_EQ(MappingOptions::parse("construct=best_first!").construct(), Construction::BestFirstAlone);
  EXPECT_EQ(MappingOptions::parse("construct=roller!").construct(), Construction::RollerAlone);
  EXPECT_ERROR(MappingOptions::parse("construct=rules!"), OptionsError,
               "mapping option 'construct=rules!': must be rules, best_first, roller, gensor, gensor_printed, checked, "
               "best_first!, roller! or gensor!");
  EXPECT_EQ(MappingOptions::parse("mlp,block=64").to_text(),
            "fusion=max,tile=1,reduction_parts=1,grid=128,block=64,shared=0,registers=0,reduce_in_block=0");
  for (const auto& name : MappingOptions::strategies())
    EXPECT_EQ(MappingOptions::parse(MappingOptions::named(name).to_text()), MappingOptions::named(name)) << name;
  EXPECT_ERROR(
      MappingOptions::named("best"), OptionsError,
      "no mapping strategy has this name; those that have one are naive, single_thread, pointwise, mlp, conv, "
      "group_conv, construct, construct:best_first, construct:roller, construct:gensor, construct:gensor_printed");
  EXPECT_ERROR(MappingOptions::parse("block=64,naive"), OptionsError,
               "no mapping option 'naive'; the options are fusion, ");
}

TEST(MappingOptions, WithLeavesTheOriginal) {
  auto first = MappingOptions().with_tile({8});
  auto second = first.with_tile({16}).with("parallel", std::int64_t{0}).with("fusion", "max");
  EXPECT_EQ(first.to_text(), "tile=8");
  EXPECT_EQ(second.to_text(), "fusion=max,tile=16,parallel=0");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(second.value("tile")), std::vector<std::int64_t>{16});
  EXPECT_EQ(std::get<std::string>(second.value("fusion")), "max");
}

TEST(MappingOptions, TextAndBytesAreInversesAndEqualityIsOfValues) {
  std::mt19937 random(2);
  std::set<std::string> texts;
  std::unordered_set<MappingOptions> values;
  for (int i = 0; i < 500; ++i) {
    auto options = random_options(random);
    EXPECT_EQ(MappingOptions::parse(options.to_text()), options) << options.to_text();
    EXPECT_EQ(MappingOptions::from_bytes(options.to_bytes()), options) << options.to_text();
    EXPECT_EQ(MappingOptions::from_bytes(options.to_bytes()).values(), options.values());
    texts.insert(options.to_text());
    values.insert(options);
  }
  EXPECT_EQ(texts.size(), values.size());
  EXPECT_GT(texts.size(), 300u);
}

TEST(MappingOptions, ErrorsNameTheOptionAndWhatItMayBe) {
  const std::string all =
      "fusion, allow_skewing, positive_orthant, tile, promote, quota, promote_bytes, reduction_parts, batch_invariant, "
      "nest, "
      "parallel, "
      "vectorise, "
      "vector_bytes, register_tile, unroll, pack, reduction_block, prefetch, prefetch_distance, construct, "
      "parallel_along, "
      "vector_along, "
      "grid, block, shared, registers, shared_bytes, reduce_in_block, unroll_limit, cooperative, gather_reuse";
  const std::string sizes = "at most 16 sizes joined by 'x', for example 32x64, where 0 leaves a loop whole";
  struct Case {
    std::string text, message;
  };
  for (const auto& c : std::vector<Case>{
           {"fusion=most", "mapping option 'fusion=most': must be max, preserve3 or min"},
           {"fusion=", "mapping option 'fusion=': must be max, preserve3 or min"},
           {"parallel=2", "mapping option 'parallel=2': must be 0 or 1"},
           {"parallel", "mapping option 'parallel' has no value: write parallel=..., which must be 0 or 1"},
           {"tile=3x", "mapping option 'tile=3x': must be " + sizes},
           {"tile=3x-1", "mapping option 'tile=3x-1': must be " + sizes},
           {"tile=1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1",
            "mapping option 'tile=1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1': must be " + sizes},
           {"tile=99999999999999999999", "mapping option 'tile=99999999999999999999': must be " + sizes},
           {"quota=-1", "mapping option 'quota=-1': must be a number of isl operations, 0 for no limit"},
           {"quota=1,quota=2", "mapping option 'quota' is given twice"},
           {"vector_bytes=24",
            "mapping option 'vector_bytes=24': must be a power of two up to 64, 0 for the target's width"},
           {"vector_bytes=128",
            "mapping option 'vector_bytes=128': must be a power of two up to 64, 0 for the target's width"},
           {"register_tile=6",
            "mapping option 'register_tile=6': must be rows and columns of accumulators, for example "
            "6x2, each from 1 to 32"},
           {"unroll=3",
            "mapping option 'unroll=3': must be 1, 2, 4, 8 or 16 vectors in flight, 0 for the strategy's choice"},
           {"nest=\n",
            "mapping option 'nest=\\x0a': must be nests in one line, as a tuning finds them; 'nest=' of a compile "
            "takes a text"},
           {"colour=red", "no mapping option 'colour'; the options are " + all},
           {"quota=1,", "no mapping option ''; the options are " + all}}) {
    try {
      MappingOptions::parse(c.text);
      ADD_FAILURE() << c.text;
    } catch (const OptionsError& e) {
      EXPECT_EQ(e.what(), c.message);
    }
  }
}

TEST(MappingOptions, ValuesOfTheWrongKindAreErrors) {
  EXPECT_ERROR(MappingOptions().with("tile", std::int64_t{32}), OptionsError,
               "mapping option 'tile=32': must be at most 16 sizes joined by 'x', for example 32x64, where 0 leaves a "
               "loop whole");
  EXPECT_ERROR(MappingOptions().with("quota", true), OptionsError,
               "mapping option 'quota=1': must be a number of isl operations, 0 for no limit");
  EXPECT_ERROR(MappingOptions().with("parallel", std::int64_t{2}), OptionsError,
               "mapping option 'parallel=2': must be 0 or 1");
  EXPECT_ERROR(MappingOptions().with("parallel", std::vector<std::int64_t>{1}), OptionsError,
               "mapping option 'parallel=1': must be 0 or 1");
  EXPECT_ERROR(MappingOptions().with("fusion", std::int64_t{1}), OptionsError,
               "mapping option 'fusion=1': must be max, preserve3 or min");
  EXPECT_ERROR(MappingOptions().with_tile({-1}), OptionsError,
               "mapping option 'tile=-1': must be at most 16 sizes joined by 'x', for example 32x64, where 0 leaves a "
               "loop whole");
  EXPECT_ERROR(MappingOptions().with_vector_along({"a/b"}), OptionsError,
               "mapping option 'vector_along=a/b': must be names of iterators joined by '/', for example n/o");
  EXPECT_ERROR(MappingOptions().with_vector_along({""}), OptionsError,
               "mapping option 'vector_along=': must be names of iterators joined by '/', for example n/o");
  EXPECT_ERROR(MappingOptions().with("vector_along", std::vector<std::int64_t>{1}), OptionsError,
               "mapping option 'vector_along=1': must be names of iterators joined by '/', for example n/o");
  EXPECT_ERROR(MappingOptions::parse("vector_along=a//b"), OptionsError,
               "mapping option 'vector_along=a//b': must be names of iterators joined by '/', for example n/o");
  EXPECT_ERROR(MappingOptions().with_fusion(static_cast<FusionStrategy>(17)), OptionsError,
               "mapping option 'fusion' is no FusionStrategy");
  EXPECT_ERROR(MappingOptions().value("colour"), OptionsError, "no mapping option 'colour'; the options are fusion, ");
}

}  // namespace
}  // namespace tc::options
