// Runs every program of test/filetests/programs as CUDA kernels in the emulator, against the interpreter, with several
// options and interleavings.

#include <gtest/gtest.h>

#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/nvrtc.h"
#include "test/cuda_emulator/device_program.h"
#include "test/support/program_file.h"

namespace tc::test {
namespace {

struct Variant {
  std::string options, target;
  Placement placement = Placement::Dense;
  bool aligned = true;  ///< else arguments begin anywhere
};

/// How all programs are compiled; behind these stand the variants that a program asks for.
constexpr std::size_t usual_variants = 6;

std::vector<Variant> variants(const ProgramFile& program) {
  std::vector<Variant> result{{"", "cuda:sm_90"},
                              {"fusion=max", "cuda:sm_80", Placement::Reversed},
                              {"fusion=min,tile=4x8,reduction_parts=3", "cuda:sm_90", Placement::Spread},
                              {"reduction_parts=3", "cuda:sm_80", Placement::Dense, false},
                              {"parallel=0", "cuda:sm_75"},
                              {"cooperative=1,reduction_parts=4", "cuda:sm_90,multiprocessors=3"}};
  for (const auto& options : program.options) result.push_back({options, "cuda:sm_90"});
  return result;
}

/// Interleavings that are run, at most, one more where TC_ALL_RUNS=1, and accesses after which there is no further one: races are
/// found whatever the interleaving.
const std::uint64_t most_interleavings = all_runs_are_taken() ? 3 : 2;
constexpr std::int64_t enough_accesses = 300'000;

/// The names of all arguments.
std::set<std::string> all_names(const engine::Function& function) {
  std::set<std::string> names;
  for (const auto& param : function.def.params) names.insert(param.name);
  for (const auto& ret : function.def.returns) names.insert(ret.name);
  return names;
}

class EmulatedProgram : public testing::Test {
 public:
  explicit EmulatedProgram(std::filesystem::path path) : path_(std::move(path)) {}

  void TestBody() override {
    auto program = read_program(path_);
    const auto runs = sampled_runs(path_, program);
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const auto function = function_of(program, path_.filename().string(), runs[run]);
      const auto want = reference(*function, make_arguments(*function, program, runs[run]));
      const auto all = variants(program);
      for (std::size_t v = 0; v < all.size(); ++v) {
        if (!is_sampled(path_, v, run, usual_variants)) continue;
        const auto& variant = all[v];
        SCOPED_TRACE(str("run ", run, ", options '", variant.options, "', target ", variant.target));
        engine::CompileOptions options;
        options.target = Target::parse(variant.target);
        options.mapping = options::MappingOptions::parse(variant.options);
        options.stages.verify = are_laws_sampled(path_, run, true);
        if (!variant.aligned) options.unaligned = all_names(*function);
        auto arguments = make_arguments(*function, program, runs[run], variant.placement);
        try {
          check(*function, arguments,
                device_program(function, arguments.input_specs(), arguments.output_specs(), options), want);
        } catch (const InternalError& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
  }

 private:
  static void check(const engine::Function& function, const Arguments& arguments, const DeviceProgram& program,
                    const Reference& want) {
    std::int64_t accesses = 0;
    for (std::uint64_t seed = 1; seed <= most_interleavings && accesses < enough_accesses; ++seed) {
      auto text = emulated_mismatch(program, function, arguments, {seed}, want, &accesses);
      EXPECT_FALSE(text.has_value()) << *text;
    }
  }

  std::filesystem::path path_;
};

/// Ways in which the engine compiles a program; an eighth of the programs has each of them, all programs have both where
/// TC_ALL_RUNS=1: images differ by launches and buffers, which other programs share.
const char* const image_mappings[] = {"", "cooperative=1"};

bool is_image_sample(const std::filesystem::path& path, std::size_t mapping) {
  return all_runs_are_taken() || number_of(path) % 8 == mapping;
}

/// The first run of a program as the engine's executable would launch it: slots, flags and workspace of its image.
class EmulatedImage : public testing::Test {
 public:
  explicit EmulatedImage(std::filesystem::path path) : path_(std::move(path)) {}

  void TestBody() override {
    if (!cuda::nvrtc_version()) GTEST_SKIP() << "NVRTC is not installed";
    if (!is_image_sample(path_, 0) && !is_image_sample(path_, 1)) GTEST_SKIP() << "not a sample";
    auto program = read_program(path_);
    auto function = function_of(program, path_.filename().string(), program.runs.front());
    engine::CompileOptions options;
    auto arguments = make_arguments(*function, program, program.runs.front());
    const auto want = reference(*function, arguments);
    for (std::size_t i = 0; i < std::size(image_mappings); ++i) {
      if (!is_image_sample(path_, i)) continue;
      const std::string mapping = image_mappings[i];
      options.target = Target::parse(mapping.empty() ? "cuda:sm_90" : "cuda:sm_90,multiprocessors=3");
      options.mapping = options::MappingOptions::parse(mapping);
      auto executable = engine::compile(function, arguments.input_specs(), arguments.output_specs(), options);
      auto text = emulated_mismatch(device_program(executable->image()), *function, arguments, {4}, want);
      EXPECT_FALSE(text.has_value()) << *text;
    }
  }

 private:
  std::filesystem::path path_;
};

template <typename Case>
void register_all(const char* suite) {
  for (const auto& path : program_paths(std::filesystem::path(TC_SOURCE_DIR) / "test/filetests/programs"))
    testing::RegisterTest(suite, path.stem().string().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test* { return new Case(path); });
}

const bool registered = [] {
  register_all<EmulatedProgram>("EmulatedPrograms");
  register_all<EmulatedImage>("EmulatedImages");
  return true;
}();

}  // namespace
}  // namespace tc::test
