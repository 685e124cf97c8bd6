#include "tc/cache/maintain.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <random>

#include "tc/base/error.h"
#include "test/cache/cache_fixture.h"
#include "test/support/expect_error.h"

namespace tc::cache {
namespace {

Cache cache_in(const std::string& folder) {
  CacheSettings settings;
  settings.folder = folder;
  return Cache(settings);
}

void put(const std::string& folder, const OptionsEntry& entry) { ASSERT_TRUE(cache_in(folder).put(entry)); }
void put(const std::string& folder, const CodeEntry& entry) { ASSERT_TRUE(cache_in(folder).put(entry)); }

/// The options of \p folder: names of files and their bytes.
std::map<std::string, std::string> content(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& found : find_options(folder)) files[found.place.name] = text_of(found.place.path());
  return files;
}

/// The first of \p files, cut short.
std::string damage_one(const std::vector<Found>& files) {
  auto file = files.at(0).place.path(), bytes = text_of(file);
  write_text(file, bytes.substr(0, bytes.size() - 1));
  return file;
}

/// Where options of another version would be.
Place foreign_place(const std::string& folder) {
  const std::string id(32, 'f');
  return options_place(folder, str(id, "-", id, "-", id, ".options"));
}

TEST(Merge, IsTheUnionInEitherOrder) {
  TemporaryFolder folder;
  std::mt19937 random(3);
  for (int i = 0; i < 40; ++i) {
    auto entry = tuned(product_key(3, 4, random() % 5), 1 + random() % 20, 100 + random() % 3);
    for (const char* name : {"a", "b"})
      if (random() % 2) put(folder / name, entry);
  }
  merge(folder / "ab", folder / "a");
  merge(folder / "ab", folder / "b");
  merge(folder / "ba", folder / "b");
  merge(folder / "ba", folder / "a");
  EXPECT_EQ(content(folder / "ab"), content(folder / "ba"));
  EXPECT_GT(content(folder / "ab").size(), content(folder / "a").size());
  EXPECT_GT(content(folder / "ab").size(), content(folder / "b").size());
  auto once = content(folder / "ab");
  auto again = merge(folder / "ab", folder / "ba");
  EXPECT_EQ(again.taken, 0u);
  EXPECT_EQ(again.present, once.size());
  EXPECT_EQ(content(folder / "ab"), once);
  EXPECT_TRUE(verify(folder / "ab").empty());
}

TEST(Merge, RefusesWhatIsDamagedAndNeverTakesCode) {
  TemporaryFolder folder;
  put(folder / "from", tuned(product_key(3, 4, 5), 8, 100));
  put(folder / "from", tuned(product_key(3, 4, 5), 16, 100));
  put(folder / "from", code(product_key(3, 4, 5), "image"));
  damage_one(find_options(folder / "from"));
  auto transfer = merge(folder / "into", folder / "from");
  EXPECT_EQ(transfer.taken, 1u);
  EXPECT_EQ(transfer.refused, 1u);
  EXPECT_FALSE(std::filesystem::exists(code_root(folder / "into")));
  EXPECT_ERROR(merge(folder / "into", folder / "nothing"), ArgumentError, "nothing' to merge");
}

TEST(Export, IsImportedWhole) {
  TemporaryFolder folder;
  for (int i = 1; i <= 6; ++i) put(folder / "a", tuned(product_key(3, 4, i / 2), i, 100 - i));
  EXPECT_EQ(export_entries(folder / "a", folder / "file"), 6u);
  auto transfer = import_entries(folder / "b", folder / "file");
  EXPECT_EQ(transfer.taken, 6u);
  EXPECT_EQ(content(folder / "a"), content(folder / "b"));
  EXPECT_EQ(import_entries(folder / "b", folder / "file").present, 6u);
  EXPECT_EQ(export_entries(folder / "b", folder / "file2"), 6u);
  EXPECT_EQ(text_of(folder / "file"), text_of(folder / "file2"));
}

/// While alive, the process may have so many files open that \p left more fit.
class FewFiles {
 public:
  explicit FewFiles(rlim_t left) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit fewer = before_;
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    fewer.rlim_cur = static_cast<rlim_t>(next) + left;
    ::close(next);
    ::setrlimit(RLIMIT_NOFILE, &fewer);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

TEST(FewFiles, AreEnoughForAnyNumberOfEntries) {
  TemporaryFolder folder(in_memory());
  for (int i = 1; i <= 300; ++i) put(folder / "a", tuned(product_key(3, i, 5), 8, 100));
  for (int i = 1; i <= 3; ++i) put(folder / "a", code(product_key(3, i, 5), "image"));
  EXPECT_EQ(export_entries(folder / "a", folder / "all"), 300u);
  const auto exported = text_of(folder / "all");
  {
    const FewFiles limit(8);
    EXPECT_EQ(export_entries(folder / "a", folder / "all"), 300u);
    EXPECT_EQ(stat(folder / "a").options.files, 300u);
    EXPECT_EQ(list_code(folder / "a").size(), 3u);
  }
  EXPECT_EQ(text_of(folder / "all"), exported);
}

/// Whatever does not fit, no function takes the cache for an empty one, and a lookup warns.
TEST(FewFiles, AreToldWhereTheyAreTooFew) {
  TemporaryFolder folder(in_memory());
  for (int i = 1; i <= 10; ++i) put(folder / "a", tuned(product_key(3, i, 5), 8, 100));
  put(folder / "a", code(product_key(3, 4, 5), "image"));
  EXPECT_EQ(export_entries(folder / "a", folder / "all"), 10u);
  const auto exported = text_of(folder / "all");
  int refused = 0;
  for (rlim_t left = 0; left < 8; ++left) {
    auto told = [&](auto&& call) {
      try {
        const FewFiles limit(left);
        call();
      } catch (const ResourceError& error) {
        EXPECT_NE(std::string(error.what()).find("Too many open files"), std::string::npos) << error.what();
        ++refused;
      }
    };
    told([&] { EXPECT_EQ(export_entries(folder / "a", folder / "all"), 10u); });
    told([&] { EXPECT_EQ(stat(folder / "a").code.files, 1u); });
    told([&] { EXPECT_EQ(list_options(folder / "a").size(), 10u); });
    told([&] { EXPECT_EQ(list_code(folder / "a").size(), 1u); });
    told([&] { EXPECT_TRUE(verify(folder / "a").empty()); });
    told([&] { EXPECT_EQ(merge(folder / "b", folder / "a").refused, 0u); });
    told([&] { EXPECT_EQ(import_entries(folder / "c", folder / "all").refused, 0u); });
    told([&] { EXPECT_EQ(gc(folder / "a").removed.files, 0u); });
    auto cache = cache_in(folder / "a"), other = cache_in(folder / "a");
    const FewFiles limit(left);
    EXPECT_TRUE(cache.best(product_key(3, 4, 5)) || !cache.take_warnings().empty()) << left;
    EXPECT_TRUE(other.nearest(product_key(3, 99, 5)) || !other.take_warnings().empty()) << left;
  }
  EXPECT_GT(refused, 8);
  EXPECT_EQ(text_of(folder / "all"), exported);
}

MeasuredDerivation prices(int which, double seconds, std::int64_t taken_at) {
  DerivationKey key{str("def f", which, "() {\n}\n"), {"W"}, "cpu:avx2", "none", {"a machine", 2}};
  return {key, seconds, {{"def g() {\n}\n", seconds / 2}}, "program\n", taken_at};
}

void put(const std::string& folder, const MeasuredDerivation& prices) {
  ASSERT_EQ(keep(derivation_place(folder, derivation_name(prices.key)), to_bytes(prices)), "");
}

/// The prices of \p folder: names of files and their bytes.
std::map<std::string, std::string> prices_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& found : find_derivations(folder)) files[found.place.name] = text_of(found.place.path());
  return files;
}

TEST(Derivations, TravelWithTheOptionsAndOfOneKeyTheLaterStay) {
  TemporaryFolder folder;
  put(folder / "a", tuned(product_key(3, 4, 5), 8, 100));
  for (int which = 0; which < 6; ++which) {
    if (which != 1) put(folder / "a", prices(which, 1e-3, 100 + which));
    if (which != 4) put(folder / "b", prices(which, 2e-3, 105 - which));
  }
  put(folder / "a", prices(7, 1e-3, 50));
  put(folder / "b", prices(7, 2e-3, 50));
  merge(folder / "ab", folder / "a");
  EXPECT_GT(merge(folder / "ab", folder / "b").present, 0u);
  merge(folder / "ba", folder / "b");
  merge(folder / "ba", folder / "a");
  EXPECT_EQ(prices_in(folder / "ab"), prices_in(folder / "ba"));
  EXPECT_EQ(prices_in(folder / "ab").size(), 7u);
  const auto stored = list_derivations(folder / "ab");
  for (const auto& one : stored)
    EXPECT_EQ(one.entry.taken_at >= 103, one.entry.key.program.find("f7") == std::string::npos);
  EXPECT_EQ(export_entries(folder / "ab", folder / "file"), 8u);
  EXPECT_EQ(import_entries(folder / "c", folder / "file").taken, 8u);
  EXPECT_EQ(import_entries(folder / "c", folder / "file").present, 8u);
  EXPECT_EQ(prices_in(folder / "c"), prices_in(folder / "ab"));
  EXPECT_EQ(content(folder / "c"), content(folder / "a"));
  EXPECT_EQ(stat(folder / "c").derivations.files, 7u);
  EXPECT_EQ(remove(folder / "c", stored.front().id().substr(0, 12)), 1u);
  EXPECT_EQ(stat(folder / "c").derivations.files, 6u);
}

TEST(Derivations, OfAnotherNameOrDamagedAreNoneAndGo) {
  TemporaryFolder folder;
  for (int which = 0; which < 3; ++which) put(folder / "a", prices(which, 1e-3, 100));
  const auto files = find_derivations(folder / "a");
  const auto where = folder / "a/derivations/";
  write_text(where + files[0].place.name, text_of(where + files[1].place.name));
  damage_one({files[2]});
  write_text(where + ".tmp-1-2-3", "TCCACHE\nunfinished");
  write_text(where + "mine.txt", "no entry");
  const auto findings = verify(folder / "a");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].problem, str("'", files[0].place.path(), "' is damaged"));
  EXPECT_EQ(list_derivations(folder / "a").size(), 1u);
  EXPECT_EQ(merge(folder / "b", folder / "a").refused, 2u);
  GcRules rules;
  rules.temporary_age = -1;
  rules.max_bytes = 0;
  EXPECT_EQ(gc(folder / "a", rules).removed.files, 3u);
  EXPECT_EQ(prices_in(folder / "a").size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(where + "mine.txt"));
}

TEST(Export, OfTheBestOnly) {
  TemporaryFolder folder;
  for (int i = 1; i <= 6; ++i) put(folder / "a", tuned(product_key(3, 4, i % 2), i, 100 - i));
  EXPECT_EQ(export_entries(folder / "a", folder / "file", true), 2u);
  import_entries(folder / "b", folder / "file");
  EXPECT_EQ(tiles(cache_in(folder / "b").find(product_key(3, 4, 0))), "tile=6x12");
  EXPECT_EQ(tiles(cache_in(folder / "b").find(product_key(3, 4, 1))), "tile=5x10");
}

TEST(Import, RefusesOtherFiles) {
  TemporaryFolder folder;
  put(folder / "a", tuned(product_key(3, 4, 5), 8, 100));
  export_entries(folder / "a", folder / "file");
  const auto bytes = text_of(folder / "file");
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    write_text(folder / "cut", bytes.substr(0, size));
    EXPECT_ERROR(import_entries(folder / "b", folder / "cut"), ArgumentError,
                 "cut' is not, whole, an export of a cache")
        << size;
  }
  write_text(folder / "cut", seal(Kind::Export, "rubbish that is no list"));
  EXPECT_ERROR(import_entries(folder / "b", folder / "cut"), ArgumentError, "cut' is not, whole, an export of a cache");
  EXPECT_ERROR(import_entries(folder / "b", folder / "missing"), ArgumentError, "missing'");
  EXPECT_ERROR(export_entries(folder / "a", folder / "file/below"), ResourceError, "file' is no folder");
  EXPECT_FALSE(std::filesystem::exists(folder / "b"));
}

TEST(Verify, NamesWhatIsWrong) {
  TemporaryFolder folder;
  put(folder / "a", tuned(product_key(3, 4, 5), 8, 100));
  put(folder / "a", tuned(product_key(3, 4, 5), 9, 100));
  put(folder / "a", code(product_key(3, 4, 5), "image"));
  EXPECT_TRUE(verify(folder / "a").empty());
  auto options = damage_one(find_options(folder / "a"));
  auto machine_code = damage_one(find_code(folder / "a"));
  auto foreign = foreign_place(folder / "a");
  ASSERT_EQ(keep(foreign, seal(Kind::Export, "")), "");
  auto findings = verify(folder / "a");
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].problem, str("'", options, "' is damaged"));
  EXPECT_EQ(findings[1].problem, str("'", foreign.path(), "' is of another version or kind"));
  EXPECT_EQ(findings[2].problem, str("'", machine_code, "' is damaged"));
}

TEST(Lists, GiveOptionsByKeyBestFirst) {
  TemporaryFolder folder;
  for (int i = 1; i <= 6; ++i) put(folder / "a", tuned(product_key(3, 4, i % 2), i, 100 - i));
  put(folder / "a", code(product_key(3, 4, 5), "image"));
  auto options = list_options(folder / "a");
  ASSERT_EQ(options.size(), 6u);
  EXPECT_EQ(options[0].entry.key, options[2].entry.key);
  EXPECT_LT(options[0].entry.measured->median_ns, options[1].entry.measured->median_ns);
  EXPECT_EQ(options[0].id().size(), 32u);
  auto machine_code = list_code(folder / "a");
  ASSERT_EQ(machine_code.size(), 1u);
  EXPECT_EQ(machine_code[0].id().size(), 64u);
  EXPECT_EQ(machine_code[0].entry.image, "image");
  auto held = stat(folder / "a");
  EXPECT_EQ(held.options.files, 6u);
  EXPECT_EQ(held.keys, 2u);
  EXPECT_EQ(held.code.files, 1u);
}

TEST(Remove, EntriesByTheirIds) {
  TemporaryFolder folder;
  put(folder / "a", tuned(product_key(3, 4, 5), 1, 100));
  put(folder / "a", tuned(product_key(3, 4, 5), 2, 200));
  put(folder / "a", code(product_key(3, 4, 5), "image"));
  auto options = list_options(folder / "a");
  EXPECT_EQ(remove(folder / "a", options[0].id().substr(0, 12)), 1u);
  EXPECT_EQ(remove(folder / "a", options[0].id().substr(0, 12)), 0u);
  EXPECT_EQ(tiles(cache_in(folder / "a").find(product_key(3, 4, 5))), "tile=2x4");
  EXPECT_EQ(remove(folder / "a", list_code(folder / "a").at(0).id()), 1u);
  EXPECT_TRUE(list_code(folder / "a").empty());
  EXPECT_ERROR(remove(folder / "a", options[1].id().substr(0, 7)), ArgumentError,
               "is too short to say which entry to remove: give 8 digits");
}

TEST(Gc, KeepsTheBestOfEachKeyAndWhatIsInjected) {
  TemporaryFolder folder;
  for (int i = 1; i <= 9; ++i) put(folder / "a", tuned(product_key(3, 4, 5), i, 100 + i));
  auto injected = tuned(product_key(3, 4, 5), 99, 1000);
  injected.origin = Origin::Injected;
  put(folder / "a", injected);
  GcRules rules;
  rules.results_a_key = 2;
  EXPECT_EQ(gc(folder / "a", rules).removed.files, 7u);
  EXPECT_EQ(tiles(cache_in(folder / "a").find(product_key(3, 4, 5))), "tile=99x198 tile=1x2 tile=2x4");
  EXPECT_EQ(gc(folder / "a", rules).removed.files, 0u);
}

TEST(Gc, KeepsTheBestOfEachMachineAndNumberOfThreads) {
  TemporaryFolder folder;
  for (int i = 1; i <= 12; ++i) {
    auto entry = tuned(product_key(3, 4, 5), i, 100 + i);
    entry.measured->machine = i <= 8 ? "fast" : "slow";
    entry.measured->threads = i % 2;
    put(folder / "a", entry);
  }
  GcRules rules;
  rules.results_a_key = 1;
  EXPECT_EQ(gc(folder / "a", rules).removed.files, 8u);
  EXPECT_EQ(tiles(cache_in(folder / "a").find(product_key(3, 4, 5))), "tile=1x2 tile=2x4 tile=9x18 tile=10x20");
  EXPECT_EQ(gc(folder / "a", rules).removed.files, 0u);
}

TEST(Gc, RemovesDamagedAndUnfinishedFiles) {
  TemporaryFolder folder;
  put(folder / "a", tuned(product_key(3, 4, 5), 8, 100));
  put(folder / "a", tuned(product_key(3, 4, 5), 9, 100));
  put(folder / "a", code(product_key(3, 4, 5), "image"));
  damage_one(find_options(folder / "a"));
  damage_one(find_code(folder / "a"));
  auto where = options_root(folder / "a") + "/ab/cd";
  std::filesystem::create_directories(where);
  write_text(where + "/.tmp-1-2-3", "TCCACHE\nunfinished");
  auto foreign = foreign_place(folder / "a");
  ASSERT_EQ(keep(foreign, seal(Kind::Export, "")), "");
  GcRules gentle;
  gentle.only_when_full = true;
  EXPECT_EQ(gc(folder / "a", gentle).removed.files, 0u);
  EXPECT_EQ(gc(folder / "a").removed.files, 2u);
  EXPECT_EQ(stat(folder / "a").temporary.files, 1u);
  GcRules rules;
  rules.temporary_age = -1;
  EXPECT_EQ(gc(folder / "a", rules).removed.files, 1u);
  EXPECT_EQ(stat(folder / "a").options.files, 2u) << "a whole one and one of another version";
}

TEST(Gc, RemovesTheCodeLeastRecentlyUsed) {
  TemporaryFolder folder;
  for (int i = 0; i < 10; ++i) put(folder / "a", code(product_key(3, 4, i), std::string(1000, 'x')));
  put(folder / "a", tuned(product_key(3, 4, 5), 8, 100));
  std::vector<std::string> files;
  for (int i = 0; i < 10; ++i) {
    auto entry = code(product_key(3, 4, i), "");
    for (const auto& stored : list_code(folder / "a"))
      if (stored.entry.key == entry.key) files.push_back(stored.place.path());
    struct timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
    ::utimensat(AT_FDCWD, files.back().c_str(), times, 0);
  }
  EXPECT_TRUE(cache_in(folder / "a").find_code(product_key(3, 4, 2), "tile=32x32", "def mm(...)"));
  GcRules rules;
  rules.max_bytes = 5000;
  auto report = gc(folder / "a", rules);
  EXPECT_LE(report.bytes_left, 5000u);
  EXPECT_EQ(report.removed.files + stat(folder / "a").code.files, 10u);
  EXPECT_TRUE(std::filesystem::exists(files[2])) << "used a moment ago";
  EXPECT_TRUE(std::filesystem::exists(files[9]));
  EXPECT_FALSE(std::filesystem::exists(files[0]));
  EXPECT_EQ(stat(folder / "a").options.files, 1u);
}

}  // namespace
}  // namespace tc::cache
