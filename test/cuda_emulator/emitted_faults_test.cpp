// Changes the emitted text of programs of test/filetests/programs, one place at a time: each change must be found, by
// the report that fits it.

#include <gtest/gtest.h>

#include <regex>

#include "test/cuda_emulator/device_program.h"
#include "test/support/program_file.h"

namespace tc::test {
namespace {

struct Change {
  const char *name, *options;
  const char *from, *to;  ///< a regular expression, and what takes the place of one match
  const char* report;     ///< what the reports must name; empty: any report or a wrong value
  std::vector<const char*> programs;
  std::size_t least;  ///< changes there must be at least
};

const Change changes[] = {
    {"MissingBarrier",
     "fusion=max",
     R"(tc_barrier\(\);)",
     "",
     "race",
     {"033_softmax", "035_layer_norm", "036_batch_norm", "047_shifted_padding", "072_normalise", "088_diamond",
      "108_tiles_of_products"},
     8},
    {"MissingGuard",
     "",
     R"(if \(block_x[^{]*<=[^{]*\) \{)",
     "{",
     "out of bounds",
     {"033_softmax", "035_layer_norm"},
     2},
    {"MissingInitialisation", "", R"(\n[^\n]* = 0\.0f;)", "\n", "", {"016_tmm", "019_batch_matmul"}, 2},
    {"MissingBarrierInATile", "", R"(tc_barrier\(\);)", "", "race", {"108_tiles_of_products"}, 2},
    {"WaitForOneGroupTooFew",
     "",
     R"(tc_copy_wait<(\d)>\(\);)",
     "tc_copy_wait<$1 + 1>();",
     "to which a copy is in flight",
     {"116_copies_that_run_ahead"},
     2},
    {"MissingWait",
     "",
     R"(tc_copy_wait<\d>\(\);)",
     "",
     "to which a copy is in flight",
     {"116_copies_that_run_ahead"},
     2},
    {"GatherOfAnotherRow",
     "",
     R"((const int subscript = local_block_I\[))",
     "$1 1 + ",
     "",
     {"117_gathered_rows_of_a_product"},
     1},
    {"MissingBarrierBehindAGather",
     "",
     R"(tc_barrier\(\);)",
     "",
     "",
     {"117_gathered_rows_of_a_product", "118_gather_used_by_several"},
     3},
    {"CopyTooLittle",
     "construct=rules",
     R"((% 32 <= |\+ thread_x <= )(32|64|127)\) \{)",
     "$1 30) {",
     "",
     {"108_tiles_of_products"},
     1},
    {"WrongPad", "construct=rules", R"((local_block_\w\[\w+ \* )32)", "$1 31", "", {"108_tiles_of_products"}, 2},
    {"StaleRegister",
     "",
     R"(= local_acc_C\[(\w+) \* 2 \+ (\w+)\];)",
     "= local_acc_C[$2];",
     "",
     {"108_tiles_of_products"},
     1},
    {"SwappedThreadDimensions",
     "",
     R"(thread_x = threadIdx\.x, thread_y = threadIdx\.y)",
     "thread_x = threadIdx.y, thread_y = threadIdx.x",
     "",
     {"002_transpose"},
     2},
    {"WrongGridStride", "", R"(block_x \* 8 \+ thread_y)", "block_x * 4 + thread_y", "", {"002_transpose"}, 4},
    {"MissingGuardOnAPartialTile",
     "construct=rules",
     R"(if \(n_inner - 64 <= min\(\(block_x \* -16 - thread_x\) \* 2, -63\)\) \{(\s+D\[))",
     "{$1",
     "out of bounds",
     {"108_tiles_of_products"},
     1},
    {"PartsOfOneBlock", "reduction_parts=3", R"((parts_S\d)\[block_x\] = )", "$1[0] = ", "", {"029_sum_to_scalar"}, 4},
    {"APartLeftOut",
     "reduction_parts=3",
     R"(<= \d\) \{(\s+local_lanes_S[135]_combine))",
     "<= 0) {$1",
     "",
     {"029_sum_to_scalar"},
     3},
    {"MissingGridBarrier",
     "cooperative=1,fusion=min,reduction_parts=3",
     R"(tc_grid_barrier\([^)]*\);)",
     "tc_barrier();",
     "race",
     {"029_sum_to_scalar", "033_softmax", "036_batch_norm"},
     5},
    {"WrongShuffleDistance",
     "",
     R"((tc_shuffle_xor\(\w+), 16\))",
     "$1, 8)",
     "",
     {"019_batch_matmul", "023_matrix_vector"},
     2},
    {"WrongLaneWrites",
     "",
     R"(if \(thread_x % 32 == 0\) \{\n    local)",
     "if (thread_x % 32 < 2) {\n    local",
     "race",
     {"023_matrix_vector", "030_moments"},
     2},
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.from; }

class EmittedFaults : public testing::TestWithParam<Change> {};

/// \p program with match number \p which of \p pattern replaced; nothing behind the last match.
std::optional<DeviceProgram> changed(const DeviceProgram& program, const Change& change, int which) {
  const std::regex pattern(change.from);
  auto match = std::sregex_iterator(program.text.begin(), program.text.end(), pattern);
  for (; match != std::sregex_iterator() && which > 0; ++match) --which;
  if (match == std::sregex_iterator()) return std::nullopt;
  auto result = program;
  result.text.replace(static_cast<std::size_t>(match->position()), static_cast<std::size_t>(match->length()),
                      match->format(change.to));
  return result;
}

TEST_P(EmittedFaults, AreFound) {
  const auto& change = GetParam();
  std::size_t tried = 0;
  for (const char* name : change.programs) {
    auto file = read_program(program_path(std::filesystem::path(TC_SOURCE_DIR) / "test/filetests/programs", name));
    auto function = function_of(file, name);
    engine::CompileOptions options;
    options.target = Target::parse("cuda:sm_90");
    options.mapping = options::MappingOptions::parse(change.options);
    auto arguments = make_arguments(*function, file, file.runs.front());
    const auto want = reference(*function, arguments);
    const auto right = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
    for (int which = 0; auto wrong = changed(right, change, which); ++which, ++tried) {
      bool found = false;
      for (std::uint64_t seed = 1; seed <= 3 && !found; ++seed) {
        emulator::RunOptions run_options;
        run_options.seed = seed;
        auto got = emulate(*wrong, *function, arguments, run_options);
        found = *change.report ? got.faults.find(change.report) != std::string::npos
                               : !got.faults.empty() || first_difference(*function, got.outputs, want);
      }
      EXPECT_TRUE(found) << name << ", change " << which << ":\n" << wrong->text;
    }
  }
  EXPECT_GE(tried, change.least);
}

INSTANTIATE_TEST_SUITE_P(Table, EmittedFaults, testing::ValuesIn(changes),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tc::test
