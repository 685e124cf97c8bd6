#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/support/oracle.h"

namespace tc::test {

/// A program of test/filetests/programs. It starts with comments: its purpose, then
///
///   # run: N=5 M=7         sizes of one run; several lines are several runs
///   # data: Idx 0:17       values of a parameter, else -4:5 (0:2 for bool, 0:9 for unsigned)
///   # pointers: P N        the values of a parameter ascend in [0, N], N a size
///   # tolerance: 1e-5      of float results, else they must be equal
///   # options: fusion=max  mapping options beside the usual ones; several lines are several compiles
///   # target: cpu:l1=1k    a target that these options are compiled for too
///   # def: main            the def that runs, else the last one
struct ProgramFile {
  std::string text;
  std::vector<lang::SizeMap> runs;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> data;  ///< [low, high) of a parameter's values
  std::map<std::string, std::string> pointers;  ///< the sizes up to which a parameter's values ascend
  double tolerance = 0;
  std::string def;
  std::vector<std::string> options, targets;
};

/// TC_ALL_RUNS=1, as in `make test-long`: every program is compiled in all ways for all its runs, else in a sample of both.
bool all_runs_are_taken();

/// The number that the name of a program's file begins with: neighbours have different samples.
std::size_t number_of(const std::filesystem::path& path);

/// The runs of \p program, at \p path, that the emulator takes: all where TC_ALL_RUNS=1, else one, as CPUs take all of them.
std::vector<lang::SizeMap> sampled_runs(const std::filesystem::path& path, const ProgramFile& program);

/// Is variant number \p variant of how the program at \p path is compiled taken for its run number \p run? Of the first \p usual
/// ones, which all programs have, each run takes one, the next run and the next program another one. Those behind them, which the
/// program asks for, are taken for its first run.
bool is_sampled(const std::filesystem::path& path, std::size_t variant, std::size_t run, std::size_t usual);

/// Are the invariants checked in the compiles of the program at \p path for its run number \p run? They take most of a compile, so
/// they are for the first run, as later sizes meet the same passes: of programs with even numbers on CPUs, of the others on \p gpus.
bool are_laws_sampled(const std::filesystem::path& path, std::size_t run, bool gpus);

ProgramFile read_program(const std::filesystem::path& path);
/// The programs below \p folder, sorted by their numbers.
std::vector<std::filesystem::path> program_paths(const std::filesystem::path& folder);
/// The program below \p folder whose file is called \p name, without its extension. Throws std::out_of_range.
std::filesystem::path program_path(const std::filesystem::path& folder, const std::string& name);
/// The def of \p program that runs; \p name stands in messages. \p run, else the first run of the program, has the values of
/// scalar parameters that ranges are made of.
std::shared_ptr<const engine::Function> function_of(const ProgramFile& program, const std::string& name,
                                                    const lang::SizeMap& run = {});

/// How tensors lie in memory: dense, dimensions reversed, or every second element.
enum class Placement { Dense, Reversed, Spread };

/// Random arguments of one run, the same each time.
Arguments make_arguments(const engine::Function& function, const ProgramFile& program, const lang::SizeMap& sizes,
                         Placement placement = Placement::Dense);

}  // namespace tc::test
