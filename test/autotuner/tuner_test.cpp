#include "tc/autotuner/tuner.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tc/autotuner/checkpoint.h"
#include "tc/base/error.h"
#include "tc/cache/maintain.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/engine.h"
#include "tc/engine/persistent.h"
#include "test/support/expect_error.h"
#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

void write_text(const std::string& file, const char* text) { std::ofstream(file) << text; }

std::string tried(const TuneResult& result) {
  std::string text;
  for (const auto& candidate : result.candidates) text += candidate.options.to_text() + "\n";
  return text;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

TEST(Tune, TriesCandidatesAndTimesTheWinnerAgainstTheDefault) {
  Inputs inputs({matrix(40, 48), matrix(48, 64)});
  auto result = tune(function_of(product_text), inputs.views(), {}, quick(14));
  EXPECT_EQ(result.candidates.size(), 15u);
  EXPECT_EQ(result.candidates[0].options, options::MappingOptions());
  EXPECT_EQ(result.generations, 3);
  EXPECT_EQ(result.stop, Stop::Candidates);
  EXPECT_GT(result.standard.seconds, 0);
  EXPECT_LE(result.best.seconds, result.standard.seconds);
  EXPECT_GE(result.speedup(), 1);
  ASSERT_TRUE(result.executable);
  EXPECT_EQ(result.executable->image().options, result.best.options.to_text());
  std::set<std::string> codes;
  for (const auto& candidate : result.candidates) {
    EXPECT_TRUE(candidate.usable() || candidate.status == Status::Slow)
        << candidate.options.to_text() << ": " << name(candidate.status) << " " << candidate.note;
    bool timed = candidate.status == Status::Ok;
    EXPECT_TRUE(!timed || codes.insert(candidate.code).second) << "the same code was timed twice";
  }
}

TEST(Tune, TakesSeveralStatementsOutputsAndStrides) {
  Inputs inputs({matrix(24, 32)});
  auto settings = quick(8);
  settings.search = SearchKind::Random;
  TensorSpec transposed{DType::Float32, {24, 32}, {1, 24}};
  auto result = tune(function_of(sums_text), inputs.views(), {contiguous(DType::Float32, {24}), transposed}, settings);
  for (const auto& candidate : result.candidates)
    EXPECT_TRUE(candidate.usable() || candidate.status == Status::Slow)
        << name(candidate.status) << " " << candidate.note;
}

TEST(Tune, TakesOutputsThatAccumulate) {
  Inputs inputs({matrix(24, 32)});
  auto result = tune(function_of("def f(float(M,N) A) -> (S) { S(m) += A(m,n) }"), inputs.views(), {}, quick(6));
  for (const auto& candidate : result.candidates)
    EXPECT_TRUE(candidate.usable() || candidate.status == Status::Slow)
        << name(candidate.status) << " " << candidate.note;
}

TEST(Tune, MeasuresAsManyWhateverRanksThem) {
  Inputs inputs({matrix(40, 48), matrix(48, 64)});
  for (auto ranking : {Ranking::None, Ranking::Model, Ranking::Learned}) {
    auto settings = quick(8);
    settings.ranking = ranking;
    auto result = tune(function_of(product_text), inputs.views(), {}, settings);
    EXPECT_EQ(result.candidates.size(), 9u);
    for (const auto& candidate : result.candidates) EXPECT_EQ(candidate.predicted > 0, ranking != Ranking::None);
  }
}

TEST(Tune, UsesUpASmallSpaceWhateverRanksIt) {
  std::vector<TensorSpec> four{contiguous(DType::Float32, {4})};
  for (auto ranking : {Ranking::None, Ranking::Learned}) {
    auto settings = quick(1000);
    settings.ranking = ranking;
    settings.target = Target::parse("cpu:plain,cores=1");
    auto result = tune(function_of("def f(float(N) A) -> (B) { B(i) = A(i) }"), Inputs(four).views(), {}, settings);
    EXPECT_EQ(result.stop, Stop::Exhausted);
    EXPECT_GE(result.candidates.size(), 40u);
  }
}

TEST(Tune, TriesTheSameForASeedWithoutTimes) {
  Inputs inputs({matrix(8, 8), matrix(8, 8)});
  auto settings = quick(6, 5);
  auto first = tried(tune(function_of(product_text), inputs.views(), {}, settings));
  EXPECT_EQ(first, tried(tune(function_of(product_text), inputs.views(), {}, settings)));
  settings.seed = 6;
  EXPECT_NE(first, tried(tune(function_of(product_text), inputs.views(), {}, settings)));
}

TEST(Tune, WinnersAreFoundByLaterCompiles) {
  Folder folder;
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  auto function = function_of(product_text);
  auto settings = quick(8);
  settings.cache = cache_in(folder.path());
  auto result = tune(function, inputs.views(), {}, settings);
  EXPECT_TRUE(result.kept);
  engine::CompileOptions how;
  how.target = settings.target;
  how.mapping_from = engine::MappingFrom::Tuned;
  how.cache = cache_in(folder.path());
  engine::ExecutableCache executables;
  auto found = engine::compile_cached(executables, function, {matrix(32, 32), matrix(32, 32)}, {}, how);
  EXPECT_EQ(found->image().options, result.best.options.to_text());
  EXPECT_TRUE(found->stats().from_cache);
}

TEST(Tune, StartsAreTriedFirst) {
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  auto settings = quick(2);
  settings.starts = {options::MappingOptions::parse("tile=9x9"), options::MappingOptions::parse("pack=0")};
  auto result = tune(function_of(product_text), inputs.views(), {}, settings);
  EXPECT_EQ(tried(result), "\ntile=9x9\npack=0\n");
}

/// Puts \p options, as measured with \p settings on \p machine (here: null), into their cache.
void record(const std::shared_ptr<const engine::Function>& function, const TuneSettings& settings, const char* options,
            double nanoseconds, const char* machine = nullptr, cache::Origin origin = cache::Origin::Tuned) {
  auto arguments = engine::make_arguments(*function, {matrix(32, 32), matrix(32, 32)}, {});
  auto entry = engine::options_entry(*function, arguments, settings.target, options::MappingOptions::parse(options));
  entry.origin = origin;
  entry.measured = cache::measurement_here();
  if (machine) entry.measured->machine = machine;
  entry.measured->threads = settings.threads;
  entry.measured->median_ns = nanoseconds;
  ASSERT_TRUE(settings.cache->put(entry));
}

/// The options that a compile takes which asks the cache of \p settings.
std::string options_of_calls(const std::shared_ptr<const engine::Function>& function, const TuneSettings& settings) {
  cpu::set_num_threads(settings.threads);
  engine::CompileOptions how;
  how.target = settings.target;
  how.mapping_from = engine::MappingFrom::Cached;
  how.cache = settings.cache;
  engine::ExecutableCache executables;
  return engine::compile_cached(executables, function, {matrix(32, 32), matrix(32, 32)}, {}, how)->image().options;
}

/// Earlier winners of all kinds: with times that no machine reaches, times in between, of options that are slow, or
/// that no compiler takes.
TEST(Tune, CallsTakeTheResult) {
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  auto function = function_of(product_text);
  for (const char* earlier : {"tile=1x1", "tile=9x9,unroll_limit=1"})
    for (double nanoseconds : {1.0, 1e12}) {
      Folder folder;
      auto settings = quick(3);
      settings.cache = cache_in(folder.path());
      record(function, settings, earlier, nanoseconds);
      record(function, settings, "tile=3x3", 2 * nanoseconds);
      record(function, settings, "tile=5x5", 1, "elsewhere");
      auto result = tune(function, inputs.views(), {}, settings);
      EXPECT_TRUE(result.kept);
      EXPECT_EQ(result.used, result.best.options) << earlier << " " << nanoseconds;
      EXPECT_EQ(options_of_calls(function, settings), result.best.options.to_text()) << earlier << " " << nanoseconds;
      EXPECT_GT(result.best.runs, 0);
    }
}

TEST(Tune, SaysWhatCallsTakeWhereThatIsNotTheResult) {
  Folder folder;
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  auto function = function_of(product_text);
  auto settings = quick(3);
  settings.cache = cache_in(folder.path());
  record(function, settings, "tile=1x1", 1e12, nullptr, cache::Origin::Injected);
  auto result = tune(function, inputs.views(), {}, settings);
  EXPECT_EQ(result.used.to_text(), "tile=1x1");
  EXPECT_EQ(options_of_calls(function, settings), "tile=1x1");
  settings.cache = nullptr;
  EXPECT_EQ(tune(function, inputs.views(), {}, settings).used, options::MappingOptions());
}

TEST(Tune, StartsOfTheCacheAreThoseMeasuredHereAndTheFastest) {
  Folder folder;
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  auto function = function_of(product_text);
  auto settings = quick(2);
  settings.cache = cache_in(folder.path());
  record(function, settings, "tile=9x9", 2000);
  record(function, settings, "tile=10x10", 1000, "elsewhere");
  record(function, settings, "tile=11x11", 3000);
  EXPECT_EQ(tried(tune(function, inputs.views(), {}, settings)), "\ntile=9x9\ntile=10x10\n");
}

TEST(Tune, GoesOnFromACheckpoint) {
  Folder folder;
  Inputs inputs({matrix(8, 8), matrix(8, 8)});
  auto settings = quick(6);
  settings.checkpoint = folder.path() + "/point";
  auto first = tried(tune(function_of(product_text), inputs.views(), {}, settings));
  settings.candidates = 12;
  int told = 0;
  settings.on_candidate = [&](const Candidate&) { ++told; };
  auto result = tune(function_of(product_text), inputs.views(), {}, settings);
  auto second = tried(result);
  EXPECT_EQ(told, 7) << "the default options and the six new ones";
  EXPECT_TRUE(std::is_sorted(result.candidates.begin(), result.candidates.end(),
                             [](const auto& a, const auto& b) { return a.at < b.at; }));
  EXPECT_EQ(second.substr(0, first.size()), first);
  EXPECT_GT(second.size(), first.size());
  EXPECT_EQ(load_checkpoint(settings.checkpoint)->candidates.size(), 13u);
  settings.seed = 99;
  EXPECT_NE(tried(tune(function_of(product_text), inputs.views(), {}, settings)).substr(0, first.size()), first);
}

TEST(Tune, EndsWithTheBestSoFarWhenCancelled) {
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  auto settings = quick(100000);
  settings.on_progress = [&](const Progress& progress) {
    if (progress.tried == 9) settings.cancellation.cancel();
  };
  auto result = tune(function_of(product_text), inputs.views(), {}, settings);
  EXPECT_EQ(result.stop, Stop::Cancelled);
  EXPECT_GT(result.best.runs, 0);
  EXPECT_LT(result.candidates.size(), 20u);
}

/// Finals, whose runs do not end, are given up.
TEST(Tune, EndsSoonWhenCancelledInTheFinals) {
  Folder folder;
  auto stalled = folder.path() + "/stalled";
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  auto settings = quick(8, 1, "stall " + stalled);
  settings.compile_limit = 60;
  double cancelled = 0;
  std::thread canceller;
  settings.on_progress = [&](const Progress& progress) {
    if (progress.tried < 8) return;
    std::ofstream(stalled) << "now";
    canceller = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      cancelled = now();
      settings.cancellation.cancel();
    });
  };
  auto result = tune(function_of(product_text), inputs.views(), {}, settings);
  canceller.join();
  EXPECT_LT(now() - cancelled, 20);
  EXPECT_EQ(result.stop, Stop::Cancelled);
  EXPECT_EQ(result.best.runs, 0) << "nothing was compared";
  ASSERT_TRUE(result.executable);
  EXPECT_EQ(result.executable->image().options, result.best.options.to_text());
  auto best = std::find_if(result.candidates.begin(), result.candidates.end(),
                           [&](const auto& candidate) { return candidate.options == result.best.options; });
  EXPECT_EQ(best->status, Status::Ok);
}

TEST(Tune, KeepsToABudgetOfSeconds) {
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  auto settings = quick(0);
  settings.budget = 3;
  auto begin = std::chrono::steady_clock::now();
  auto result = tune(function_of(product_text), inputs.views(), {}, settings);
  EXPECT_EQ(result.stop, Stop::Budget);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 15);
  EXPECT_GT(result.candidates.size(), 1u);
}

/// The end that a tuning promises: 1.5 times the budget, or some two seconds after the default options.
void expect_in_time(const TuneResult& result, double budget, double seconds) {
  constexpr double kills = 1;  // processes that end, on a busy machine
  EXPECT_LT(seconds, std::max(1.5 * budget, result.candidates.front().at + 2) + kills);
  EXPECT_TRUE(result.executable);
}

TEST(Tune, KeepsToABudgetWhereRunsAreLong) {
  Inputs inputs({matrix(500, 500), matrix(500, 500)});
  auto settings = quick(0);
  settings.budget = 3;
  settings.target = Target::parse("cpu:plain,cores=1");
  settings.threads = 1;
  settings.measure_seconds = 0.1;
  settings.final_seconds = 3;
  double begin = now();
  auto result = tune(function_of(product_text), inputs.views(), {}, settings);
  expect_in_time(result, settings.budget, now() - begin);
}

TEST(Tune, KeepsToABudgetWhereCompilesAreLong) {
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  auto settings = quick(0, 1, "slow_compile");
  settings.budget = 5;
  settings.genetic.population = 24;
  settings.compilers = 8;
  double begin = now();
  auto result = tune(function_of(product_text), inputs.views(), {}, settings);
  expect_in_time(result, settings.budget, now() - begin);
  int measured = 0;
  for (const auto& candidate : result.candidates) measured += candidate.generation > 0 && candidate.usable();
  EXPECT_GT(measured, 0) << "one slow candidate keeps the others of its generation from being measured";
}

TEST(Tune, AWinnerThatCannotBeFinishedHasTheCodeThatWasMeasured) {
  Folder folder;
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  for (const char* fault : {"finish hang", "finish segv", "finish exit"}) {
    auto settings = quick(0, 1, fault);
    settings.budget = 3;
    settings.cache = cache_in(folder.path() + "/" + fault);
    double begin = now();
    auto result = tune(function_of(product_text), inputs.views(), {}, settings);
    expect_in_time(result, settings.budget, now() - begin);
    EXPECT_EQ(result.executable->image().options, result.best.options.to_text());
    EXPECT_TRUE(result.executable->stats().records.empty() || result.executable->stats().records[0].name == "build");
    EXPECT_TRUE(result.kept || result.best.runs == 0);
    EXPECT_TRUE(cache::list_code(folder.path() + "/" + fault).at(0).entry.verified_stages.empty());
  }
}

/// What compiling the winner takes, this process does not: it only starts others, and loads the code.
TEST(Tune, ThisProcessCompilesNothing) {
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  auto used = [&] {
    rusage usage;
    ::getrusage(RUSAGE_SELF, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  };
  Inputs inputs({matrix(64, 64), matrix(64, 64)});
  auto function = function_of(
      "def f(float(M,K) A, float(K,N) B) -> (C,D,E) { C(m,n) +=! A(m,k) * B(k,n)\n D(m,n) +=! C(m,k) * B(k,n)\n"
      "E(m,n) +=! D(m,k) * A(n,k) }");
  tune(function_of(product_text), inputs.views(), {}, quick(1));
  double before = used();
  auto result = tune(function, inputs.views(), {}, quick(1));
  EXPECT_LT(used() - before, result.executable->stats().milliseconds / 2000);
}

TEST(Tune, TakesTensorsWithoutElements) {
  Inputs inputs({matrix(0, 8), matrix(8, 8)});
  auto result = tune(function_of(product_text), inputs.views(), {}, quick(4));
  EXPECT_EQ(result.stop, Stop::Candidates);
  EXPECT_EQ(result.standard.options, options::MappingOptions());
}

TEST(Tune, TensorsDoNotCountAgainstTheLimitOfMemory) {
  Inputs inputs({contiguous(DType::Float32, {6000}), contiguous(DType::Float32, {6000})});
  auto settings = quick(1);
  settings.memory_limit = std::size_t(128) << 20;
  settings.interpret_limit = 0.1;
  auto function = function_of("def f(float(N) A, float(M) B) -> (C) { C(i,j) = A(i) * B(j) }");
  EXPECT_EQ(tune(function, inputs.views(), {}, settings).stop, Stop::Candidates) << "144 MB of results";
}

TEST(Tune, OfTwoAtOnceBothWinnersAreKept) {
  Folder folder;
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  auto work = [&](std::uint64_t seed) {
    auto settings = quick(5, seed);
    settings.cache = cache_in(folder.path() + "/cache");
    EXPECT_TRUE(tune(function_of(product_text), inputs.views(), {}, settings).kept) << seed;
  };
  std::thread other(work, 1);
  work(2);
  other.join();
  auto target = quick(1).target;
  auto function = function_of(product_text);
  auto arguments = engine::make_arguments(*function, {matrix(32, 32), matrix(32, 32)}, {});
  EXPECT_EQ(cache_in(folder.path() + "/cache")->find(engine::persistent_key(*function, arguments, target)).size(), 2u);
}

TEST(Tune, ACacheThatVanishesIsMadeAnew) {
  Folder folder;
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  const auto where = folder.path() + "/cache";
  auto settings = quick(5);
  settings.cache = cache_in(where);
  tune(function_of(product_text), inputs.views(), {}, settings);
  ASSERT_TRUE(std::filesystem::exists(where));
  settings.on_candidate = [&](const Candidate&) { std::filesystem::remove_all(where); };
  EXPECT_TRUE(tune(function_of(product_text), inputs.views(), {}, settings).kept);
  EXPECT_TRUE(std::filesystem::exists(where));
}

TEST(Tune, ACacheThatIsOnlyReadKeepsNothing) {
  Folder folder;
  Inputs inputs({matrix(32, 32), matrix(32, 32)});
  const auto where = folder.path() + "/cache";
  auto settings = quick(3);
  settings.cache = cache_in(where, false);
  auto result = tune(function_of(product_text), inputs.views(), {}, settings);
  EXPECT_FALSE(result.kept);
  EXPECT_TRUE(result.executable);
  EXPECT_FALSE(std::filesystem::exists(where));
}

TEST(Tune, ACheckpointThatCannotBeWrittenIsAnErrorAtTheBeginningOnly) {
  Folder folder;
  Inputs inputs({matrix(16, 16), matrix(16, 16)});
  auto settings = quick(8);
  write_text(folder.path() + "/file", "no folder");
  settings.checkpoint = folder.path() + "/file/point";
  int tried = 0;
  settings.on_candidate = [&](const Candidate& candidate) { tried += candidate.generation > 0; };
  EXPECT_ERROR(tune(function_of(product_text), inputs.views(), {}, settings), ResourceError, "file' is no folder");
  EXPECT_EQ(tried, 0);
  settings.checkpoint = folder.path() + "/points/point";
  settings.on_candidate = [&](const Candidate& candidate) {
    if (candidate.generation == 0) return;
    std::filesystem::remove_all(folder.path() + "/points");
    write_text(folder.path() + "/points", "no folder any more");
  };
  EXPECT_EQ(tune(function_of(product_text), inputs.views(), {}, settings).stop, Stop::Candidates);
}

TEST(Tune, ABudgetThatIsOverAtOnceGivesTheDefaultOptions) {
  Inputs inputs({matrix(16, 16), matrix(16, 16)});
  auto settings = quick(0);
  settings.budget = 1e-6;
  auto result = tune(function_of(product_text), inputs.views(), {}, settings);
  EXPECT_EQ(result.stop, Stop::Budget);
  EXPECT_EQ(result.candidates.size(), 1u);
  EXPECT_EQ(result.best.options, options::MappingOptions());
  EXPECT_GT(result.best.runs, 0);
}

TEST(Tune, SaysWhatItCannotDo) {
  Inputs inputs({matrix(8, 8), matrix(8, 8)});
  auto function = function_of(product_text);
  auto fails = [&](auto change) {
    auto settings = quick(4);
    change(settings);
    try {
      tune(function, inputs.views(), {}, settings);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(fails([](auto& s) { s.candidates = 0; }).find("a budget of seconds or"), std::string::npos);
  EXPECT_NE(fails([](auto& s) { s.candidates = -3; }).find("-3 candidates means nothing"), std::string::npos);
  for (double budget : {-1.0, std::nan("")})
    EXPECT_NE(fails([&](auto& s) { s.budget = budget; }).find("means nothing"), std::string::npos);
  EXPECT_NE(fails([](auto& s) { s.run_limit = 0; }).find("seconds for running a candidate"), std::string::npos);
  EXPECT_NE(fails([](auto& s) { s.threads = -1; }).find("0 or more"), std::string::npos);
  EXPECT_NE(fails([](auto& s) { s.worker = {"/bin/false"}; }).find("does not start"), std::string::npos);
  EXPECT_NE(fails([](auto& s) { s.worker = {"/nonexistent"}; }).find("does not start"), std::string::npos);
  EXPECT_ERROR(parse_search("annealing"), OptionsError,
               "there is no search 'annealing'; there are genetic, random and price");
  EXPECT_ERROR(parse_ranking("magic"), OptionsError, "there is no ranking 'magic'; there are none, model and learned");
  EXPECT_ERROR(tune(function, Inputs({matrix(8, 9), matrix(8, 8)}).views(), {}, quick(1)), ArgumentError,
               "dimension 0 of parameter 'B' of mm is 8, but K is 9 (dimension 1 of 'A')");
}

}  // namespace
}  // namespace tc::autotuner
