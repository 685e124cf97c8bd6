#include "tc/base/cache_size.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tc/base/target.h"

namespace tc {
namespace {

class CacheSize : public testing::Test {
 protected:
  CacheSize() { std::filesystem::remove_all(folder_); }
  ~CacheSize() override { std::filesystem::remove_all(folder_); }

  void describe(int index, int level, const std::string& type, const std::string& size) const {
    const auto cache = folder_ / ("index" + std::to_string(index));
    std::filesystem::create_directories(cache);
    std::ofstream(cache / "level") << level << "\n";
    std::ofstream(cache / "type") << type << "\n";
    std::ofstream(cache / "size") << size << "\n";
  }

  const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "tc_cache_size";
};

TEST_F(CacheSize, IsThatOfTheLevelsDataCache) {
  describe(0, 1, "Instruction", "32K");
  describe(1, 1, "Data", "48K");
  describe(2, 2, "Unified", "2M");
  describe(3, 3, "Unified", "32768K");
  EXPECT_EQ(cache_size(1, folder_), 48 << 10);
  EXPECT_EQ(cache_size(2, folder_), 2 << 20);
  EXPECT_EQ(cache_size(3, folder_), 32 << 20);
}

TEST_F(CacheSize, IsUnknownWhereNothingTells) {
  EXPECT_EQ(cache_size(3, folder_), std::nullopt);
  describe(0, 3, "Unified", "large");
  EXPECT_EQ(cache_size(3, folder_), std::nullopt);
  EXPECT_EQ(cache_size(2, folder_), std::nullopt);
}

TEST_F(CacheSize, TheHostHasWhatItsKernelTells) {
  if (const auto bytes = cache_size(1)) {
    EXPECT_EQ(Target::host().l1_bytes, *bytes);
  }
}

}  // namespace
}  // namespace tc
