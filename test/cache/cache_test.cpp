#include "tc/cache/cache.h"

#include <sys/resource.h>

#include <atomic>
#include <limits>
#include <thread>

#include "tc/cache/build_id.h"
#include "test/cache/cache_fixture.h"

namespace tc::cache {
namespace {

/// A cache whose folder goes with it.
struct CacheInFolder {
  TemporaryFolder folder;
  Cache cache{in(folder / "cache")};
};

TEST(Cache, FindsWhatWasPut) {
  CacheInFolder test;
  EXPECT_FALSE(test.cache.best(key));
  ASSERT_TRUE(test.cache.put(tuned(key, 8, 200)));
  ASSERT_TRUE(test.cache.put(tuned(key, 16, 100)));
  ASSERT_TRUE(test.cache.put(tuned(product_key(3, 4, 6), 32, 50)));
  ASSERT_TRUE(test.cache.put(tuned(key, 8, 200)));
  EXPECT_EQ(tiles(test.cache.find(key)), "tile=16x32 tile=8x16");
  EXPECT_EQ(*test.cache.best(key), tuned(key, 16, 100));
  EXPECT_FALSE(test.cache.best(product_key(3, 4, 5, "cpu:avx512")));
  EXPECT_TRUE(test.cache.take_warnings().empty());
}

TEST(Cache, WhatWasMeasuredHereGoesBeforeWhatWasFasterElsewhere) {
  CacheInFolder test;
  auto here = tuned(key, 8, 200), elsewhere = tuned(key, 16, 100);
  here.measured->machine = "here";
  ASSERT_TRUE(test.cache.put(here));
  ASSERT_TRUE(test.cache.put(elsewhere));
  EXPECT_EQ(tiles(test.cache.find(key, {"here", 2})), "tile=8x16 tile=16x32");
  EXPECT_EQ(tiles(test.cache.find(key, {"a machine", 2})), "tile=16x32 tile=8x16");
  EXPECT_EQ(*test.cache.best(key, {"here", 2}), here);
  EXPECT_EQ(*test.cache.best(key), elsewhere);
  EXPECT_EQ(test.cache.nearest(product_key(3, 4, 6), {"here", 2})->entry, here);
  EXPECT_EQ(test.cache.nearest(product_key(3, 4, 6), {"elsewhere", 2})->entry, elsewhere);
}

TEST(Cache, OptionsOfAnEarlierBuildAreUsed) {
  CacheInFolder test;
  auto entry = tuned(key, 8, 200);
  entry.measured->build = "an earlier build";
  ASSERT_TRUE(test.cache.put(entry));
  EXPECT_EQ(test.cache.best(key)->measured->build, "an earlier build");
}

TEST(Cache, CodeIsFoundForItsKeyOptionsAndSource) {
  CacheInFolder test;
  ASSERT_TRUE(test.cache.put(code(key, "the image")));
  auto found = test.cache.find_code(key, "tile=32x32", "def mm(...)");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->image, "the image");
  EXPECT_EQ(found->build, compiler_build_id());
  EXPECT_FALSE(test.cache.find_code(product_key(3, 4, 6), "tile=32x32", "def mm(...)"));
  EXPECT_FALSE(test.cache.find_code(key, "tile=32x64", "def mm(...)"));
  EXPECT_FALSE(test.cache.find_code(key, "tile=32x32", "def matmul(...)"));
}

TEST(Cache, CodeOfAnotherBuildIsNot) {
  CacheInFolder test;
  auto other = code(key, "the image");
  other.build = "another build";
  const auto secret = user_secret(true).secret.value();
  auto name = code_name(key, other.options, other.source, compiler_build_id());
  auto where = code_place(test.folder / "cache", name);
  ASSERT_EQ(keep(where, to_bytes(other, secret)), "");
  EXPECT_FALSE(test.cache.find_code(key, other.options, other.source));
  auto own = code_place(test.folder / "cache", code_name(key, other.options, other.source, other.build));
  ASSERT_EQ(keep(own, to_bytes(other, secret)), "");
  EXPECT_FALSE(test.cache.find_code(key, other.options, other.source));
  EXPECT_EQ(stat(test.folder / "cache").code_of_other_builds.files, 1u);
}

TEST(Cache, EntriesTooLargeToReadAreNotKept) {
  CacheInFolder test;
  auto entry = tuned(key, 8, 200);
  entry.note = std::string(options_limit, 'x');
  EXPECT_FALSE(test.cache.put(entry));
  EXPECT_EQ(test.cache.take_warnings().size(), 1u);
}

TEST(Cache, WhatNoReaderWouldTakeIsNotAcknowledged) {
  CacheInFolder test;
  for (double time : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0, 0.0})
    EXPECT_FALSE(test.cache.put(tuned(key, 8, time))) << time;
  EXPECT_EQ(test.cache.take_warnings().size(), 1u);
  EXPECT_TRUE(test.cache.find(key).empty());
}

TEST(Cache, MeasurementsSayWhereAndWhen) {
  auto measured = measurement_here();
  EXPECT_EQ(measured.build, compiler_build_id());
  EXPECT_GT(measured.taken_at, 1700000000);
  EXPECT_FALSE(measured.machine.empty());
  EXPECT_NE(text_of("/proc/cpuinfo").find(": " + measured.machine + "\n"), std::string::npos) << measured.machine;
}

TEST(Cache, BuildsAreToldByTheirSources) {
  EXPECT_EQ(compiler_build_id().size(), 33u);
  EXPECT_TRUE(is_of_these_sources(compiler_build_id()));
  EXPECT_TRUE(is_of_these_sources(compiler_build_id().substr(0, 17) + "other libraries"));
  EXPECT_FALSE(is_of_these_sources("another" + compiler_build_id()));
  EXPECT_FALSE(is_of_these_sources(""));
}

TEST(Cache, EveryFlippedBitAndEveryTruncationIsAMiss) {
  CacheInFolder test;
  ASSERT_TRUE(test.cache.put(tuned(key, 8, 200)));
  auto file = only_options(test.folder / "cache");
  const auto bytes = text_of(file);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    write_text(file, flipped);
    ASSERT_FALSE(test.cache.best(key)) << "bit " << bit;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write_text(file, bytes.substr(0, size));
    ASSERT_FALSE(test.cache.best(key)) << "size " << size;
  }
  EXPECT_EQ(test.cache.take_warnings(), (std::vector<std::string>{str("'", file, "' is damaged")}));
  write_text(file, bytes);
  EXPECT_TRUE(test.cache.best(key));
}

TEST(Cache, SwappedFilesAreMisses) {
  CacheInFolder test;
  const auto other = product_key(3, 4, 6);
  ASSERT_TRUE(test.cache.put(tuned(key, 8, 200)));
  ASSERT_TRUE(test.cache.put(tuned(other, 16, 100)));
  auto files = find_options(test.folder / "cache");
  auto a = files[0].place.path(), b = files[1].place.path();
  auto bytes = text_of(a);
  write_text(a, text_of(b));
  write_text(b, bytes);
  EXPECT_FALSE(test.cache.best(key));
  EXPECT_FALSE(test.cache.best(other));
  EXPECT_EQ(test.cache.take_warnings().size(), 2u);
}

TEST(Cache, DamagedEntriesDoNotHideWholeOnes) {
  CacheInFolder test;
  ASSERT_TRUE(test.cache.put(tuned(key, 8, 200)));
  write_text(only_options(test.folder / "cache"), "rubbish");
  ASSERT_TRUE(test.cache.put(tuned(key, 16, 300)));
  EXPECT_EQ(tiles(test.cache.find(key)), "tile=16x32");
  ASSERT_TRUE(test.cache.put(tuned(key, 8, 200)));
  EXPECT_EQ(tiles(test.cache.find(key)), "tile=8x16 tile=16x32");
}

TEST(Cache, TheFirstFolderWithOptionsDecides) {
  TemporaryFolder folder;
  CacheSettings settings = in(folder / "own");
  settings.override_folder = folder / "override";
  settings.shared = {folder / "shared1", folder / "shared2"};
  Cache cache(settings);
  auto expect = [&](const char* options) { EXPECT_EQ(tiles(cache.find(key)), options); };
  ASSERT_TRUE(Cache(in(folder / "shared2")).put(tuned(key, 1, 1)));
  expect("tile=1x2");
  ASSERT_TRUE(Cache(in(folder / "shared1")).put(tuned(key, 2, 2)));
  expect("tile=2x4");
  ASSERT_TRUE(cache.put(tuned(key, 3, 3)));
  expect("tile=3x6");
  ASSERT_TRUE(Cache(in(folder / "override")).put(tuned(key, 4, 4)));
  expect("tile=4x8");
  EXPECT_EQ(stat(folder / "shared1").options.files, 1u);
}

TEST(Cache, CodeComesFromItsOwnFolderOnly) {
  TemporaryFolder folder;
  CacheSettings settings = in(folder / "own");
  settings.override_folder = settings.shared.emplace_back(folder / "shared");
  ASSERT_TRUE(Cache(in(folder / "shared")).put(code(key, "image")));
  EXPECT_FALSE(Cache(settings).find_code(key, "tile=32x32", "def mm(...)"));
}

TEST(Cache, ReadOnlyCachesAreNotChanged) {
  TemporaryFolder folder;
  auto settings = in(folder / "cache");
  settings.writable = false;
  Cache reader(settings);
  EXPECT_FALSE(reader.put(tuned(key, 8, 200)));
  EXPECT_FALSE(reader.put(code(key, "image")));
  EXPECT_FALSE(std::filesystem::exists(folder / "cache"));
  ASSERT_TRUE(Cache(in(folder / "cache")).put(tuned(key, 8, 200)));
  EXPECT_TRUE(reader.best(key));
  EXPECT_TRUE(reader.take_warnings().empty());
}

TEST(Cache, CodeFoldersAreOfOneUser) {
  CacheInFolder test;
  ASSERT_TRUE(test.cache.put(code(key, "image")));
  struct stat info;
  ASSERT_EQ(::stat(code_root(test.folder / "cache").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(only_code(test.folder / "cache").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(Cache, FoldersOfACarelessUserAreTheirOwnAllTheSame) {
  CacheInFolder test;
  mode_t before = ::umask(0);
  bool kept = test.cache.put(tuned(key, 8, 200)) && test.cache.put(code(key, "image"));
  ::umask(before);
  EXPECT_TRUE(kept);
  EXPECT_TRUE(test.cache.find_code(key, "tile=32x32", "def mm(...)"));
  EXPECT_TRUE(test.cache.take_warnings().empty());
}

TEST(Cache, FoldersThatOthersMayWriteAreRefusedForCode) {
  for (const char* part : {"cache", "cache/code"}) {
    for (mode_t mode : {0777, 0775, 01777}) {
      CacheInFolder test;
      ASSERT_TRUE(test.cache.put(code(key, "image")));
      ASSERT_TRUE(test.cache.put(tuned(key, 8, 200)));
      ASSERT_EQ(::chmod((test.folder / part).c_str(), mode), 0);
      EXPECT_FALSE(test.cache.find_code(key, "tile=32x32", "def mm(...)")) << part << " " << mode;
      EXPECT_FALSE(test.cache.put(code(key, "image"))) << part << " " << mode;
      EXPECT_TRUE(test.cache.best(key));
      auto warnings = test.cache.take_warnings();
      ASSERT_EQ(warnings.size(), 1u);
      EXPECT_NE(warnings[0].find("others may write"), std::string::npos) << warnings[0];
    }
  }
}

TEST(Cache, CodeFilesThatOthersMayWriteAreRefused) {
  CacheInFolder test;
  ASSERT_TRUE(test.cache.put(code(key, "image")));
  auto file = only_code(test.folder / "cache");
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_FALSE(test.cache.find_code(key, "tile=32x32", "def mm(...)"));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_TRUE(test.cache.find_code(key, "tile=32x32", "def mm(...)"));
}

TEST(Cache, LinksPipesAndGiantsAreRefused) {
  CacheInFolder test;
  ASSERT_TRUE(test.cache.put(tuned(key, 8, 200)));
  auto file = only_options(test.folder / "cache");
  auto elsewhere = test.folder / "elsewhere";
  std::filesystem::rename(file, elsewhere);
  std::filesystem::create_symlink(elsewhere, file);
  EXPECT_FALSE(test.cache.best(key)) << "a link";
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(test.cache.best(key)) << "a pipe";
  std::filesystem::remove(file);
  write_text(file, text_of(elsewhere));
  std::filesystem::resize_file(file, std::uint64_t(10) << 30);
  EXPECT_FALSE(test.cache.best(key)) << "a giant";
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_FALSE(test.cache.best(key)) << "a folder";
}

TEST(Cache, FoldersThatCannotBeAreMisses) {
  TemporaryFolder folder;
  write_text(folder / "file", "");
  Cache cache(in(folder / "file"));
  EXPECT_FALSE(cache.best(key));
  EXPECT_FALSE(cache.put(tuned(key, 8, 200)));
  EXPECT_FALSE(cache.put(tuned(key, 8, 200)));
  EXPECT_FALSE(cache.put(code(key, "image")));
  EXPECT_FALSE(cache.find_code(key, "tile=32x32", "def mm(...)"));
  EXPECT_EQ(cache.take_warnings().size(), 2u);
}

TEST(Cache, FilesThatMayNotGrowAreNotAcknowledged) {
  CacheInFolder test;
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_FALSE(test.cache.put(tuned(key, 8, 200)));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(test.cache.best(key));
  EXPECT_EQ(test.cache.take_warnings().size(), 1u);
  EXPECT_TRUE(find_options(test.folder / "cache").empty());
  EXPECT_TRUE(test.cache.put(tuned(key, 8, 200)));
}

TEST(Cache, NearestShapes) {
  CacheInFolder test;
  EXPECT_FALSE(test.cache.nearest(key));
  ASSERT_TRUE(test.cache.put(tuned(product_key(64, 64, 64), 1, 300)));
  ASSERT_TRUE(test.cache.put(tuned(product_key(1024, 1024, 1024), 2, 1000)));
  ASSERT_TRUE(test.cache.put(tuned(product_key(1024, 1024, 1024), 3, 900)));
  ASSERT_TRUE(test.cache.put(tuned(product_key(1000, 1000, 1000, "cpu:avx512"), 4, 1)));
  auto tile = [&](const Key& asked) { return test.cache.nearest(asked)->entry.options.to_text(); };
  EXPECT_EQ(tile(product_key(1000, 1000, 1000)), "tile=3x6");
  EXPECT_EQ(tile(product_key(70, 60, 64)), "tile=1x2");
  EXPECT_EQ(test.cache.nearest(product_key(64, 64, 64))->distance, 0);
  EXPECT_GT(test.cache.nearest(product_key(65, 64, 64))->distance, 0);
  auto other = product_key(64, 64, 64);
  other.program += "x";
  EXPECT_FALSE(test.cache.nearest(other));
}

TEST(Cache, NearestOfTheFirstFolderWhereEquallyNear) {
  TemporaryFolder folder;
  auto settings = in(folder / "own");
  settings.shared = {folder / "shared"};
  Cache cache(settings);
  ASSERT_TRUE(Cache(in(folder / "shared")).put(tuned(key, 1, 1)));
  ASSERT_TRUE(cache.put(tuned(key, 2, 2)));
  EXPECT_EQ(cache.nearest(key)->entry.options.to_text(), "tile=2x4");
}

TEST(Cache, GenerationTellsOfNewOptions) {
  CacheInFolder test;
  auto before = Cache::generation();
  test.cache.put(code(key, "image"));
  EXPECT_EQ(Cache::generation(), before);
  test.cache.put(tuned(key, 8, 200));
  EXPECT_GT(Cache::generation(), before);
}

TEST(Cache, KeepsItsSize) {
  TemporaryFolder folder;
  auto settings = in(folder / "cache");
  settings.max_bytes = 200000;
  Cache cache(settings);
  ASSERT_TRUE(cache.put(tuned(key, 8, 200)));
  for (int i = 0; i < 130; ++i) ASSERT_TRUE(cache.put(code(product_key(3, 4, i), std::string(4000, 'x'))));
  auto held = stat(settings.folder);
  EXPECT_LE(held.code.bytes, 200000u + 64 * 5000);
  EXPECT_GT(held.code.files, 20u);
  EXPECT_EQ(held.options.files, 1u);
}

TEST(Cache, ThreadsShareOne) {
  CacheInFolder test;
  constexpr int threads = 8, puts = 25;
  std::atomic<int> missing{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      for (int i = 0; i < puts; ++i) {
        test.cache.put(tuned(key, 1 + t * puts + i, 1000 - i));
        missing += test.cache.find(key).empty();
      }
    });
  for (auto& thread : pool) thread.join();
  EXPECT_EQ(missing, 0);
  EXPECT_EQ(test.cache.find(key).size(), std::size_t(threads * puts));
  EXPECT_TRUE(test.cache.take_warnings().empty());
}

}  // namespace
}  // namespace tc::cache
