#include <gflags/gflags.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/describe/proof_of.h"
#include "tc/engine/describe/read_evidence.h"
#include "tc/proof/check.h"
#include "tools/flag_help.h"

/// tc_proof: checks evidence of kernels. --help says all.

DEFINE_bool(show, false, "print the evidence, too");

namespace {

using namespace tc;

constexpr const char* help = R"(tc_proof checks what compiles state about their kernels (docs/proofs.md).

usage: tc_proof <file>... [flags]

A file holds an executable (bytes of Executable.serialise) or one evidence (Executable.proof.evidence). Each gets a line: proved, refused with the
law that is broken, or not decided. Exit code 0: all are proved, 1: one is refused, 3: one is not decided.

flags:
)";

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ArgumentError(str("cannot read '", path, "'"));
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Prints what the checker says of the file at \p path.
proof::Outcome check_file(const std::string& path) {
  const auto bytes = read(path);
  const bool executable = bytes.rfind("TCIMAGE", 0) == 0;
  std::vector<std::string> evidence{bytes};
  proof::Verdict verdict;
  if (executable) {
    const auto image = engine::Image::deserialise(bytes);
    evidence = image.evidence;
    verdict = engine::proof_of(image);
  } else {
    verdict = proof::check(bytes);
  }
  std::cout << path << ": " << proof::to_string(verdict) << " (" << verdict.milliseconds << " ms)\n";
  if (FLAGS_show)
    for (const auto& each : evidence) std::cout << engine::print_evidence(each) << "\n";
  return verdict.outcome;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  const bool asks = words.empty() || words.front() == "--help" || words.front() == "-h" || words.front() == "help";
  if (asks) {
    std::cout << help << tools::flags_of(__FILE__);
    return words.empty() ? 2 : 0;
  }
  gflags::ParseCommandLineFlags(&count, &arguments, true);
  bool refused = false, open = false;
  try {
    for (int i = 1; i < count; ++i) {
      const auto outcome = check_file(arguments[i]);
      refused = refused || outcome == proof::Outcome::Refused;
      open = open || outcome == proof::Outcome::NotDecided;
    }
  } catch (const Error& error) {
    std::cerr << "tc_proof: " << error.what() << "\n";
    return 2;
  }
  return refused ? 1 : open ? 3 : 0;
}
