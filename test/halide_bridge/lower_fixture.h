#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/halide_bridge/lower/lower.h"
#include "test/halide_bridge/checked_def.h"

namespace tc::halide_bridge {

inline Program lowered(const std::string& text, const lang::SizeMap& sizes) {
  const auto def = checked_def(text);
  return lower(def, infer_ranges(def, text), sizes);
}

/// A def and its launches as text.
struct LowerCase {
  const char* what;
  std::string text;
  lang::SizeMap sizes;
  std::string program;  ///< launches only
};

inline std::string name_of(const testing::TestParamInfo<LowerCase>& info) { return info.param.what; }

class LowerTest : public testing::TestWithParam<LowerCase> {
 protected:
  static void check() {
    const auto& test = GetParam();
    const std::string text = print(lowered(test.text, test.sizes));
    const auto launches = text.find("launch");
    EXPECT_EQ(launches == std::string::npos ? "" : "\n" + text.substr(launches), test.program) << test.text;
  }
};

}  // namespace tc::halide_bridge
