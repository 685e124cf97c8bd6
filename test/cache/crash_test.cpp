#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "test/cache/cache_fixture.h"

/// Processes that are killed while they write, and many that write at once.
namespace tc::cache {
namespace {

/// How often writers are killed: TC_CACHE_KILLS times on the disk, else 250 times in memory.
struct Kills {
  const char* given = std::getenv("TC_CACHE_KILLS");
  int count = given ? std::stoi(given) : 250;
  std::filesystem::path where = given ? std::filesystem::temp_directory_path() : in_memory();
};

/// The entries of a writer differ by their tile; the image of code says whose it is.
OptionsEntry nth_options(int n) { return tuned(product_key(3, 4, n % 499), 1 + n, 1000 + n); }
CodeEntry nth_code(int n) {
  return code(product_key(n, 4, 5), std::string(20000 + n % 1000, static_cast<char>('a' + n % 26)));
}

/// Writes entries from \p first on until it is killed. Tells \p acknowledge that it began, then the number of each
/// entry that put() took.
[[noreturn]] void write_for_ever(const std::string& folder, int first, int acknowledge) {
  Cache cache(in(folder));
  constexpr int started = -1;
  if (::write(acknowledge, &started, sizeof started) != sizeof started) ::_exit(1);
  for (int n = first;; ++n) {
    bool kept = n % 2 ? cache.put(nth_code(n)) : cache.put(nth_options(n));
    if (kept && ::write(acknowledge, &n, sizeof n) != sizeof n) ::_exit(1);
  }
}

/// The numbers a killed writer had acknowledged.
std::vector<int> run_and_kill(const std::string& folder, int first, std::chrono::microseconds after) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  pid_t writer = ::fork();
  if (writer == 0) {
    ::close(ends[0]);
    write_for_ever(folder, first, ends[1]);
  }
  ::close(ends[1]);
  int started = 0;
  EXPECT_EQ(::read(ends[0], &started, sizeof started), static_cast<ssize_t>(sizeof started));
  std::this_thread::sleep_for(after);
  ::kill(writer, SIGKILL);
  std::vector<int> acknowledged;
  for (int n; ::read(ends[0], &n, sizeof n) == sizeof n;) acknowledged.push_back(n);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(writer, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  return acknowledged;
}

/// How long a put takes now: the disk is shared.
std::chrono::microseconds time_of_a_put(const std::filesystem::path& where) {
  TemporaryFolder folder(where);
  Cache cache(in(folder / "cache"));
  auto start = std::chrono::steady_clock::now();
  constexpr int puts = 16;
  for (int n = 0; n < puts; n += 2) {
    EXPECT_TRUE(cache.put(nth_options(n)));
    EXPECT_TRUE(cache.put(nth_code(n + 1)));
  }
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start) / puts;
}

bool is_kept(const Cache& cache, int n) {
  if (n % 2) {
    auto wanted = nth_code(n);
    auto found = cache.find_code(wanted.key, wanted.options, wanted.source);
    return found && found->image == wanted.image;
  }
  auto wanted = nth_options(n);
  for (const auto& entry : cache.find(wanted.key))
    if (entry == wanted) return true;
  return false;
}

TEST(Crash, KilledWritersLoseNothingAcknowledgedAndLeaveNothingDamaged) {
  const Kills plan;
  const int kills = plan.count;
  const unsigned seed = std::random_device()();
  std::cout << kills << " kills, seed " << seed << "\n";
  std::mt19937 random(seed);
  std::size_t acknowledged = 0, lost = 0, unfinished = 0;
  for (int done = 0, first = 0; done < kills;) {
    TemporaryFolder folder(plan.where);
    Cache reader(in(folder / "cache"));
    const auto longest = 100 + 10 * static_cast<unsigned>(time_of_a_put(plan.where).count());
    for (int round = 0; round < 50 && done < kills; ++round, ++done, first += 10000) {
      auto numbers = run_and_kill(folder / "cache", first, std::chrono::microseconds(random() % longest));
      acknowledged += numbers.size();
      for (int n : numbers) lost += !is_kept(reader, n);
    }
    for (const auto& finding : verify(folder / "cache")) ADD_FAILURE() << finding.problem;
    for (const auto& warning : reader.take_warnings()) ADD_FAILURE() << warning;
    unfinished += stat(folder / "cache").temporary.files;
    GcRules rules;
    rules.temporary_age = -1;
    gc(folder / "cache", rules);
    EXPECT_EQ(stat(folder / "cache").temporary.files, 0u);
  }
  std::cout << acknowledged << " acknowledged, " << unfinished << " unfinished files\n";
  EXPECT_EQ(lost, 0u);
  EXPECT_GT(acknowledged, std::size_t(kills / 10)) << "the kills came before the writing";
  EXPECT_GT(unfinished, 0u) << "the kills missed the writing";
}

constexpr int processes = 16, operations = 500;

/// Puts, looks up and merges what the others put too; returns how often it saw something wrong.
int work(const std::string& folder, int process) {
  Cache cache(in(folder));
  int wrong = 0;
  for (int i = 0; i < operations; ++i) {
    int n = process * operations + i;
    if (i % 5 == 4) {
      wrong += !is_kept(cache, 2 * (n - 2));
    } else if (i % 50 == 3) {
      wrong += !cache.put(nth_code(2 * i + 1));
    } else {
      wrong += !cache.put(nth_options(2 * n));
    }
  }
  return wrong + static_cast<int>(cache.take_warnings().size());
}

TEST(Crash, ManyProcessesAtOnceLoseNothing) {
  TemporaryFolder folder(in_memory());
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    pid_t child = ::fork();
    if (child == 0) ::_exit(std::min(work(folder / "cache", p), 100));
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a process saw " << WEXITSTATUS(status) << " faults";
  }
  std::size_t expected = 0, kept = 0;
  std::set<std::string> found;
  for (const auto& stored : list_options(folder / "cache")) found.insert(stored.entry.options.to_text());
  for (int n = 0; n < processes * operations; ++n) {
    if (n % operations % 5 == 4 || n % operations % 50 == 3) continue;
    ++expected;
    kept += found.count(nth_options(2 * n).options.to_text());
  }
  EXPECT_EQ(kept, expected);
  EXPECT_EQ(found.size(), expected);
  EXPECT_TRUE(verify(folder / "cache").empty());
  EXPECT_EQ(stat(folder / "cache").temporary.files, 0u);
}

}  // namespace
}  // namespace tc::cache
