#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <limits>
#include <thread>

#include "tc/base/check_tensor.h"
#include "tc/base/str.h"
#include "tc/engine/supervise/left_behind.h"
#include "tc/engine/supervise/supervise.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

/// What a compile may take, and that it takes no more.
namespace tc::engine::limits_test {
namespace {

/// Of the processor's time: a machine that does other things beside takes longer.
double seconds_of_processor() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Limits within_seconds(double seconds) {
  Limits limits;
  limits.cancellation.set_time_limit(seconds);
  return limits;
}

/// Waits until no thread is left behind, for a minute at most.
bool nothing_left_behind() {
  for (int i = 0; i < 6000 && left_behind() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return left_behind() == 0;
}

TEST(Supervise, ReturnsAndThrowsWhatTheWorkDoes) {
  auto result = std::make_shared<int>(0);
  run_supervised({}, "a test", [result](Supervision&) { *result = 7; });
  EXPECT_EQ(*result, 7);
  EXPECT_ERROR(run_supervised({}, "a test", [](Supervision&) { throw OptionsError("no"); }), OptionsError, "no");
}

TEST(Supervise, WorkThatLooksEndsByItself) {
  EXPECT_ERROR(run_supervised(within_seconds(0.05), "a test",
                              [](Supervision&) {
                                for (;;) check_cancelled("a loop");
                              }),
               ResourceError, "the time limit was reached in a loop");
  EXPECT_EQ(left_behind(), 0);
}

TEST(Supervise, WorkThatDoesNotLookIsLeftBehind) {
  auto go_on = std::make_shared<std::atomic<bool>>(false);
  auto freed = std::make_shared<std::promise<void>>();
  std::shared_ptr<void> owner(nullptr, [freed](void*) { freed->set_value(); });
  EXPECT_ERROR(run_supervised(within_seconds(0.05), "a test",
                              [go_on, owner](Supervision&) {
                                while (!*go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                              }),
               ResourceError, "the time limit was reached in a test");
  owner.reset();
  EXPECT_EQ(left_behind(), 1);
  *go_on = true;
  freed->get_future().wait();
  EXPECT_TRUE(nothing_left_behind());
}

TEST(Supervise, ARequestFromAnotherThreadEndsIt) {
  Limits limits;
  std::thread other([cancellation = limits.cancellation] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cancellation.cancel();
  });
  EXPECT_ERROR(run_supervised(limits, "a test",
                              [](Supervision& supervision) {
                                for (;;) supervision.cancellation().check("a loop");
                              }),
               CancelledError, "cancelled in a loop");
  other.join();
}

TEST(Supervise, MemoryIsTold) {
  Limits limits;
  limits.memory = 16 << 20;
  auto text = message<ResourceError>([&] {
    run_supervised(limits, "a test", [](Supervision&) {
      std::vector<std::vector<char>> hoard;
      for (;;) {
        check_cancelled("a loop");
        hoard.emplace_back(1 << 20, 1);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  });
  EXPECT_EQ(text, "the memory limit of 16777216 bytes was reached in a test");
}

TEST(Supervise, OnlySoManyAreLeftBehind) {
  auto go_on = std::make_shared<std::atomic<bool>>(false);
  auto stubborn = [go_on](Supervision&) {
    while (!*go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < max_left_behind(); ++i)
    callers.emplace_back([&] {
      EXPECT_ERROR(run_supervised(within_seconds(0.01), "a test", stubborn), ResourceError,
                   "the time limit was reached in a test");
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(left_behind(), max_left_behind());
  auto text = message<ResourceError>([&] { run_supervised(within_seconds(0.05), "a test", [](Supervision&) {}); });
  EXPECT_NE(text.find("left behind"), std::string::npos) << text;
  *go_on = true;
  EXPECT_TRUE(nothing_left_behind());
  run_supervised({}, "a test", [](Supervision&) {});
}

/// What a process says at its end that leaves work behind: it must neither crash nor wait for it.
TEST(Supervise, AProcessEndsWithoutWhatItLeftBehind) {
  auto end = [] {
    try {
      run_supervised(within_seconds(0.01), "a test", [](Supervision&) {
        std::atomic<long> turns{0};
        for (;;) ++turns;
      });
    } catch (const ResourceError&) {
      std::exit(left_behind() == 1 ? 3 : 4);
    }
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(3), "");
}

/// Whatever the thread is at that compiles, the process ends as it says, without waiting for it.
TEST(Supervise, AProcessEndsWhileItCompiles) {
  auto end = [](int milliseconds) {
    std::thread([] {
      try {
        const auto function = define(mm).functions[0];
        for (std::int64_t n = 64;; ++n)
          compile(function, {contiguous(DType::Float32, {n, 30}), contiguous(DType::Float32, {30, n})});
      } catch (const CancelledError&) {
        for (;;) ::pause();
      }
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    std::exit(5);
  };
  for (int milliseconds : {1, 20, 70, 150, 400}) EXPECT_EXIT(end(milliseconds), testing::ExitedWithCode(5), "");
}

std::shared_ptr<const Executable> any_executable() {
  CompileOptions options;
  options.interpret = true;
  return compile(define(mm).functions[0], {contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})}, {},
                 options);
}

TEST(ExecutableCache, AWaiterHasADeadlineOfItsOwn) {
  ExecutableCache cache;
  std::promise<void> begun, go_on;
  std::thread slow([&] {
    cache.get("key", {}, [&] {
      begun.set_value();
      go_on.get_future().wait();
      return any_executable();
    });
  });
  begun.get_future().wait();
  Cancellation limited;
  limited.set_time_limit(0.05);
  EXPECT_ERROR(cache.get("key", limited, [] { return any_executable(); }), ResourceError,
               "the time limit was reached in waiting for another compile of the same");
  go_on.set_value();
  slow.join();
  EXPECT_EQ(cache.size(), 1u);
}

TEST(ExecutableCache, ALimitOfAnotherCallerIsNotInherited) {
  ExecutableCache cache;
  std::promise<void> begun, go_on;
  std::thread limited([&] {
    EXPECT_ERROR(cache.get("key", {},
                           [&]() -> ExecutableCache::Entry {
                             begun.set_value();
                             go_on.get_future().wait();
                             throw ResourceError("a time limit");
                           }),
                 ResourceError, "a time limit");
  });
  begun.get_future().wait();
  std::thread helper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go_on.set_value();
  });
  EXPECT_NE(cache.get("key", {}, [] { return any_executable(); }), nullptr);
  limited.join();
  helper.join();
}

TEST(ExecutableCache, AForkedChildBeginsAnewWhatItsParentMakes) {
  ExecutableCache cache;
  std::promise<void> begun, go_on;
  std::thread slow([&] {
    cache.get("key", {}, [&] {
      begun.set_value();
      go_on.get_future().wait();
      return any_executable();
    });
  });
  begun.get_future().wait();
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    bool anew = false;
    cache.get("key", {}, [&]() -> ExecutableCache::Entry {
      anew = true;
      return nullptr;
    });
    ::_exit(anew ? 5 : 6);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 5);
  go_on.set_value();
  slow.join();
}

/// Children forked at any moment of a compile in the parent compile the same, and something else, and run it.
TEST(ExecutableCache, ForkedChildrenCompileWhatTheirParentIsCompiling) {
  ExecutableCache cache;
  auto module = define(mm);
  for (int size = 20; size < 26; ++size) {
    auto a = count_up({size, 7}), b = count_up({7, size});
    std::thread compiling([&] { compile_cached(cache, module.functions[0], {a, b}); });
    for (int i = 0; i < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1 + (size - 20) * 7 + i * 11));
      pid_t child = ::fork();
      if (child == 0) {
        ::alarm(120);
        bool right = true;
        for (int n : {size, size + 100}) {
          auto c = count_up({n, 7}), d = count_up({7, n});
          Floats out({n, n});
          compile_cached(cache, module.functions[0], {c, d})
              ->run(std::vector<TensorView>{c, d}, std::vector<TensorView>{out});
          right = right && out.values == product(c, d);
        }
        ::_exit(right ? 0 : 1);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    compiling.join();
  }
}

TEST(Limits, OptionsThatAreUsedAgainHaveNoOldDeadline) {
  auto module = define(mm);
  std::vector<TensorSpec> specs{contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})};
  CompileOptions options;
  options.interpret = true;
  options.time_limit = 1e-9;
  EXPECT_ERROR(compile(module.functions[0], specs, {}, options), ResourceError,
               "the time limit was reached in the compiler");
  options.time_limit = 0;
  EXPECT_NE(compile(module.functions[0], specs, {}, options), nullptr);
  options.time_limit = std::numeric_limits<double>::infinity();
  EXPECT_NE(compile(module.functions[0], specs, {}, options), nullptr);
  options.time_limit = -1;
  EXPECT_ERROR(compile(module.functions[0], specs, {}, options), OptionsError,
               "a time limit is a number of seconds that is not negative; 0: none");
}

/// def f: a chain of \p count statements, each over a temporary of its own.
std::string chain(int count) {
  std::string text = "def f(float(N) X) -> (O) {\n";
  for (int i = 0; i < count; ++i)
    text += str("T", i, "(i) = ", i == 0 ? std::string("X") : str("T", i - 1), "(i) * ", i % 5, " + 1\n");
  return text + str("O(i) = T", count - 1, "(i)\n}");
}

/// def f: a chain of \p count quotients in one subscript.
std::string quotients(int count) {
  std::string subscript = "i";
  for (int i = 0; i < count; ++i) subscript = str("((", subscript, ") * 3 + ", i, ") / 2");
  return str("def f(float(N) X) -> (O) { O(i) = X(min(", subscript, ", N - 1)) + X(max(0, min(i, ", subscript,
             " - i))) where i in 0:N }");
}

/// Programs that are long in one stage or another.
TEST(Limits, ATimeLimitIsObeyedInEveryStage) {
  for (const auto& text : {chain(400), quotients(24)}) {
    auto function = define(text).functions[0];
    for (double limit : {0.05, 0.5}) {
      CompileOptions options;
      options.time_limit = limit;
      const double start = seconds_of_processor();
      try {
        compile(function, {contiguous(DType::Float32, {64})}, {}, options);
      } catch (const ResourceError&) {
      }
      EXPECT_LT(seconds_of_processor() - start, limit + 0.5) << text.substr(0, 200);
      EXPECT_TRUE(nothing_left_behind());
    }
  }
}

TEST(Limits, TemporariesThatNoAddressReachesAreRefused) {
  auto function = define(
                      "def f(float(M) A, float(N) B, float(K) C) -> (O) {\n"
                      "  T(m,n,k) = A(m) * B(n) + C(k)\n  O(k) +=! T(m,n,k)\n}")
                      .functions[0];
  constexpr auto unit = std::int64_t(1) << 20;
  std::vector<TensorSpec> specs{contiguous(DType::Float32, {2 * unit}), contiguous(DType::Float32, {2 * unit}),
                                contiguous(DType::Float32, {unit})};
  auto text = message<ArgumentError>([&] { compile(function, specs); });
  EXPECT_EQ(text, "tensor 'T' of shape (2097152, 2097152, 1048576) has more than 2^47 elements");
}

TEST(Limits, TheWorkspaceIsCheckedAsAWhole) {
  constexpr auto half = static_cast<std::size_t>(most_elements / 2);
  EXPECT_NO_THROW(plan_workspace({{"a", half, 0, 0}, {"b", half, 0, 0}}));
  EXPECT_NO_THROW(plan_workspace({{"a", 2 * half, 0, 0}, {"b", 2 * half, 1, 1}}));
  EXPECT_ERROR(plan_workspace({{"a", half, 0, 0}, {"b", half, 0, 0}, {"c", 1, 0, 0}}), ResourceError,
               "the temporaries need more than 2^47 bytes of memory: 'c' alone 1");
  EXPECT_ERROR(plan_workspace({{"a", std::numeric_limits<std::size_t>::max(), 0, 0}}), ResourceError,
               "the temporaries need more than 2^47 bytes of memory: 'a' alone 18446744073709551615");
}

TEST(Limits, TensorsThatAreNoneAreRefused) {
  ExecutionEngine engine;
  engine.define(mm);
  TensorSpec a = contiguous(DType::Float32, {2, 3}), b = contiguous(DType::Float32, {3, 2});
  auto refused = [&](TensorSpec first) {
    EXPECT_ERROR(engine.infer_output_tensor_info("mm", ExecutionEngine::Specs{first, b}), ArgumentError,
                 "tensor 'A' has ")
        << first;
    EXPECT_ERROR(engine.compile("mm", ExecutionEngine::Specs{first, b}), ArgumentError, "tensor 'A' has ") << first;
  };
  refused({DType::Float32, {2, 3}, {3}});
  refused({DType::Float32, {2, 3}, {}});
  refused({DType::Float32, {2, -3}, {3, 1}});
  EXPECT_ERROR(engine.compile("mm", ExecutionEngine::Specs{{static_cast<DType>(99), {2, 3}, {3, 1}}, b}), ArgumentError,
               "tensor 'A' has the element type 99, which is none");
  EXPECT_ERROR(engine.compile("mm", ExecutionEngine::Specs{a, b}, {{DType::Float32, {2, 2}, {2}}}), ArgumentError,
               "output 'C' of 'mm' has 2 sizes and 1 strides: give one stride for each dimension");

  auto handle = engine.compile("mm", ExecutionEngine::Specs{a, b});
  Floats x({2, 3}), y({3, 2}), z({2, 2});
  TensorView null = x, bare = x;
  null.data = nullptr;
  bare.strides.clear();
  for (const auto& wrong : {null, bare})
    EXPECT_ERROR(engine.run(handle, {wrong, y}, {z}), ArgumentError, "input 'A' of 'mm' has ");
  TensorView out = z;
  out.data = nullptr;
  EXPECT_ERROR(engine.run(handle, {x, y}, {out}), ArgumentError,
               "output 'C' of 'mm' has elements but no memory: its data pointer is null");
  out = z;
  out.strides = {0, 1};
  EXPECT_ERROR(engine.run(handle, {x, y}, {out}), ArgumentError,
               "output 'C' of 'mm' was compiled for float32(2, 2), float32(2, 2) strides (0, 1) was given");
  std::vector<const DLTensor*> nothing{nullptr, nullptr};
  EXPECT_ERROR(engine.infer_output_tensor_info("mm", nothing), ArgumentError,
               "a null pointer was given for a DLPack tensor");
  EXPECT_ERROR(engine.compile("mm", nothing, {}), ArgumentError, "a null pointer was given for a DLPack tensor");
  EXPECT_ERROR(engine.run(handle, nothing, {nullptr}), ArgumentError, "a null pointer was given for a DLPack tensor");
}

}  // namespace
}  // namespace tc::engine::limits_test
