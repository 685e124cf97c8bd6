#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(SourceLists, EverySourceIsNamedByTheListBesideIt) {
  int sources = 0;
  for (const char* top : {"tc", "test", "examples", "benchmarks", "python", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TC_SOURCE_DIR) / top)) {
      if (entry.path().extension() != ".cpp") continue;
      fs::path folder = entry.path().parent_path();
      while (!fs::exists(folder / "CMakeLists.txt")) folder = folder.parent_path();
      std::string listed = fs::relative(entry.path(), folder).generic_string();
      std::string list = text_of(folder / "CMakeLists.txt");
      bool from_support = list.find(entry.path().filename().string()) != std::string::npos;
      EXPECT_TRUE(list.find(listed) != std::string::npos || from_support) << entry.path() << " is in no source list";
      ++sources;
    }
  }
  EXPECT_GT(sources, 10);
}

}  // namespace
