// tc_emulate FILE.tc --sizes "N=37,D=129" --target cuda:sm_90 --seeds 3 --options "fusion=max"
//
// Compiles the last def of a file for CUDA, runs its kernels in the emulator on random integers, once a seed, and
// compares with the interpreter. Prints one summary line, or the first fault or difference; ends with 0, 1 for either,
// 2 for a text, sizes or options that mean nothing.

#include <gflags/gflags.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "test/cuda_emulator/device_program.h"
#include "test/cuda_emulator/sample_data.h"
#include "test/support/program_file.h"

DEFINE_string(sizes, "", "sizes of the parameters, \"N=37,D=129\"; the file's first '# run:' line if empty");
DEFINE_string(symbolic, "", "sizes that are symbolic with their least values, \"M=1\"; --sizes has the largest ones");
DEFINE_int32(samples, 6, "number of values of the symbolic sizes to run for");
DEFINE_string(target, "cuda:sm_90", "the machine to compile for");
DEFINE_int32(seeds, 3, "number of interleavings");
DEFINE_int32(first_seed, 1, "the first seed");
DEFINE_string(options, "", "mapping options, \"fusion=max,tile=32x32\"");
DEFINE_string(nest, "", "a file with nests of kernels (docs/nests.md)");
DEFINE_string(def, "", "the def to run, the last one if empty");
DEFINE_bool(text, false, "print the kernels");
DEFINE_int32(blocks, 0, "run so many blocks of each kernel, and compare nothing; 0: all");
DEFINE_string(dump, "", "a folder for the text of each stage");
DEFINE_bool(verify, true, "verify the laws after each stage");
DEFINE_bool(barriers, false, "print the barriers without which no fault shows");
DEFINE_bool(counts, false, "print what the accesses of each line cost: wavefronts, sectors");

namespace tc::test {
namespace {

lang::SizeMap parse_sizes(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  lang::SizeMap sizes;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    auto equals = word.find('=');
    if (equals == std::string::npos || word.find_first_not_of("0123456789", equals + 1) != std::string::npos ||
        equals + 1 == word.size())
      throw ArgumentError(str("--sizes: '", word, "' is not like N=37"));
    sizes[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
  }
  return sizes;
}

lang::SizeMap sizes_of(const ProgramFile& program, const engine::Function& function) {
  auto sizes = !FLAGS_sizes.empty() || program.runs.empty() ? parse_sizes(FLAGS_sizes) : program.runs.front();
  for (const auto& name : function.def.sizes)
    if (!sizes.count(name))
      throw ArgumentError(
          str("--sizes lacks '", name, "'; '", function.name(), "' has the sizes ", join(function.def.sizes)));
  return sizes;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw ArgumentError(str("there is no file '", path, "'"));
  return {std::istreambuf_iterator<char>(file), {}};
}

void print_counts(const Emulated& run) {
  for (const auto& [kernel, site] : run.sites)
    std::cout << kernel << " line " << site.line << ": " << (site.shared ? "shared " : "global ")
              << (site.write ? "write" : "read") << " of " << site.bytes << " bytes, " << site.warp_accesses
              << " times a warp, " << site.transactions << (site.shared ? " wavefronts" : " sectors") << ", ideal "
              << site.ideal << "\n";
}

/// Takes away one barrier after the other and prints those that nothing misses at these sizes.
void print_needless_barriers(const DeviceProgram& program, const engine::Function& function, const Arguments& arguments,
                             const Reference& want) {
  for (const std::string barrier : {"tc_barrier();", "tc_warp_barrier();"})
    for (auto at = program.text.find(barrier); at != std::string::npos; at = program.text.find(barrier, at + 1)) {
      auto without = program;
      without.text.replace(at, barrier.size(), "");
      bool missed = false;
      for (int seed = FLAGS_first_seed; seed < FLAGS_first_seed + FLAGS_seeds && !missed; ++seed) {
        emulator::RunOptions run_options;
        run_options.seed = static_cast<std::uint64_t>(seed);
        auto got = emulate(without, function, arguments, run_options);
        missed = !got.faults.empty() || !got.refusal.empty() || first_difference(function, got.outputs, want);
      }
      if (!missed)
        std::cout << "line "
                  << 1 + std::count(program.text.begin(), program.text.begin() + static_cast<std::ptrdiff_t>(at), '\n')
                  << ": " << barrier << " is not missed\n";
    }
}

/// What is wrong with \p run, of which \p compares that it gives what the interpreter does, a refusal among it.
std::optional<std::string> wrong_with(const Emulated& run, const engine::Function& function, const Reference& want,
                                      bool compares) {
  if (!run.faults.empty()) return run.faults;
  if (!run.refusal.empty())
    return compares && !want.refusal.empty() ? std::nullopt : std::optional("refused: " + run.refusal);
  if (!compares) return std::nullopt;
  if (!want.refusal.empty()) return "not refused as by the interpreter: " + want.refusal;
  return first_difference(function, run.outputs, want);
}

/// Runs \p device, code for ranges of sizes, for some of them.
int emulate_sizes(const DeviceProgram& device, const engine::Function& function, const ProgramFile& given,
                  const lang::SizeMap& sizes, const std::map<std::string, std::int64_t>& symbolic) {
  for (const auto& own : sampled_sizes(sizes, symbolic, FLAGS_samples, static_cast<std::uint64_t>(FLAGS_first_seed))) {
    auto program = given;
    complete_data(program, function, own);
    const auto arguments = make_arguments(function, program, own);
    const auto wrong =
        emulated_mismatch(with_sizes(device, function, arguments, symbolic), function, arguments,
                          {static_cast<std::uint64_t>(FLAGS_first_seed)}, reference(function, arguments));
    std::string text;
    for (const auto& [name, size] : own) text += str(" ", name, "=", size);
    std::cout << (wrong ? "FAILED" : "ok") << text << (wrong ? ": " + *wrong : "") << "\n";
    if (wrong) return 1;
  }
  std::cout << "compile " << static_cast<int>(device.compile_milliseconds) << " ms\n";
  return 0;
}

int emulate_file(const std::string& path) {
  if (!std::filesystem::exists(path)) throw ArgumentError(str("there is no file '", path, "'"));
  auto program = read_program(path);
  if (!FLAGS_def.empty()) program.def = FLAGS_def;
  auto function = function_of(program, path);
  const auto sizes = sizes_of(program, *function);
  if (FLAGS_symbolic.empty()) complete_data(program, *function, sizes);
  engine::CompileOptions options;
  options.target = Target::parse(FLAGS_target);
  options.mapping = options::MappingOptions::parse(FLAGS_options);
  options.stages.verify = FLAGS_verify;
  options.stages.dump_directory = FLAGS_dump;
  if (!FLAGS_nest.empty()) options.stages.replace["nest"] = text_of(FLAGS_nest);
  options.symbolic = parse_sizes(FLAGS_symbolic);
  if (!options.target.is_cuda()) throw OptionsError(str("--target: '", FLAGS_target, "' is not a GPU"));
  auto arguments = make_arguments(*function, program, sizes);
  const bool compares = FLAGS_blocks == 0;
  const auto want = compares ? reference(*function, arguments) : Reference();
  const auto device = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
  if (FLAGS_text) std::cout << device.text << "\n";
  for (const auto& fallback : device.fallbacks) std::cout << "note: " << fallback << "\n";
  if (!options.symbolic.empty()) return emulate_sizes(device, *function, program, sizes, options.symbolic);
  if (FLAGS_barriers) print_needless_barriers(device, *function, arguments, want);
  Emulated last;
  double host = 0, run = 0;
  for (int seed = FLAGS_first_seed; seed < FLAGS_first_seed + FLAGS_seeds; ++seed) {
    emulator::RunOptions run_options;
    run_options.seed = static_cast<std::uint64_t>(seed);
    run_options.max_blocks = static_cast<std::size_t>(FLAGS_blocks);
    run_options.count_accesses = FLAGS_counts && seed == FLAGS_first_seed;
    last = emulate(device, *function, arguments, run_options);
    print_counts(last);
    host = std::max(host, last.host_compile_milliseconds);
    run += last.run_milliseconds;
    auto wrong = wrong_with(last, *function, want, compares);
    if (!wrong) continue;
    std::cout << "FAILED " << function->name() << ", seed " << seed << ": " << *wrong << "\n";
    return 1;
  }
  std::size_t kernels = 0;
  for (const auto& launch : device.launches) kernels += launch.kernels.size();
  std::cout << "ok " << function->name() << " (" << options.target << (FLAGS_options.empty() ? "" : "; ")
            << FLAGS_options << "): " << kernels << " kernels, " << FLAGS_seeds << " interleavings, " << last.accesses
            << " accesses, " << (want.refusal.empty() ? "" : "refused by the interpreter too, ") << "within "
            << largest_bound(*function, want) << "; compile " << static_cast<int>(device.compile_milliseconds)
            << " ms, on the host " << static_cast<int>(host) << " ms, runs " << static_cast<int>(run) << " ms\n";
  return 0;
}

}  // namespace
}  // namespace tc::test

int main(int argc, char** argv) {
  gflags::SetUsageMessage("tc_emulate FILE.tc [--sizes N=37,D=129] [--target cuda:sm_90] [--seeds 3] [--options ...]");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc != 2) {
    std::cerr << gflags::ProgramUsage() << "\n";
    return 2;
  }
  try {
    return tc::test::emulate_file(argv[1]);
  } catch (const tc::InternalError& error) {
    std::cout << "FAILED: " << error.what() << "\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
