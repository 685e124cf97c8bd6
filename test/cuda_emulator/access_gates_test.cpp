// What the kernels of the default strategy cost in memory, counted warp by warp over some blocks of large defs.

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "test/cuda_emulator/device_program.h"
#include "test/support/program_file.h"

namespace tc::test {
namespace {

/// The accesses of one block of each kernel of the last def of \p text.
std::vector<std::pair<std::string, emulator::SiteCount>> accesses(const std::string& text, const lang::SizeMap& sizes) {
  ProgramFile program;
  program.text = text;
  auto function = function_of(program, "gate");
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  auto arguments = make_arguments(*function, program, sizes);
  emulator::RunOptions run_options;
  run_options.count_accesses = true;
  run_options.max_blocks = 1;
  auto run = emulate(device_program(function, arguments.input_specs(), arguments.output_specs(), options), *function, arguments, run_options);
  EXPECT_EQ(run.faults, "");
  return run.sites;
}

std::string text_of(const emulator::SiteCount& site) {
  return str("line ", site.line, ": ", site.bytes, " bytes, ", site.transactions, " transactions, ideal ", site.ideal);
}

TEST(AccessGates, AMatrixProductHasNoBankConflictsAndMovesSixteenBytesAtOnce) {
  auto sites = accesses("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {{"M", 1024}, {"N", 1024}, {"K", 64}});
  int shared = 0, global = 0;
  for (const auto& [kernel, site] : sites) {
    (site.shared ? shared : global) += 1;
    if (site.shared)
      EXPECT_EQ(site.transactions, site.ideal) << text_of(site);
    else
      EXPECT_EQ(site.bytes, 16) << text_of(site);
    if (!site.shared && site.write) EXPECT_EQ(site.transactions, site.ideal) << text_of(site);
  }
  EXPECT_GE(shared, 4);
  EXPECT_GE(global, 3);
}

}  // namespace
}  // namespace tc::test
