#include "tc/cuda/library.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "tc/base/error.h"
#include "test/support/expect_error.h"

namespace tc::cuda {
namespace {

namespace fs = std::filesystem;

TEST(Library, SaysWhatItTried) {
  const std::array<std::string, 2> files = {"/nowhere/liba.so", "libnowhere.so.1"};
  auto library = Library::open(files);
  EXPECT_FALSE(library);
  for (const auto& file : files)
    EXPECT_NE(library.tried().find("\n  " + file + ": "), std::string::npos) << library.tried();
}

TEST(Library, NamesAFunctionThatItLacks) {
  const std::array<std::string, 2> files = {"/nowhere/libm.so", "libm.so.6"};
  auto library = Library::open(files);
  ASSERT_TRUE(library);
  EXPECT_EQ(library.file(), "libm.so.6");
  double (*cosine)(double) = nullptr;
  library.bind("cos", cosine);
  EXPECT_EQ(cosine(0), 1);
  EXPECT_ERROR(library.bind("no_such_function", cosine), DeviceError,
               "the library libm.so.6 has no function no_such_function: it is too old");
}

TEST(ToolkitFolders, HaveThoseOfPythonsPackages) {
  const auto packages = fs::temp_directory_path() / ("tc_packages_" + std::to_string(getpid()));
  const auto libraries = packages / "nvidia" / "cu13" / "lib";
  fs::create_directories(libraries);
  auto is_found = [&] {
    auto folders = toolkit_folders();
    return std::find(folders.begin(), folders.end(), libraries.string()) != folders.end();
  };
  EXPECT_FALSE(is_found());
  search_packages_in({"/nowhere", packages});
  EXPECT_TRUE(is_found());
  search_packages_in({});
  EXPECT_FALSE(is_found());
  fs::remove_all(packages);
}

}  // namespace
}  // namespace tc::cuda
