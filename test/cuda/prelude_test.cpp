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
    const std::string name(function.name);
    const auto has = [](const std::string& words) { return device_prelude().find(words) != std::string_view::npos; };
    EXPECT_TRUE(has(name + (name == "tc_vector" ? " {" : "(")) || has("(" + name + ","))
        << name << " is not in the device prelude";
  }
}

TEST(Prelude, NeedsNoHeader) { EXPECT_EQ(device_prelude().find("#include"), std::string_view::npos); }

}  // namespace
}  // namespace tc::cuda
