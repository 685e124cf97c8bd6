// Every program of test/filetests/programs as kernels that NVRTC takes: in program order and in one thread, and mapped
// with one of three sets of options; a program has one of the four ways. The laws of these compiles are checked where the
// emulator runs them.

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/cuda/cubin.h"
#include "tc/cuda/emit_kernel.h"
#include "tc/halide_bridge/lower/extract_scop.h"
#include "tc/halide_bridge/lower/lower.h"
#include "tc/halide_bridge/raise/raise.h"
#include "test/cuda/compiled.h"
#include "test/support/program_file.h"

namespace tc::cuda {
namespace {

namespace fs = std::filesystem;

bool is_empty(const halide_bridge::ProgramStatement& statement) {
  return std::any_of(statement.domain.begin(), statement.domain.end(),
                     [](const auto& interval) { return interval.extent <= 0; });
}

/// The launches of \p function for \p sizes as kernels of one thread.
std::string identity_text(const engine::Function& function, const lang::SizeMap& sizes) {
  auto program = halide_bridge::lower(function.def, function.ranges, sizes);
  std::vector<KernelText> kernels;
  for (std::size_t i = 0; i < program.launches.size(); ++i) {
    std::erase_if(program.launches[i].statements, is_empty);
    if (program.launches[i].statements.empty()) continue;
    auto scop = halide_bridge::extract_scop(program, i);
    auto body = halide_bridge::raise(polyhedral::generate_ast(scop), scop, program, {.as_kernel = true});
    auto used = halide_bridge::buffer_names(body);
    kernels.push_back(emit_kernel(str(function.name(), "_", i), body, {used.begin(), used.end()}));
  }
  return program_text(kernels);
}

void expect_instructions(const std::string& cubin) {
  for (const auto& kernel : read_cubin(cubin)) EXPECT_GT(kernel.instructions, 0) << kernel.name;
}

/// Compiles for sm_80, and without a warning.
void expect_compiled(const std::string& text) {
  const auto cubin = compile_cubin(text, "sm_80");
  EXPECT_EQ(cubin.log, "") << text;
  expect_instructions(cubin.bytes);
}

/// Ways in which programs are compiled, beside that in program order; each program has one of all these, all where TC_ALL_RUNS=1.
const char* const variants[] = {"", "fusion=max", "fusion=min,tile=4x8,reduction_parts=3"};

class ProgramTest : public testing::Test {
 public:
  explicit ProgramTest(fs::path path) : path_(std::move(path)) {}

  void TestBody() override {
    TC_NEEDS_NVRTC();
    auto program = test::read_program(path_);
    auto function = test::function_of(program, path_.filename().string());
    const auto turn = test::number_of(path_) % (1 + std::size(variants));
    if (turn == std::size(variants) || test::all_runs_are_taken())
      expect_compiled(identity_text(*engine::inlined(function), program.runs.front()));
    auto arguments = test::make_arguments(*function, program, program.runs.front());
    for (std::size_t variant = 0; variant < std::size(variants); ++variant) {
      if (variant != turn && !test::all_runs_are_taken()) continue;
      SCOPED_TRACE(variants[variant]);
      engine::CompileOptions options;
      options.target = Target::parse("cuda:sm_90");
      options.mapping = options::MappingOptions::parse(variants[variant]);
      auto executable = engine::compile(function, arguments.input_specs(), arguments.output_specs(), options);
      const auto& module = executable->image().modules.at(0);
      if (std::getenv("TC_SHOW_TEXT")) std::cout << module.text;
      EXPECT_EQ(module.log, "") << module.text;
      if (!module.kernels.empty()) expect_instructions(module.cubin);
    }
  }

 private:
  fs::path path_;
};

const bool registered = [] {
  for (const auto& path : test::program_paths(fs::path(TC_SOURCE_DIR) / "test/filetests/programs"))
    testing::RegisterTest("KernelOfProgram", path.stem().string().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test* { return new ProgramTest(path); });
  return true;
}();

}  // namespace
}  // namespace tc::cuda
