#include "tc/cuda/prelude.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tc::cuda {
namespace {

TEST(Prelude, DefinesEachFunctionOfItsTable) {
  std::set<std::string_view> names;
  for (const auto& function : prelude_functions()) {
    EXPECT_TRUE(names.insert(function.name).second) << function.name << " stands twice in the table";
    EXPECT_NE(function.declaration.find(function.name), std::string_view::npos) << function.name;
    std::string word = std::string(function.name) + (function.name == "tc_vector" ? " {" : "(");
    EXPECT_NE(device_prelude().find(word), std::string_view::npos) << function.name << " is not in the device prelude";
  }
}

TEST(Prelude, NeedsNoHeader) { EXPECT_EQ(device_prelude().find("#include"), std::string_view::npos); }

}  // namespace
}  // namespace tc::cuda
