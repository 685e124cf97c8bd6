#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <map>
#include <thread>

#include "tc/base/error.h"
#include "tc/base/plain_text.h"
#include "tc/cache/secret.h"
#include "test/cache/cache_fixture.h"
#include "test/support/expect_error.h"

/// Folders that others had a hand in, and files in them that are not the cache's.
namespace tc::cache {
namespace {

std::optional<CodeEntry> look_up(const std::string& folder, bool writable = true) {
  return Cache(in(folder, writable)).find_code(key, "tile=32x32", "def mm(...)");
}

mode_t mode_of(const std::string& path) {
  struct stat info;
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

/// The key is another one while it lives.
class OtherKey {
 public:
  explicit OtherKey(const std::string& file) { ::setenv("TC_CACHE_KEY", file.c_str(), 1); }
  ~OtherKey() { ::unsetenv("TC_CACHE_KEY"); }
};

/// Whatever gc can find: unfinished files at once, all code as too much.
GcRules greedy() {
  GcRules rules;
  rules.temporary_age = -1;
  rules.max_bytes = 0;
  rules.results_a_key = 0;
  return rules;
}

/// All below \p folder, with what it holds.
std::map<std::string, std::string> tree(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    files[entry.path()] = entry.is_regular_file() ? text_of(entry.path()) : "";
  return files;
}

/// A project whose folders have the names of those of a cache, some of whose files have names of entries too.
void make_project(const std::string& folder) {
  const std::string id(32, 'a'), entry = str(id, "-", id, "-", id, ".options"),
                                 machine_code = std::string(64, 'a') + ".code";
  for (const char* below : {"code/aa/aa", "options/aa/aa", "code/src/aa", "options/AA"})
    std::filesystem::create_directories(folder + "/" + below);
  for (const auto& name :
       {str("code/main.cpp"), str("code/aa/main.cpp"), str("code/aa/notes.code"), str("code/aa/", machine_code),
        str("code/aa/aa/", machine_code), str("code/src/aa/", machine_code), str("code/", machine_code),
        str("code/aa/.tmp-backup"), str("code/aa/.tmp-1-2-3"), str("code/aa/.tmp-1-2-3.txt"), str("options/readme"),
        str("options/aa/aa/", entry), str("options/aa/", entry), str("options/AA/", entry),
        str("options/aa/aa/mine.options")})
    write_text(folder + "/" + name, "a text of mine");
  write_text(folder + "/code/empty.cpp", "");
}

TEST(Gc, TouchesNothingThatIsNotTheCaches) {
  TemporaryFolder folder;
  make_project(folder / "cache");
  make_project(folder / "elsewhere");
  std::filesystem::create_directory_symlink(folder / "elsewhere/code/aa", folder / "cache/code/bb");
  std::filesystem::create_directory_symlink(folder / "elsewhere/options/aa", folder / "cache/options/bb");
  auto before = tree(folder.path());
  auto report = gc(folder / "cache", greedy());
  EXPECT_EQ(report.removed.files, 0u);
  EXPECT_EQ(tree(folder.path()), before);
  EXPECT_ERROR(remove(folder / "cache", "short"), ArgumentError,
               "'short' is too short to say which entry to remove: give 8 digits");
  EXPECT_EQ(remove(folder / "cache", "aaaaaaaa"), 0u);
  EXPECT_EQ(tree(folder.path()), before);
}

/// Entries of another cache, reached through a link, are whole entries: only the link keeps gc from them.
TEST(Gc, FollowsNoLink) {
  for (const char* linked : {"code", "code/*", "options", "options/*", "options/*/*"}) {
    TemporaryFolder folder;
    for (const char* name : {"cache", "other"}) {
      ASSERT_TRUE(Cache(in(folder / name)).put(code(key, "image")));
      ASSERT_TRUE(Cache(in(folder / name)).put(tuned(key, 8, 100)));
    }
    auto below = std::string(linked);
    auto options =
        options_place("", only_options(folder / "cache").substr(only_options(folder / "cache").rfind('/') + 1));
    auto first = below.starts_with("code") ? std::filesystem::path(only_code(folder / "cache")).parent_path().filename()
                                           : std::filesystem::path(options.below).parent_path();
    if (below.ends_with("/*/*"))
      below = "options/" + options.below;
    else if (below.ends_with("/*"))
      below = below.substr(0, below.size() - 1) + first.string();
    std::filesystem::remove_all(folder / ("cache/" + below));
    std::filesystem::create_directory_symlink(folder / ("other/" + below), folder / ("cache/" + below));
    auto before = tree(folder / "other");
    gc(folder / "cache", greedy());
    EXPECT_EQ(tree(folder / "other"), before) << linked;
    EXPECT_TRUE(std::filesystem::is_symlink(folder / ("cache/" + below))) << linked;
  }
}

TEST(Gc, RefusesAFolderThatIsALink) {
  TemporaryFolder folder;
  ASSERT_TRUE(Cache(in(folder / "cache")).put(tuned(key, 8, 100)));
  ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "image")));
  std::filesystem::create_directory_symlink(folder / "cache", folder / "link");
  auto before = tree(folder / "cache");
  for (const char* end : {"", "/", "//", "/.", "/./"}) {
    const auto link = folder / "link" + end;
    EXPECT_ERROR(gc(link, greedy()), ArgumentError, "link' is a link: name the folder itself") << end;
    EXPECT_FALSE(look_up(link)) << end;
    Cache cache(in(link));
    EXPECT_FALSE(cache.put(tuned(key, 16, 100))) << end;
    EXPECT_FALSE(cache.put(code(key, "another"))) << end;
    for (const auto& warning : cache.take_warnings())
      EXPECT_NE(warning.find("is a link"), std::string::npos) << warning;
    EXPECT_TRUE(cache.best(key)) << "options decide nothing but speed";
  }
  EXPECT_EQ(tree(folder / "cache"), before);
}

TEST(Gc, RemovesWhatIsCutShort) {
  TemporaryFolder folder;
  ASSERT_TRUE(Cache(in(folder / "cache")).put(tuned(key, 8, 100)));
  ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "image")));
  write_text(only_options(folder / "cache"), "");
  write_text(only_code(folder / "cache"), "TCC");
  EXPECT_FALSE(look_up(folder / "cache"));
  EXPECT_FALSE(Cache(in(folder / "cache")).best(key));
  EXPECT_EQ(gc(folder / "cache").removed.files, 2u);
}

TEST(HostileFolders, NoLinkIsFollowedToCode) {
  for (int level = 0; level < 4; ++level) {
    TemporaryFolder folder;
    ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "image")));
    ASSERT_TRUE(look_up(folder / "cache"));
    std::filesystem::path path = only_code(folder / "cache");
    for (int up = level; up > 0; --up) path = path.parent_path();
    std::filesystem::rename(path, folder / "elsewhere");
    std::filesystem::create_symlink(folder / "elsewhere", path);
    Cache cache(in(folder / "cache"));
    EXPECT_FALSE(cache.find_code(key, "tile=32x32", "def mm(...)")) << level;
    auto warnings = cache.take_warnings();
    ASSERT_EQ(warnings.size(), 1u) << level;
    EXPECT_NE(warnings[0].find("is a link"), std::string::npos) << warnings[0];
  }
}

TEST(HostileFolders, ModesOfCodeAreTightenedOrRefused) {
  TemporaryFolder folder;
  ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "image")));
  const auto file = only_code(folder / "cache");
  const auto below = std::filesystem::path(file).parent_path().string();
  EXPECT_EQ(mode_of(folder / "cache"), 0700u);
  for (const auto& each : {folder / "cache/code", below}) {
    ASSERT_EQ(::chmod(each.c_str(), 0755), 0);
    EXPECT_FALSE(look_up(folder / "cache", false)) << "nothing is changed where it is only read";
    EXPECT_EQ(mode_of(each), 0755u);
    EXPECT_TRUE(look_up(folder / "cache"));
    EXPECT_EQ(mode_of(each), 0700u);
    ASSERT_EQ(::chmod(each.c_str(), 0775), 0);
    EXPECT_FALSE(look_up(folder / "cache")) << "somebody may have written there";
    EXPECT_EQ(mode_of(each), 0775u);
    ASSERT_EQ(::chmod(each.c_str(), 0700), 0);
  }
  for (mode_t mode : {0644, 0640, 0604, 0660}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    EXPECT_FALSE(look_up(folder / "cache")) << mode;
  }
  ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "image")));
  EXPECT_EQ(mode_of(file), 0600u) << "a new file is in its place";
  EXPECT_TRUE(look_up(folder / "cache"));
}

TEST(HostileFolders, OfAnotherUserAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  TemporaryFolder folder;
  ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "image")));
  std::filesystem::path path = only_code(folder / "cache");
  for (; path != folder.path(); path = path.parent_path()) {
    ASSERT_EQ(::lchown(path.c_str(), 12345, 12345), 0);
    Cache cache(in(folder / "cache"));
    EXPECT_FALSE(cache.find_code(key, "tile=32x32", "def mm(...)")) << path;
    auto warnings = cache.take_warnings();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("another user owns"), std::string::npos) << warnings[0];
    ASSERT_EQ(::lchown(path.c_str(), 0, 0), 0);
    EXPECT_TRUE(look_up(folder / "cache"));
  }
}

TEST(HostileFolders, CodeWithASecondNameIsRefused) {
  TemporaryFolder folder;
  ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "image")));
  std::filesystem::create_hard_link(only_code(folder / "cache"), folder / "another");
  EXPECT_FALSE(look_up(folder / "cache"));
}

/// Another user who may write the folder above puts a folder of his in the place of the cache's, and takes it back,
/// again and again. His, which others may write, holds code that would be taken if it were in a folder that is trusted.
TEST(HostileFolders, WhatIsOpenedIsWhatWasLookedAt) {
  TemporaryFolder folder(in_memory());
  ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "good")));
  ASSERT_TRUE(Cache(in(folder / "his")).put(code(key, "hostile")));
  ASSERT_EQ(::chmod((folder / "his").c_str(), 0777), 0);
  std::atomic<bool> over{false};
  std::thread attacker([&] {
    while (!over)
      ::renameat2(AT_FDCWD, (folder / "cache").c_str(), AT_FDCWD, (folder / "his").c_str(), RENAME_EXCHANGE);
  });
  int good = 0, refused = 0, hostile = 0;
  for (int i = 0; i < 20000 || (i < 200000 && (good == 0 || refused == 0)); ++i) {
    auto found = look_up(folder / "cache");
    if (!found)
      ++refused;
    else if (found->image == "good")
      ++good;
    else
      ++hostile;
  }
  over = true;
  attacker.join();
  EXPECT_EQ(hostile, 0);
  EXPECT_GT(good, 0);
  EXPECT_GT(refused, 0);
}

TEST(Secret, HmacIsThatOfTheStandard) {
  Secret secret{};
  std::fill_n(secret.begin(), 20, std::uint8_t(0x0b));
  EXPECT_EQ(hex(hmac_sha256(secret, "Hi There")), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  secret = {};
  std::copy_n("Jefe", 4, secret.begin());
  EXPECT_EQ(hex(hmac_sha256(secret, "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Secret, CodeOfAnotherKeyIsRefusedAndReplaced) {
  TemporaryFolder folder;
  {
    OtherKey other(folder / "state/key");
    ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "theirs")));
    ASSERT_TRUE(look_up(folder / "cache"));
  }
  Cache cache(in(folder / "cache"));
  EXPECT_FALSE(cache.find_code(key, "tile=32x32", "def mm(...)"));
  auto warnings = cache.take_warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("is not signed with the key in '"), std::string::npos) << warnings[0];
  EXPECT_TRUE(list_code(folder / "cache").empty());
  ASSERT_EQ(verify(folder / "cache").size(), 1u);
  EXPECT_EQ(verify(folder / "cache")[0].fault, Fault::Unauthentic);
  EXPECT_EQ(gc(folder / "cache").removed.files, 0u) << "it may be of use to a machine with that key";
  ASSERT_TRUE(cache.put(code(key, "ours")));
  EXPECT_EQ(look_up(folder / "cache")->image, "ours");
}

TEST(Secret, EveryBitOfCodeIsSigned) {
  auto entry = code(key, "image");
  const auto bytes = to_bytes(entry, some_secret);
  const std::string payload(unseal(Kind::Code, bytes).payload);
  for (std::size_t bit = 0; bit < 8 * payload.size(); ++bit) {
    auto flipped = payload;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_EQ(parse(seal(Kind::Code, flipped), some_secret, entry), Fault::Unauthentic) << "bit " << bit;
  }
}

TEST(Secret, IsMadeOnceAndOfItsUserOnly) {
  TemporaryFolder folder;
  const auto file = folder / "deep/state/key";
  OtherKey other(file);
  EXPECT_FALSE(user_secret(false).secret);
  EXPECT_FALSE(look_up(folder / "cache"));
  EXPECT_FALSE(std::filesystem::exists(folder / "deep")) << "only what keeps code makes a key";
  ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "image")));
  EXPECT_EQ(mode_of(file), 0600u);
  EXPECT_EQ(mode_of(folder / "deep/state"), 0700u);
  EXPECT_EQ(text_of(file).size(), 40u);
}

/// Why a process whose key is in \p file keeps no code; "" if it does. In a process of its own: a key is read once.
std::string refusal(const std::string& file) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  pid_t child = ::fork();
  if (child == 0) {
    TemporaryFolder folder;
    OtherKey other(file);
    Cache cache(in(folder / "cache"));
    auto text = cache.put(code(key, "image")) ? "" : join(cache.take_warnings());
    std::filesystem::remove_all(folder.path());
    ::_exit(::write(ends[1], text.data(), text.size()) < 0);
  }
  ::close(ends[1]);
  std::string text(4096, '\0');
  auto size = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

TEST(Secret, FilesThatAreNoKeyOfThisUserAloneAreRefused) {
  TemporaryFolder folder;
  ASSERT_EQ(refusal(folder / "key"), "");
  ASSERT_EQ(refusal(folder / "key"), "");
  const auto bytes = text_of(folder / "key");
  auto expect = [&](const char* what) {
    auto text = refusal(folder / "key");
    EXPECT_NE(text.find("machine code is not kept: "), std::string::npos) << text;
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  for (mode_t mode : {0644, 0620, 0777}) {
    ASSERT_EQ(::chmod((folder / "key").c_str(), mode), 0);
    expect("others may read or write it");
  }
  ASSERT_EQ(::chmod((folder / "key").c_str(), 0600), 0);
  for (const auto& wrong : {std::string(), bytes.substr(0, 39), std::string(40, 'x')}) {
    write_text(folder / "key", wrong);
    expect("is no key of a cache: remove it");
    EXPECT_EQ(text_of(folder / "key"), wrong) << "it is left";
  }
  write_text(folder / "key", bytes + "x");
  expect("it has 41 bytes");
  std::filesystem::remove(folder / "key");
  write_text(folder / "elsewhere", bytes);
  std::filesystem::create_symlink(folder / "elsewhere", folder / "key");
  expect("it is a link");
  std::filesystem::remove(folder / "key");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  expect("others may write '");
  EXPECT_NE(refusal("/proc/nothing/key").find("TC_CACHE_KEY names another file"), std::string::npos);
}

TEST(Secret, ProcessesThatMakeItAtOnceAgree) {
  TemporaryFolder folder(in_memory());
  OtherKey other(folder / "state/key");
  constexpr int processes = 8;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    pid_t child = ::fork();
    if (child == 0) ::_exit(Cache(in(folder / "cache")).put(code(product_key(p, 4, 5), "image")) ? 0 : 1);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(list_code(folder / "cache").size(), std::size_t(processes));
}

TEST(HostileTexts, AreNeitherKeptNorRead) {
  TemporaryFolder folder;
  Cache cache(in(folder / "cache"));
  for (const char* note : {"\x1b]0;title\x07", "\xff\xfe", "a\rb",
                           "\xc2\x9b"
                           "2J",
                           "a\u202e"
                           "b"}) {
    auto entry = tuned(key, 8, 100);
    entry.note = note;
    EXPECT_FALSE(cache.put(entry)) << plain_text(note);
    OptionsEntry read;
    EXPECT_EQ(parse(to_bytes(entry), read), Fault::Foreign);
    for (auto* text : {&entry.key.program, &entry.key.target, &entry.measured->machine, &entry.measured->build}) {
      entry = tuned(key, 8, 100);
      *text = "def " + std::string(note);
      EXPECT_EQ(parse(to_bytes(entry), read), Fault::Foreign);
    }
  }
  EXPECT_EQ(cache.take_warnings().size(), 1u);
  auto entry = tuned(key, 8, 100);
  entry.note = "Größe: 3 µs,\n\tgut";
  EXPECT_TRUE(cache.put(entry));
  EXPECT_EQ(cache.best(key)->note, entry.note);
}

TEST(Export, ReplacesExportsAndEmptyFilesOnly) {
  TemporaryFolder folder;
  ASSERT_TRUE(Cache(in(folder / "cache")).put(tuned(key, 8, 100)));
  auto where = folder / "file";
  EXPECT_EQ(export_entries(folder / "cache", where), 1u);
  EXPECT_EQ(export_entries(folder / "cache", where), 1u) << "an export";
  write_text(where, "");
  EXPECT_EQ(export_entries(folder / "cache", where), 1u) << "an empty file";
  const auto bytes = text_of(where);
  auto refuses = [&](const char* what) {
    try {
      export_entries(folder / "cache", where);
      ADD_FAILURE() << what;
    } catch (const ResourceError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  for (const auto& mine :
       {std::string("#!/bin/sh\n"), std::string(1000, 'x'), text_of(only_options(folder / "cache"))}) {
    write_text(where, mine);
    refuses("it holds something else");
    EXPECT_EQ(text_of(where), mine);
  }
  std::filesystem::remove(where);
  write_text(folder / "target", bytes);
  std::filesystem::create_symlink(folder / "target", where);
  refuses("it is a link");
  EXPECT_TRUE(std::filesystem::is_symlink(where));
  std::filesystem::remove(where);
  ASSERT_EQ(::mkfifo(where.c_str(), 0600), 0);
  refuses("it is no regular file");
  EXPECT_TRUE(std::filesystem::is_fifo(where));
  std::filesystem::remove(where);
  std::filesystem::create_directory(where);
  refuses("it is no regular file");
  where = "/dev/null";
  refuses("it is no regular file");
  EXPECT_TRUE(std::filesystem::is_character_file(where));
}

}  // namespace
}  // namespace tc::cache
