// Random legal mappings of programs, measured beside what the price says of them. One line of JSON each.
//
//   price_model list [held-out]
//   price_model text PROGRAM                  what it is
//   price_model measure PROGRAM COUNT SEED    random mappings, the choice of the rules first; one thread
//   price_model price PROGRAM [RATES] < LINES lines of "measure" with the price of today, by other rates of the machine
//   price_model speed PROGRAM                 microseconds of a price
//   price_model turns PROGRAM THREADS         what rules and each search choose, measured in turns
//   price_model search PROGRAM                what searches find by the price, in how many states and milliseconds
//   price_model kinds                         operators of the paper on Gensor, whole: milliseconds of each search
//   price_model walks                         the same, smaller: what each policy finds alone over the default, predicted and measured
//   price_model ablation KIND                 the same operators, smaller: what searches find, measured in turns
//   price_model given PROGRAM [THREADS] < LINES  each mapping that a line gives, or what "rules", "checked" choose, measured in turns
//   price_model choice PROGRAM [THREADS]      what the default chooses; nothing runs
//   price_model code PROGRAM < LINE           the machine code of the mapping that the line gives
//   price_model decisions PROGRAM THREADS     what prices make of each decision of the rules alone, measured in turns
//   price_model collisions                    what lines cost that fall into few sets of the first cache
//
// PROGRAM is one that "list" names, "drawn-" and a seed, one that nobody wrote, or a file that ends in ".tc". Its first line is a
// comment with the shapes of the inputs, all float32: "# 128x4096 4096x4096".

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "collisions.h"
#include "commands.h"
#include "tc/cpu/thread_pool.h"

using namespace tc;

namespace {

constexpr std::string_view drawn = "drawn-", file_end = ".tc";

std::vector<std::int64_t> shape_of(std::string word) {
  std::replace(word.begin(), word.end(), 'x', ' ');
  std::istringstream numbers(word);
  std::vector<std::int64_t> shape;
  for (std::int64_t size = 0; numbers >> size;) shape.push_back(size);
  return shape;
}

/// The program in the file at \p path.
PricedProgram program_in(const std::string& path) {
  std::ifstream file(path);
  std::string first, word;
  std::getline(file, first);
  PricedProgram program{path, {std::istreambuf_iterator<char>(file), {}}, {}};
  std::istringstream words(first);
  for (words >> word; words >> word;) program.inputs.push_back(contiguous(DType::Float32, shape_of(word)));
  return program;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  auto programs = priced_programs();
  auto held_out = held_out_programs();
  cpu::set_num_threads(1);
  if (words.empty() || words[0] == "list") {
    for (const auto& program : words.size() > 1 ? held_out : programs) std::printf("%s\n", program.name.c_str());
    return 0;
  }
  programs.insert(programs.end(), held_out.begin(), held_out.end());
  if (words[0] == "collisions") {
    print_collisions();
    return 0;
  }
  if (words[0] == "kinds") {
    kinds();
    return 0;
  }
  if (words[0] == "walks") {
    print_walks();
    return 0;
  }
  if (words[0] == "ablation") programs = paper_programs(false);
  if (words.size() > 1 && words[1].starts_with(drawn))
    programs.push_back(drawn_program(std::stoull(words[1].substr(drawn.size()))));
  if (words.size() > 1 && words[1].ends_with(file_end)) programs.push_back(program_in(words[1]));
  for (const auto& program : programs) {
    if (words.size() < 2 || program.name != words[1]) continue;
    if (words[0] == "measure" && words.size() == 4) measure(program, std::stoi(words[2]), std::stoull(words[3]));
    if (words[0] == "price") price_lines(program, words.size() > 2 ? words[2] : "");
    if (words[0] == "text") std::printf("%s\n", program.text.c_str());
    if (words[0] == "speed") speed(program);
    if (words[0] == "search") search(program);
    if (words[0] == "given") given(program, words.size() > 2 ? std::stoi(words[2]) : 1);
    if (words[0] == "choice") choice(program, words.size() > 2 ? std::stoi(words[2]) : 1);
    if (words[0] == "code") code(program);
    if (words[0] == "ablation") ablation(program);
    if (words[0] == "decisions" && words.size() == 3) decisions(program, std::stoi(words[2]));
    if (words[0] == "levels" && words.size() == 3) levels(program, std::stoi(words[2]));
    if (words[0] == "turns" && words.size() == 3) turns(program, std::stoi(words[2]));
    return 0;
  }
  std::fprintf(stderr, "no such program; \"price_model list\" lists them\n");
  return 1;
}
