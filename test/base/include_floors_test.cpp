#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// The floor of each folder of tc/; a folder includes from lower floors and from itself.
const std::map<std::string, int> floors = {{"base", 0},     {"proto", 0},   {"lang", 1},          {"polyhedral", 2},
                                           {"proof", 2},    {"options", 3}, {"halide_bridge", 3}, {"derive", 4},
                                           {"autodiff", 4}, {"layout", 4},  {"strategy", 5},      {"cpu", 6},
                                           {"cuda", 6},     {"library", 7}, {"cache", 7},         {"graph", 7},
                                           {"engine", 8},   {"aten", 9},    {"autotuner", 9}};

/// The rooms of a folder of tc/, from the lowest; a room includes from those before it and from itself, files beside the
/// rooms from all.
const std::map<std::string, std::vector<std::string>> rooms = {
    {"lang", {"syntax", "generic", "interpret", "check"}},
    {"polyhedral", {"core", "schedule", "map", "nest", "spread", "map_grid", "map_cpu", "generate", "laws"}},
    {"halide_bridge", {"infer", "lower", "rewrite", "stmt", "math", "raise", "laws"}},
    {"derive", {"form", "proof", "rules", "search"}},
    {"autodiff", {"terms", "access", "forward", "reverse", "simplify"}},
    {"layout", {"index", "map", "rewrite"}},
    {"strategy", {"cost", "price", "cpu", "grid", "grid_price", "construct"}},
    {"cpu", {"machine", "marked", "prefetch", "guards", "stmt"}},
    {"library", {"description", "match", "openblas", "onednn", "cublaslt"}},
    {"graph", {"options", "statement", "resolve"}},
    {"engine", {"machine", "supervise", "define", "run", "parts", "compile", "graph", "describe", "layouts"}},
    {"autotuner", {"worker", "search"}}};

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
      if (line.find("#include") != std::string::npos && std::regex_search(line, match, pattern))
        result.push_back({entry.path(), match[1]});
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

/// The place of \p room in its folder; beyond all rooms for files beside them (an empty name).
std::size_t room_floor(const std::string& folder, const std::string& room) {
  const auto& names = rooms.at(folder);
  if (room.empty()) return names.size();
  auto found = std::find(names.begin(), names.end(), room);
  EXPECT_NE(found, names.end()) << "tc/" << folder << "/" << room << " is no room";
  return found - names.begin();
}

/// The room in the path \p file below tc/; empty where it lies beside rooms.
std::string room_of(const fs::path& file) {
  auto parts = std::distance(file.begin(), file.end());
  return parts > 2 ? std::next(file.begin())->string() : std::string();
}

TEST(IncludeFloors, ARoomIncludesFromRoomsBeforeIt) {
  const fs::path root = fs::path(TC_SOURCE_DIR) / "tc";
  int between_rooms = 0;
  for (const auto& [file, text] : includes_below(root)) {
    if (text.rfind("tc/", 0) != 0) continue;
    fs::path from = fs::relative(file, root), to = text.substr(3);
    std::string folder = from.begin()->string();
    if (!rooms.count(folder) || to.begin()->string() != folder) continue;
    EXPECT_LE(room_floor(folder, room_of(to)), room_floor(folder, room_of(from))) << file << " includes " << text;
    between_rooms += room_of(from) != room_of(to);
  }
  EXPECT_GT(between_rooms, 100);
}

TEST(IncludeFloors, RoomsAreTheFoldersThereAre) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TC_SOURCE_DIR) / "tc")) {
    if (!entry.is_directory()) continue;
    fs::path path = fs::relative(entry.path(), fs::path(TC_SOURCE_DIR) / "tc");
    if (std::distance(path.begin(), path.end()) == 1) continue;
    std::string folder = path.begin()->string();
    ASSERT_TRUE(rooms.count(folder)) << "tc/" << folder << " has no rooms";
    room_floor(folder, path.filename().string());
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
      // The checker shares nothing with the compiler, so it has a header of its own.
      const auto from = fs::relative(file, root).string();
      EXPECT_TRUE(from == "polyhedral/core/isl.h" || from == "proof/isl.h") << from;
    }
    if (text.rfind("llvm/", 0) == 0) {
      EXPECT_EQ(folder, "cpu") << file;
    }
    if (std::regex_search(text, std::regex("^(ATen|c10|torch)/"))) {
      EXPECT_EQ(folder, "aten") << file;
    }
    if (folder == "aten") {
      EXPECT_EQ(text.find(".pb.h"), std::string::npos) << file;
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

/// Can \p line name a family of processors? Searching every line by the expression takes seconds.
bool may_name_a_family(std::string line) {
  std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto has = [&](const char* text) { return line.find(text) != std::string::npos; };
  return has("avx") || has("sse") || has("x86") || has("amx") || has("_mm") || has("cpuid");
}

/// What a family of processors is called, has, or calls its instructions stands in sources named for it; the places of
/// registers in a signal's context are those of several families.
TEST(IncludeFloors, FamiliesOfProcessorsStayInSourcesOfTheirOwn) {
  const fs::path root = fs::path(TC_SOURCE_DIR) / "tc";
  const std::regex names(R"re(\b(avx\w*|sse\d\w*|x86\w*|__x86\w*|amx\w*|_mm\w*|cpuid\w*|__get_cpuid\w*)\b)re",
                         std::regex::icase);
  int own = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    auto file = entry.path().filename().string();
    auto extension = entry.path().extension();
    if ((extension != ".h" && extension != ".cpp") || file == "left_behind.cpp") continue;
    if (file.ends_with("_x86.cpp")) {
      ++own;
      continue;
    }
    std::ifstream in(entry.path());
    std::smatch found;
    for (std::string line; std::getline(in, line);)
      EXPECT_FALSE(may_name_a_family(line) && std::regex_search(line, found, names))
          << entry.path() << ": " << found[0];
  }
  EXPECT_GE(own, 3);
}

}  // namespace
