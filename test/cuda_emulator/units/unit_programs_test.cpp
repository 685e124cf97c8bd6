// Products that units for matrices compute, in the tiles that nests give: values and laws, in several interleavings.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tc/base/str.h"
#include "tc/cuda/cubin.h"
#include "tc/cuda/nvrtc.h"
#include "test/cuda_emulator/device_program.h"
#include "test/cuda_emulator/units/unit_nests.h"
#include "test/support/program_file.h"

namespace tc::test {
namespace {

using strategy::UnitTile;

struct UnitProgram {
  const char *name, *text;  ///< HALF stands for both types that units multiply
  lang::SizeMap sizes;
  std::vector<UnitTile> tiles;
  bool laws = false;  ///< are verified for the first tile; for all where TC_ALL_RUNS=1
  bool exact = true;  ///< results on integers are those of the interpreter, bit for bit
};

const lang::SizeMap unit_sizes = {{"M", 32}, {"N", 16}, {"K", 48}};
/// Warps along rows and along columns, two and three slots. The first two are run always, one of each type.
const std::vector<UnitTile> all_tiles = {
    {16, 8, 2, 2, 16, 3}, {32, 16, 1, 1, 16, 2}, {16, 16, 2, 1, 16, 2}, {32, 8, 1, 2, 16, 2}};
const std::vector<UnitTile> some_tiles = {{16, 8, 2, 2, 16, 3}, {16, 16, 1, 1, 16, 2}};

const UnitProgram unit_programs[] = {
    {"nn", "def f(HALF(M,K) A, HALF(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", unit_sizes, all_tiles},
    {"nt", "def f(HALF(M,K) A, HALF(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }", unit_sizes, all_tiles, true},
    {"tn", "def f(HALF(K,M) A, HALF(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }", unit_sizes, all_tiles},
    {"tt", "def f(HALF(K,M) A, HALF(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }", unit_sizes, all_tiles},
    {"transposed_result",
     "def f(HALF(M,K) A, HALF(K,N) B) -> (C) { C(n,m) +=! A(m,k) * B(k,n) }",
     unit_sizes,
     {{16, 8, 1, 2, 16, 3}, {16, 32, 1, 1, 16, 2}},
     true},
    {"floats", "def f(HALF(M,K) A, HALF(K,N) B) -> (float(M,N) C) { C(m,n) +=! A(m,k) * B(k,n) }", unit_sizes,
     some_tiles},
    {"deep",
     "def f(HALF(M,K) A, HALF(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
     {{"M", 16}, {"N", 16}, {"K", 128}},
     {{16, 8, 1, 2, 64, 2}, {16, 8, 1, 2, 32, 4}}},
    {"bias_relu",
     "def f(HALF(M,K) A, HALF(N,K) B, HALF(N) b) -> (Y) {\n"
     "  C(m,n) +=! A(m,k) * B(n,k)\n  Y(m,n) = relu(C(m,n) + b(n))\n}",
     unit_sizes, some_tiles, true},
    {"scaling",
     "def f(HALF(M,K) A, HALF(K,N) B, HALF(M) s) -> (Y) {\n"
     "  C(m,n) +=! A(m,k) * B(k,n)\n  Y(m,n) = C(m,n) * s(m) / 2\n}",
     unit_sizes, some_tiles},
    {"gelu",
     "def f(HALF(M,K) A, HALF(N,K) B, float(N) b) -> (float(M,N) C, Y) {\n"
     "  C(m,n) +=! A(m,k) * B(n,k)\n  Y(m,n) = gelu(C(m,n) + b(n))\n}",
     unit_sizes, some_tiles, false, false},
    {"batched",
     "def f(HALF(B,M,K) X, HALF(B,K,N) Y) -> (Z) { Z(b,m,n) +=! X(b,m,k) * Y(b,k,n) }",
     {{"B", 3}, {"M", 16}, {"N", 16}, {"K", 48}},
     {{16, 8, 1, 2, 16, 3}},
     true},
    {"shared_weights",
     "def f(HALF(B,M,K) X, HALF(N,K) W) -> (Z) { Z(b,m,n) +=! X(b,m,k) * W(n,k) }",
     {{"B", 2}, {"M", 16}, {"N", 16}, {"K", 48}},
     {{16, 8, 1, 2, 16, 3}}},
};

/// Every pair of a program and a tile is run where TC_ALL_RUNS=1, as in `make test-long`; else bfloat16 runs the
/// first tile and float16 the second.
bool tile_is_taken(const std::string& half, std::size_t tile) {
  return all_runs_are_taken() || tile == (half == "bfloat16" ? 0 : 1);
}

void PrintTo(const UnitProgram& program, std::ostream* out) { *out << program.text; }

class UnitPrograms : public testing::TestWithParam<UnitProgram> {
 protected:
  static ProgramFile of_type(std::string text, const std::string& half) {
    for (std::size_t at; (at = text.find("HALF")) != std::string::npos;) text.replace(at, 4, half);
    ProgramFile file;
    file.text = text;
    return file;
  }

  static void check(const std::shared_ptr<const engine::Function>& function, const Arguments& arguments,
                    const Reference& want, const UnitTile& tile, bool laws) {
    engine::CompileOptions options;
    options.target = Target::parse(tile.slots % 2 == 0 ? "cuda:sm_80" : "cuda:sm_90");
    options.stages.verify = laws;
    const auto nest = unit_nest(function, arguments, options, {tile});
    ASSERT_TRUE(nest) << "the tile does not fit";
    SCOPED_TRACE(*nest);
    options.stages.replace["nest"] = *nest;
    const auto program = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
    EXPECT_NE(program.text.find("tc_multiply_m16n8k16"), std::string::npos) << program.text;
    EXPECT_NE(program.text.find("tc_copy_async_16"), std::string::npos) << program.text;
    EXPECT_EQ(emulated_mismatch(program, *function, arguments, {1}, want).value_or(""), "");
    if (!GetParam().exact) return;
    const auto got = emulate(program, *function, arguments, {.seed = 2});
    EXPECT_EQ(got.faults, "");
    EXPECT_EQ(first_difference(*function, got.outputs, want.outputs, Tolerances{}).value_or(""), "");
  }
};

TEST_P(UnitPrograms, AreRightInEveryTile) {
  const std::string halves[] = {"bfloat16", "half"};
  for (const auto& half : halves) {
    const auto file = of_type(GetParam().text, half);
    const auto function = function_of(file, GetParam().name);
    const auto arguments = make_arguments(*function, file, GetParam().sizes);
    const auto want = reference(*function, arguments);
    for (std::size_t i = 0; i < GetParam().tiles.size(); ++i) {
      const auto& tile = GetParam().tiles[i];
      if (!tile_is_taken(half, i)) continue;
      SCOPED_TRACE(str(half, ", tiles of ", tile.rows, "x", tile.columns, ", warps ", tile.warp_rows, "x",
                       tile.warp_columns, ", blocks of ", tile.block, " in ", tile.slots, " slots"));
      check(function, arguments, want, tile, all_runs_are_taken() || (GetParam().laws && i == 0 && half == *halves));
    }
  }
}

/// Sizes that are no multiples of tiles: operands are copied with zeros beside them, whatever lies behind a tensor.
TEST(PaddedProducts, AreThoseOfWholeTiles) {
  for (const char* type : {"bfloat16", "float"})
    for (const char* operands : {"A(m,k) * B(k,n)", "A(k,m) * B(n,k)"}) {
      const bool plain = std::string(operands).find("A(m") != std::string::npos;
      ProgramFile file;
      file.text = str("def f(", type, plain ? "(M,K) A, " : "(K,M) A, ", type, plain ? "(K,N) B, " : "(N,K) B, ", type,
                      "(N) b) -> (Y) {\n  C(m,n) +=! ", operands, "\n  Y(m,n) = C(m,n) + b(n)\n}");
      SCOPED_TRACE(file.text);
      const auto function = function_of(file, "padded");
      const auto arguments = make_arguments(*function, file, {{"M", 125}, {"N", 123}, {"K", 95}});
      engine::CompileOptions options;
      options.target = Target::parse("cuda:sm_90");
      options.stages.verify = std::string(type) == "float" && plain;
      const auto program = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
      EXPECT_NE(program.text.find("padded_A"), std::string::npos) << program.text;
      const auto got = emulate(program, *function, arguments, {.seed = 2});
      EXPECT_EQ(got.faults, "");
      EXPECT_EQ(
          first_difference(*function, got.outputs, reference(*function, arguments).outputs, Tolerances{}).value_or(""),
          "");
    }
}

/// No asynchronous copy moves two bytes, so threads copy an operand that begins anywhere themselves.
TEST(UnitNests, TakeOperandsThatBeginAnywhere) {
  ProgramFile file;
  file.text = "def f(half(M,K) A, half(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const auto function = function_of(file, "anywhere");
  const auto arguments = make_arguments(*function, file, {{"M", 16}, {"N", 8}, {"K", 32}});
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  const auto nest = unit_nest(function, arguments, options, {{16, 8, 1, 1, 16, 2}});
  ASSERT_TRUE(nest);
  options.stages.replace["nest"] = *nest;
  options.unaligned = {"A"};
  const auto program = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
  EXPECT_EQ(program.text.find("tc_copy_async_2"), std::string::npos) << program.text;
  EXPECT_EQ(emulated_mismatch(program, *function, arguments, {1, 2}, reference(*function, arguments)).value_or(""), "");
}

struct GroupProgram {
  const char *name, *type, *text;
  lang::SizeMap sizes;
  UnitTile tile;
  bool laws = false;
};

const GroupProgram group_programs[] = {
    {"nt",
     "bfloat16",
     "def f(HALF(M,K) A, HALF(N,K) B) -> (float(M,N) C) { C(m,n) +=! A(m,k) * B(n,k) }",
     {{"M", 64}, {"N", 64}, {"K", 192}},
     {64, 64, 1, 1, 64, 3},
     true},
    {"nt_groups",
     "half",
     "def f(HALF(M,K) A, HALF(N,K) B, HALF(N) b) -> (Y) {\n"
     "  C(m,n) +=! A(m,k) * B(n,k)\n  Y(m,n) = relu(C(m,n) + b(n))\n}",
     {{"M", 128}, {"N", 128}, {"K", 256}},
     {64, 64, 2, 2, 64, 4}},
    {"nn",
     "bfloat16",
     "def f(HALF(M,K) A, HALF(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 64}, {"N", 256}, {"K", 192}},
     {64, 128, 1, 2, 64, 3}},
    {"tn",
     "bfloat16",
     "def f(HALF(K,M) A, HALF(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }",
     {{"M", 64}, {"N", 192}, {"K", 192}},
     {64, 192, 1, 1, 64, 3}},
    {"tt",
     "half",
     "def f(HALF(K,M) A, HALF(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }",
     {{"M", 64}, {"N", 256}, {"K", 192}},
     {64, 256, 1, 1, 64, 3}},
    {"transposed_result",
     "bfloat16",
     "def f(HALF(M,K) A, HALF(K,N) B) -> (C) { C(n,m) +=! A(m,k) * B(k,n) }",
     {{"M", 128}, {"N", 64}, {"K", 192}},
     {64, 128, 1, 1, 64, 3}},
    {"batched",
     "bfloat16",
     "def f(HALF(B,M,K) X, HALF(B,N,K) Y) -> (Z) { Z(b,m,n) +=! X(b,m,k) * Y(b,n,k) }",
     {{"B", 2}, {"M", 64}, {"N", 64}, {"K", 192}},
     {64, 64, 1, 1, 64, 3}},
};

void PrintTo(const GroupProgram& program, std::ostream* out) { *out << program.text; }

class GroupPrograms : public testing::TestWithParam<GroupProgram> {
 protected:
  static ProgramFile file() {
    ProgramFile result;
    result.text = GetParam().text;
    for (std::size_t at; (at = result.text.find("HALF")) != std::string::npos;)
      result.text.replace(at, 4, GetParam().type);
    return result;
  }
};

/// Products by groups of 4 warps, which read operands from shared memory while threads go on.
TEST_P(GroupPrograms, AreRight) {
  const auto& program = GetParam();
  const auto function = function_of(file(), program.name);
  const auto arguments = make_arguments(*function, file(), program.sizes);
  const auto want = reference(*function, arguments);
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  options.stages.verify = program.laws || all_runs_are_taken();
  const auto nest = unit_nest(function, arguments, options, {program.tile}, true);
  ASSERT_TRUE(nest) << "the tile does not fit";
  SCOPED_TRACE(*nest);
  EXPECT_NE(nest->find(str("by unit m64n", program.tile.columns, "k16")), std::string::npos);
  options.stages.replace["nest"] = *nest;
  const auto made = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
  EXPECT_NE(made.text.find("tc_multiply_m64n"), std::string::npos) << made.text;
  for (std::uint64_t seed = 1; seed <= (all_runs_are_taken() ? 3 : 1); ++seed) {
    const auto got = emulate(made, *function, arguments, {.seed = seed});
    EXPECT_EQ(got.faults, "") << made.text;
    EXPECT_EQ(first_difference(*function, got.outputs, want.outputs, Tolerances{}).value_or(""), "") << made.text;
  }
}

/// Machine code of a product of 4096 cubed: four products of 64 x 256 x 16 a block of 64 steps, copies ahead, one barrier, and
/// nothing of which the compiler says that products wait for each other (C7510).
TEST(GroupGate, MatrixProducts) {
  if (!cuda::nvrtc_version()) GTEST_SKIP() << "NVRTC is not installed";
  const std::vector<const char*> all{"A(m,k) * B(n,k)", "A(k,m) * B(k,n)", "A(m,k) * B(k,n)", "A(k,m) * B(n,k)"};
  const std::vector<const char*> first(all.begin(), all.begin() + 1);
  for (const char* operands : all_runs_are_taken() ? all : first)
    for (const char* type : {"bfloat16", "half"}) {
      if (std::string(type) == "half" && !all_runs_are_taken()) continue;
      ProgramFile file;
      file.text = str("def mm(", type, "(N,N) A, ", type, "(N,N) B) -> (C) { C(m,n) +=! ", operands, " }");
      const auto function = function_of(file, "mm");
      const auto spec = contiguous(*parse_dtype(type), {4096, 4096});
      engine::CompileOptions options;
      options.target = Target::parse("cuda:sm_90");
      const auto nest = unit_nest(function, {spec, spec}, {}, options, {{64, 256, 2, 1, 64, 4}}, true);
      ASSERT_TRUE(nest);
      options.stages.replace["nest"] = *nest;
      const auto program = device_program(function, {spec, spec}, {}, options);
      const auto cubin = cuda::compile_cubin(program.text, "sm_90a");
      EXPECT_EQ(cubin.log, "");
      auto stats = cuda::read_cubin(cubin.bytes).at(0);
      SCOPED_TRACE(str(operands, "\n", to_string(stats), program.text));
      std::int64_t instructions = 0;
      for (const auto& [opcode, count] : stats.main_loop) instructions += count;
      EXPECT_EQ(stats.main_loop["HGMMA"], 4);
      EXPECT_LE(instructions, 176);
      EXPECT_EQ(stats.main_loop["BAR"], 1);
      EXPECT_EQ(stats.accesses["LDGSTS.128"], stats.count("LDGSTS"));
      EXPECT_EQ(stats.spill_store_bytes + stats.spill_load_bytes + stats.stack_bytes, 0);
      EXPECT_LE(stats.registers, 255);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, GroupPrograms, testing::ValuesIn(group_programs),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Table, UnitPrograms, testing::ValuesIn(unit_programs),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tc::test
