#include "tc/cache/environment.h"

#include "tc/base/error.h"
#include "test/cache/cache_fixture.h"
#include "test/support/expect_error.h"

namespace tc::cache {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

/// The variables of the environment that decide, none set but those given.
class Environment {
 public:
  explicit Environment(const Values& values) {
    for (const char* name : {"TC_CACHE_MODE", "TC_CACHE_DIR", "TC_CACHE_OVERRIDE", "TC_CACHE_PATH", "TC_CACHE_MAX_SIZE",
                             "XDG_CACHE_HOME", "HOME"}) {
      const char* old = std::getenv(name);
      old_.emplace_back(name, old ? std::optional<std::string>(old) : std::nullopt);
      ::unsetenv(name);
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : old_) value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> old_;
};

std::string folder_of(const Values& values) {
  Environment environment(values);
  auto cache = from_environment();
  return cache ? cache->settings().folder : "none";
}

TEST(Environment, TheFolderIsTheUsersOwn) {
  EXPECT_EQ(folder_of({{"TC_CACHE_DIR", "/a"}, {"XDG_CACHE_HOME", "/b"}, {"HOME", "/c"}}), "/a");
  EXPECT_EQ(folder_of({{"XDG_CACHE_HOME", "/b"}, {"HOME", "/c"}}), "/b/tensor_comprehensions");
  EXPECT_EQ(folder_of({{"HOME", "/c"}}), "/c/.cache/tensor_comprehensions");
  EXPECT_EQ(folder_of({}), "none");
  EXPECT_EQ(folder_of({{"TC_CACHE_DIR", "/a"}, {"TC_CACHE_MODE", "off"}}), "none");
}

TEST(Environment, SaysWhatACacheMayDo) {
  {
    Environment environment(Values{{"TC_CACHE_DIR", "/a"}});
    EXPECT_TRUE(from_environment()->settings().writable);
    EXPECT_EQ(from_environment()->settings().max_bytes, 1u << 30);
    EXPECT_EQ(from_environment(), from_environment());
  }
  Environment environment(Values{{"TC_CACHE_DIR", "/a"},
                                 {"TC_CACHE_MODE", "ro"},
                                 {"TC_CACHE_OVERRIDE", "/o"},
                                 {"TC_CACHE_PATH", "/p:/q:"},
                                 {"TC_CACHE_MAX_SIZE", "3m"}});
  const auto& settings = from_environment()->settings();
  EXPECT_FALSE(settings.writable);
  EXPECT_EQ(settings.override_folder, "/o");
  EXPECT_EQ(settings.shared, (std::vector<std::string>{"/p", "/q"}));
  EXPECT_EQ(settings.max_bytes, 3u << 20);
}

TEST(Environment, WrongValuesAreErrors) {
  for (const char* mode : {"on", "RW", "w"}) {
    Environment environment(Values{{"TC_CACHE_DIR", "/a"}, {"TC_CACHE_MODE", mode}});
    EXPECT_ERROR(from_environment(), OptionsError, ": must be rw (read and write), ro (only read) or off") << mode;
  }
  for (const char* size : {"much", "-1", "3t", "1g ", "99999999999g"})
    EXPECT_ERROR(parse_size(size), OptionsError, ": must be a number of bytes, for example 500m or 2g") << size;
  EXPECT_EQ(parse_size("7"), 7u);
  EXPECT_EQ(parse_size("2k"), 2048u);
  EXPECT_EQ(parse_size("2g"), std::uint64_t(2) << 30);
}

}  // namespace
}  // namespace tc::cache
