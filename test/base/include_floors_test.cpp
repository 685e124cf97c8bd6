#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

/// The floor of each folder of tc/; a folder includes from lower floors and from itself.
const std::map<std::string, int> floors = {{"base", 0},    {"proto", 0},         {"lang", 1},   {"polyhedral", 2},
                                           {"options", 3}, {"halide_bridge", 3}, {"derive", 4}, {"autodiff", 4},
                                           {"layout", 4},  {"strategy", 5},      {"cpu", 6},    {"cuda", 6},
                                           {"cache", 7},   {"engine", 8},        {"aten", 8},   {"autotuner", 9}};

struct Include {
  fs::path file;
  std::string text;
};

std::vector<Include> includes_below(const fs::path& root) {
  std::vector<Include> result;
  std::regex pattern(R"re(^\s*#include\s*[<"]([^>"]+)[>"])re");
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    std::ifstream in(entry.path());
    std::smatch match;
    for (std::string line; std::getline(in, line);)
      if (std::regex_search(line, match, pattern)) result.push_back({entry.path(), match[1]});
  }
  return result;
}

std::string folder_of(const fs::path& file, const fs::path& root) { return fs::relative(file, root).begin()->string(); }

TEST(IncludeFloors, AFolderIncludesFromLowerFloorsOnly) {
  const fs::path root = fs::path(TC_SOURCE_DIR) / "tc";
  auto includes = includes_below(root);
  ASSERT_GT(includes.size(), 20u);
  for (const auto& [file, text] : includes) {
    if (text.rfind("tc/", 0) != 0) continue;
    std::string from = folder_of(file, root), to = fs::path(text.substr(3)).begin()->string();
    ASSERT_TRUE(floors.count(from)) << "no floor for folder tc/" << from;
    ASSERT_TRUE(floors.count(to)) << file << " includes " << text;
    EXPECT_TRUE(from == to || floors.at(to) < floors.at(from))
        << file << " on floor " << floors.at(from) << " includes " << text;
  }
}

/// The folders whose sources may name Halide.
const std::set<std::string> halide_folders = {"halide_bridge", "cpu", "cuda"};

TEST(IncludeFloors, HeavyLibrariesStayInTheirFolders) {
  const fs::path root = fs::path(TC_SOURCE_DIR) / "tc";
  for (const auto& [file, text] : includes_below(root)) {
    std::string folder = folder_of(file, root);
    if (text == "Halide.h") {
      EXPECT_TRUE(halide_folders.count(folder)) << file;
    }
    if (text.rfind("isl/", 0) == 0) {
      EXPECT_EQ(fs::relative(file, root).string(), "polyhedral/core/isl.h");
    }
    if (text.rfind("llvm/", 0) == 0) {
      EXPECT_EQ(folder, "cpu") << file;
    }
  }
}

/// Does \p file include Halide.h, itself or by what it includes? \p seen holds the files on the way.
bool reaches_halide(const fs::path& file, const std::map<fs::path, std::vector<std::string>>& includes,
                    std::set<fs::path>& seen) {
  auto found = includes.find(file);
  if (found == includes.end() || !seen.insert(file).second) return false;
  for (const auto& text : found->second)
    if (text == "Halide.h" || reaches_halide(fs::path(TC_SOURCE_DIR) / text, includes, seen)) return true;
  return false;
}

TEST(IncludeFloors, HeadersOfOtherFoldersDoNotReachHalide) {
  const fs::path root = fs::path(TC_SOURCE_DIR) / "tc";
  std::map<fs::path, std::vector<std::string>> includes;
  for (const auto& [file, text] : includes_below(root)) includes[file].push_back(text);
  int halide_headers = 0;
  for (const auto& [file, texts] : includes) {
    if (file.extension() != ".h") continue;
    std::set<fs::path> seen;
    bool reaches = reaches_halide(file, includes, seen);
    EXPECT_TRUE(!reaches || halide_folders.count(folder_of(file, root))) << file;
    halide_headers += reaches;
  }
  EXPECT_GT(halide_headers, 5);
}

}  // namespace
