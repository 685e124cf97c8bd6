// Runs every program of programs/: compiled code against the interpreter, for several options and targets.
//
// A program starts with comments: its purpose, then
//   # run: N=5 M=7         sizes of one run; several lines are several runs
//   # data: Idx 0:17       values of a parameter, else -4:5 (0:2 for bool, 0:9 for unsigned)
//   # tolerance: 1e-5      of float results, else they must be equal
//   # options: fusion=max  mapping options beside the usual ones; several lines are several compiles
//   # def: main            the def that runs, else the last one

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "test/support/oracle.h"

namespace tc::test {
namespace {

namespace fs = std::filesystem;

struct ProgramFile {
  std::string text;
  std::vector<lang::SizeMap> runs;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> data;
  double tolerance = 0;
  std::string def;
  std::vector<std::string> options;
};

lang::SizeMap parse_sizes(const std::string& text) {
  lang::SizeMap sizes;
  std::istringstream in(text);
  for (std::string word; in >> word;) sizes[word.substr(0, word.find('='))] = std::stoll(word.substr(word.find('=') + 1));
  return sizes;
}

ProgramFile read_program(const fs::path& path) {
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
    if (auto text = value_of("options")) program.options.push_back(text->substr(text->find_first_not_of(' ')));
    if (auto text = value_of("def")) program.def = text->substr(text->find_first_not_of(' '));
    if (auto text = value_of("data")) {
      std::istringstream words(*text);
      std::string name, range;
      words >> name >> range;
      program.data[name] = {std::stoll(range), std::stoll(range.substr(range.find(':', 1) + 1))};
    }
  }
  return program;
}

/// How tensors lie in memory: dense, dimensions reversed, or every second element.
enum class Placement { Dense, Reversed, Spread };

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
  return is_unsigned_integer(type) ? std::pair<std::int64_t, std::int64_t>{0, 9} : std::pair<std::int64_t, std::int64_t>{-4, 5};
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
    auto given = program.data.find(param.name);
    auto [low, high] = given == program.data.end() ? default_data(info.type) : given->second;
    arguments.inputs.push_back(random_integers(place(info.type, shape, placement), low, high, random));
  }
  for (const auto& info : engine::infer_output_tensor_info(function, arguments.input_specs()))
    arguments.outputs.push_back(random_integers(place(info.dtype, info.shape, placement), 0, 2, random));
  return arguments;
}

struct Variant {
  std::string options, target;
  Placement placement = Placement::Dense;
};

std::vector<Variant> variants(const ProgramFile& program) {
  std::vector<Variant> result{{"", "cpu"},
                              {"fusion=max", "cpu:avx2", Placement::Reversed},
                              {"fusion=min,tile=4x8", "cpu:plain"},
                              {"parallel=0,vectorise=0,promote=0", "cpu:plain", Placement::Spread},
                              {"fusion=max,tile=3x5x2,promote=0", "cpu"},
                              {"promote=0,tile=0x16", "cpu:avx2", Placement::Reversed}};
  for (const auto& options : program.options)
    for (const char* target : {"cpu", "cpu:avx2", "cpu:plain"}) result.push_back({options, target});
  return result;
}

class ProgramFileTest : public testing::Test {
 public:
  explicit ProgramFileTest(fs::path path) : path_(std::move(path)) {}

  void TestBody() override {
    auto program = read_program(path_);
    ASSERT_FALSE(program.runs.empty()) << "no '# run:' line";
    auto module = engine::define(program.text, path_.filename().string());
    auto function = program.def.empty() ? module.functions.back() : module.function(program.def);
    for (std::size_t run = 0; run < program.runs.size(); ++run) {
      for (const auto& variant : variants(program)) {
        if (Target::parse(variant.target).isa > Target::parse("cpu").isa) continue;
        SCOPED_TRACE(str("run ", run, ", options '", variant.options, "', target ", variant.target));
        engine::CompileOptions options;
        options.target = Target::parse(variant.target);
        options.mapping = options::MappingOptions::parse(variant.options);
        auto arguments = make_arguments(*function, program, program.runs[run], variant.placement);
        Tolerances tolerances;
        for (const auto& output : function->def.returns) tolerances[output.name] = program.tolerance;
        try {
          auto text = mismatch(function, arguments, options, tolerances);
          EXPECT_FALSE(text.has_value()) << *text;
        } catch (const InternalError& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
  }

 private:
  fs::path path_;
};

void register_programs() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(TC_SOURCE_DIR) / "test/filetests/programs"))
    if (entry.path().extension() == ".tc") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths)
    testing::RegisterTest("Programs", path.stem().string().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test* { return new ProgramFileTest(path); });
}

}  // namespace
}  // namespace tc::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  tc::test::register_programs();
  return RUN_ALL_TESTS();
}
