#include "test/support/program_file.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "tc/engine/define/specialise.h"
#include "test/support/from_environment.h"

namespace tc::test {
namespace {

lang::SizeMap parse_sizes(const std::string& text) {
  lang::SizeMap sizes;
  std::istringstream in(text);
  for (std::string word; in >> word;)
    sizes[word.substr(0, word.find('='))] = std::stoll(word.substr(word.find('=') + 1));
  return sizes;
}

TensorSpec place(DType type, const std::vector<std::int64_t>& shape, Placement placement) {
  TensorSpec spec = contiguous(type, shape);
  if (placement == Placement::Reversed) {
    std::vector<std::int64_t> backwards(shape.rbegin(), shape.rend());
    auto strides = row_major_strides(backwards);
    spec.strides.assign(strides.rbegin(), strides.rend());
  }
  if (placement == Placement::Spread)
    for (auto& stride : spec.strides) stride *= 2;
  return spec;
}

std::pair<std::int64_t, std::int64_t> default_data(DType type) {
  if (type == DType::Bool) return {0, 2};
  return is_unsigned_integer(type) ? std::pair<std::int64_t, std::int64_t>{0, 9}
                                   : std::pair<std::int64_t, std::int64_t>{-4, 5};
}

}  // namespace

bool all_runs_are_taken() {
  static const bool all = from_environment("TC_ALL_RUNS", 0) != 0;
  return all;
}

std::size_t number_of(const std::filesystem::path& path) { return std::stoul(path.stem().string()); }

bool is_sampled(const std::filesystem::path& path, std::size_t variant, std::size_t run, std::size_t usual) {
  if (all_runs_are_taken()) return true;
  return variant < usual ? variant == (number_of(path) + run) % usual : run == 0;
}

bool are_laws_sampled(const std::filesystem::path& path, std::size_t run, bool gpus) {
  return all_runs_are_taken() || (run == 0 && (number_of(path) % 2 == 1) == gpus);
}

std::vector<lang::SizeMap> sampled_runs(const std::filesystem::path& path, const ProgramFile& program) {
  if (all_runs_are_taken() || program.runs.empty()) return program.runs;
  return {program.runs[number_of(path) % program.runs.size()]};
}

ProgramFile read_program(const std::filesystem::path& path) {
  ProgramFile program;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    program.text += line + "\n";
    auto value_of = [&](const std::string& key) -> std::optional<std::string> {
      if (line.rfind("# " + key + ":", 0) != 0) return std::nullopt;
      return line.substr(key.size() + 3);
    };
    if (auto text = value_of("run")) program.runs.push_back(parse_sizes(*text));
    if (auto text = value_of("tolerance")) program.tolerance = std::stod(*text);
    if (auto text = value_of("target")) program.targets.push_back(text->substr(text->find_first_not_of(' ')));
    if (auto text = value_of("options")) program.options.push_back(text->substr(text->find_first_not_of(' ')));
    if (auto text = value_of("def")) program.def = text->substr(text->find_first_not_of(' '));
    if (auto text = value_of("pointers")) {
      std::istringstream words(*text);
      std::string name;
      words >> name >> program.pointers[name];
    }
    if (auto text = value_of("data")) {
      std::istringstream words(*text);
      std::string name, range;
      words >> name >> range;
      program.data[name] = {std::stoll(range), std::stoll(range.substr(range.find(':', 1) + 1))};
    }
  }
  return program;
}

std::vector<std::filesystem::path> program_paths(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".tc") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) { return a.filename() < b.filename(); });
  return paths;
}

std::filesystem::path program_path(const std::filesystem::path& folder, const std::string& name) {
  for (const auto& path : program_paths(folder))
    if (path.stem() == name) return path;
  throw std::out_of_range(name);
}

std::shared_ptr<const engine::Function> function_of(const ProgramFile& program, const std::string& name,
                                                    const lang::SizeMap& run) {
  auto module = engine::define(program.text, name);
  const auto function = program.def.empty() ? module.functions.back() : module.function(program.def);
  const bool any = run.empty() && program.runs.empty();
  return any ? function : engine::specialised(function, run.empty() ? program.runs.front() : run);
}

Arguments make_arguments(const engine::Function& function, const ProgramFile& program, const lang::SizeMap& sizes,
                         Placement placement) {
  std::mt19937_64 random(42);
  Arguments arguments;
  for (const auto& param : function.def.params) {
    const auto& info = function.def.tensors.at(param.name);
    std::vector<std::int64_t> shape;
    if (info.dims)
      for (const auto& dim : *info.dims) shape.push_back(lang::evaluate_size(dim, sizes));
    if (const auto last = program.pointers.find(param.name); last != program.pointers.end()) {
      arguments.inputs.push_back(
          ascending_integers(place(info.type, shape, placement), 0, sizes.at(last->second) + 1, random));
      continue;
    }
    auto given = program.data.find(param.name);
    auto [low, high] = given == program.data.end() ? default_data(info.type) : given->second;
    arguments.inputs.push_back(random_integers(place(info.type, shape, placement), low, high, random));
  }
  for (const auto& info : engine::infer_output_tensor_info(function, arguments.input_specs()))
    arguments.outputs.push_back(random_integers(place(info.dtype, info.shape, placement), 0, 2, random));
  return arguments;
}

}  // namespace tc::test
