#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tc/base/str.h"
#include "tc/cache/cache.h"
#include "tc/cache/layout.h"
#include "tc/cache/maintain.h"       // IWYU pragma: export
#include "test/support/own_state.h"  // IWYU pragma: keep

namespace tc::cache {

/// A folder in memory, where there is one: a disk that others use must not decide how long a test of many writes takes.
inline std::filesystem::path in_memory() {
  return std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
}

/// A folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() : TemporaryFolder(std::filesystem::temp_directory_path()) {}
  explicit TemporaryFolder(const std::filesystem::path& where) {
    std::string name = (where / "tc_cache_test.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Settings of a cache in \p folder.
inline CacheSettings in(const std::string& folder, bool writable = true) {
  CacheSettings settings;
  settings.folder = folder;
  settings.writable = writable;
  return settings;
}

/// The product of an m x k and a k x n matrix.
inline Key product_key(std::int64_t m, std::int64_t k, std::int64_t n, const std::string& target = "cpu:avx2") {
  Key key;
  key.program = "def i0(float32(i1,i2) i3, float32(i2,i4) i5) -> (i6) { i6(i7,i8) +=! i3(i7,i9) * i5(i9,i8) }";
  key.tensors = {{contiguous(DType::Float32, {m, k}), false},
                 {contiguous(DType::Float32, {k, n}), false},
                 {contiguous(DType::Float32, {m, n}), true}};
  key.target = target;
  return key;
}

inline const Key key = product_key(3, 4, 5);

inline OptionsEntry tuned(Key key, std::int64_t tile, double nanoseconds) {
  OptionsEntry entry;
  entry.key = std::move(key);
  entry.options = options::MappingOptions().with_tile({tile, 2 * tile});
  entry.created_at = 1700000000;
  entry.measured.emplace();
  entry.measured->median_ns = nanoseconds;
  entry.measured->least_ns = 0.9 * nanoseconds;
  entry.measured->spread_ns = 0.05 * nanoseconds;
  entry.measured->runs = 31;
  entry.measured->checked = true;
  entry.measured->threads = 2;
  entry.measured->machine = "a machine";
  entry.measured->build = "a build";
  entry.measured->taken_at = 1700000000;
  return entry;
}

inline CodeEntry code(Key key, const std::string& image) {
  CodeEntry entry;
  entry.key = std::move(key);
  entry.options = "tile=32x32";
  entry.source = "def mm(...)";
  entry.generated = "for ...";
  entry.image = image;
  entry.verified_stages = {"schedule", "map"};
  entry.compile_milliseconds = 80;
  entry.created_at = 1700000000;
  return entry;
}

inline std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_text(const std::string& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

/// The only file of options, or of code, in the cache folder \p folder.
inline std::string only_file(const std::vector<Found>& found) {
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? "" : found[0].place.path();
}
inline std::string only_options(const std::string& folder) { return only_file(find_options(folder)); }
inline std::string only_code(const std::string& folder) { return only_file(find_code(folder)); }

/// Some key, for entries that no cache keeps.
inline const Secret some_secret = [] {
  Secret secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::uint8_t>(i);
  return secret;
}();

inline std::string tiles(const std::vector<OptionsEntry>& entries) {
  std::vector<std::string> texts;
  for (const auto& entry : entries) texts.push_back(entry.options.to_text());
  return join(texts, " ");
}

}  // namespace tc::cache
