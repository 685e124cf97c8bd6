// Kernels for this machine's GPU by options and mappings drawn by chance, measured beside what the price says of them. One line of
// JSON each.
//
//   grid_model list
//   grid_model measure PROGRAM COUNT SEED LOCK    the default first; one process at a time measures, who holds the file LOCK
//   grid_model turns PROGRAM LOCK                 what rules choose and what is chosen by price, measured in turns
//   grid_model choices PROGRAM                    the same, priced only, and the milliseconds of each choice
//   grid_model draw PROGRAM COUNT SEED            the same candidates with their prices only, for cuda:sm_90: no GPU is needed
//   grid_model descend PROGRAM                    each kernel's nest and price, before and after a descent by moves
//   grid_model walks [states]                    what each policy of construction finds for the 14 shapes of the Gensor paper
//   grid_model price PROGRAM < LINES              lines of "measure" with the price of today
//   grid_model code PROGRAM < LINES               the same lines with registers and spills of each kernel, compiled

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <random>
#include <regex>
#include <set>

#include "candidates.h"
#include "device_problem.h"
#include "grid_programs.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/cubin.h"
#include "walks.h"

using namespace tc;

namespace {

/// Holds a file that others wait for.
class Lock {
 public:
  explicit Lock(const std::string& path) : file_(open(path.c_str(), O_CREAT | O_RDWR, 0600)) { flock(file_, LOCK_EX); }
  ~Lock() { close(file_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

void print(const PricedProgram& program, const Candidate& candidate, const std::string& price,
           const std::string& rest) {
  std::printf("{\"program\": \"%s\", \"options\": \"%s\", \"mapping\": \"%s\", %s%s}\n", program.name.c_str(),
              candidate.options.c_str(), candidate.mapping.c_str(), price.c_str(), rest.c_str());
  std::fflush(stdout);
}

/// What tells a mapping from others: its text without memory that it may use and does not.
std::string essence(const std::string& mapping) {
  static const std::regex limits("(, )?(shared bytes|thread elements) [0-9]+");
  return std::regex_replace(mapping, limits, "");
}

/// Prices over that of the default from which on a candidate is not worth its time.
constexpr double most_times = 30;

/// Up to \p count + 1 different candidates for \p target, priced, the default first.
std::vector<Candidate> drawn(const PricedProgram& program, int count, std::uint64_t seed, const Target& target) {
  std::mt19937_64 random(seed);
  std::vector<Candidate> result;
  std::set<std::string> known;
  for (int tries = 0; static_cast<int>(result.size()) <= count && tries < 12 * count; ++tries) try {
      auto candidate = tries == 0 ? Candidate{"construct=rules", "", ""} : random_candidate(program, target, random);
      auto priced = price_candidate(program, target, candidate);
      bool dear =
          !result.empty() && number_of(priced.price, "price") > most_times * number_of(result[0].price, "price");
      if (!dear && known.insert(essence(priced.mapping)).second) result.push_back(priced);
    } catch (const Error&) {
    }
  return result;
}

void measure(const PricedProgram& program, int count, std::uint64_t seed, const std::string& lock) {
  const auto target = device_target();
  DeviceProblem problem(program);
  auto candidates = drawn(program, count, seed, target);
  std::vector<std::shared_ptr<const engine::Executable>> codes;
  for (auto& candidate : candidates) codes.push_back(compile_candidate(program, target, candidate));
  Lock held(lock);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!codes[i]) continue;
    try {
      auto difference = problem.difference(*codes[i]);
      auto seconds = problem.measure(*codes[i]);
      print(program, candidates[i], candidates[i].price,
            str(", \"seconds\": ", seconds, ", \"difference\": ", difference));
    } catch (const Error&) {
    }
  }
}

/// What rules choose, and what is chosen by price.
std::vector<Candidate> choices(const PricedProgram& program, const Target& target) {
  std::vector<Candidate> result;
  for (const char* construct : {"construct=rules", "construct=checked"})
    result.push_back(price_candidate(program, target, {construct, "", ""}));
  return result;
}

void print_choices(const PricedProgram& program) {
  const auto target = Target::parse("cuda:sm_90");
  for (const auto& candidate : choices(program, target)) {
    auto begin = Clock::now();
    price_candidate(program, target, {candidate.options, "", ""});
    auto milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    print(program, candidate, candidate.price, str(", \"milliseconds\": ", milliseconds));
  }
}

void turns(const PricedProgram& program, const std::string& lock) {
  const auto target = device_target();
  DeviceProblem problem(program);
  auto chosen = choices(program, target);
  std::vector<std::shared_ptr<const engine::Executable>> codes;
  for (auto& candidate : chosen) codes.push_back(compile_candidate(program, target, {candidate.options, "", ""}));
  Lock held(lock);
  std::vector<double> difference, best(chosen.size(), 1e9);
  for (const auto& code : codes) difference.push_back(problem.difference(*code));
  for (int round = 0; round < 3; ++round)
    for (std::size_t i = 0; i < codes.size(); ++i) best[i] = std::min(best[i], problem.measure(*codes[i]));
  for (std::size_t i = 0; i < codes.size(); ++i)
    print(program, chosen[i], chosen[i].price, str(", \"seconds\": ", best[i], ", \"difference\": ", difference[i]));
}

void draw(const PricedProgram& program, int count, std::uint64_t seed) {
  for (const auto& candidate : drawn(program, count, seed, Target::parse("cuda:sm_90")))
    print(program, candidate, candidate.price, "");
}

void descend(const PricedProgram& program) {
  for (const auto& found : descents(program, Target::parse("cuda:sm_90")))
    std::printf("%-24s %9.2f us, %.3f of it by\n%s\nin place of\n%s\n", program.name.c_str(),
                found.chosen_seconds * 1e6, found.seconds / found.chosen_seconds, found.nest.c_str(),
                found.chosen.c_str());
}

void price_lines(const PricedProgram& program) {
  const auto target = Target::parse("cuda:sm_90");
  for (std::string line; std::getline(std::cin, line);) {
    auto priced = price_candidate(program, target, {text_of(line, "options"), text_of(line, "mapping"), ""});
    print(program, priced, priced.price, str(", \"seconds\": ", number_of(line, "seconds")));
  }
}

void code_lines(const PricedProgram& program) {
  const auto target = Target::parse("cuda:sm_90");
  for (std::string line; std::getline(std::cin, line);) {
    Candidate candidate{text_of(line, "options"), text_of(line, "mapping"), ""};
    auto code = compile_candidate(program, target, candidate);
    std::string kernels;
    for (std::size_t m = 0; code && m < code->image().modules.size(); ++m)
      for (const auto& stats : cuda::read_cubin(code->image().modules[m].cubin))
        kernels +=
            str(kernels.empty() ? "" : ", ", "{\"registers\": ", stats.registers,
                ", \"spills\": ", stats.spill_store_bytes + stats.spill_load_bytes, ", \"stack\": ", stats.stack_bytes,
                ", \"instructions\": ", stats.instructions, ", \"loop\": ", stats.main_loop_instructions,
                ", \"loop_loads\": ", stats.main_loop.count("LDG") ? stats.main_loop.at("LDG") : 0, "}");
    print(program, candidate, "", str("\"code\": [", kernels, "]"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  auto programs = grid_programs();
  if (words.empty() || words[0] == "list") {
    for (const auto& program : programs) std::printf("%s\n", program.name.c_str());
    return 0;
  }
  try {
    if (words[0] == "walks") {
      print_head_of_walks();
      for (const auto& program : paper_programs(true)) print_walks(program, words.size() > 1);
      return 0;
    }
    for (const auto& program : programs) {
      if (words.size() < 2 || program.name != words[1]) continue;
      if (words[0] == "measure" && words.size() == 5)
        measure(program, std::stoi(words[2]), std::stoull(words[3]), words[4]);
      if (words[0] == "turns" && words.size() == 3) turns(program, words[2]);
      if (words[0] == "choices") print_choices(program);
      if (words[0] == "descend") descend(program);
      if (words[0] == "draw" && words.size() == 4) draw(program, std::stoi(words[2]), std::stoull(words[3]));
      if (words[0] == "price") price_lines(program);
      if (words[0] == "code") code_lines(program);
      return 0;
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", words[1].c_str(), error.what());
    return 1;
  }
  std::fprintf(stderr, "no such program; \"grid_model list\" lists them\n");
  return 1;
}
