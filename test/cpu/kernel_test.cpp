#include "tc/cpu/kernel.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "tc/base/error.h"
#include "test/cpu/kernel_fixture.h"
#include "test/support/expect_error.h"
#include "test/support/guarded_buffer.h"

namespace tc::cpu {
namespace {

TEST_F(KernelTest, RunsTheIslItIsCompiledAgainst) {
  EXPECT_NE(std::string(isl_version()).find("0.25"), std::string::npos) << isl_version();
}

TEST_F(KernelTest, MatmulInProgramOrder) {
  const int m = 5, n = 7, k = 3;
  std::vector<float> a(m * k), b(k * n);
  for (int i = 0; i < m * k; ++i) a[i] = i + 1;
  for (int i = 0; i < k * n; ++i) b[i] = 2 * i - 5;
  for (const auto& target : runnable_targets()) {
    std::vector<float> c(m * n, 99.0f);
    EXPECT_EQ(matmul(m, n, k).run(target, {a.data(), b.data(), c.data()}), 0);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float want = 0;
        for (int l = 0; l < k; ++l) want += a[i * k + l] * b[l * n + j];
        EXPECT_EQ(c[i * n + j], want) << target << " at " << i << ", " << j;
      }
  }
}

TEST_F(KernelTest, VectorsAreFullPartialOrOneLane) {
  for (const auto& target : runnable_targets())
    for (int lanes : {4, 8, 16})
      for (int n : {1, 3, 16, 33, 37}) {
        GuardedBuffer<float> a(n), b(n), c(n);
        std::iota(a.begin(), a.end(), 1.0f);
        std::fill(b.begin(), b.end(), 0.5f);
        EXPECT_EQ(pointwise(n, lanes, read("A", {"i"}) + read("B", {"i"})).run(target, {a.data(), b.data(), c.data()}),
                  0);
        for (int i = 0; i < n; ++i)
          EXPECT_EQ(c[i], i + 1.5f) << target << " " << lanes << " lanes, " << i << " of " << n;
      }
}

TEST_F(KernelTest, FusesMultiplyAndAddAndUsesVectors) {
  auto value = read("A", {"i"}) * read("A", {"i"}) + read("B", {"i"});
  auto code = pointwise(37, 8, value).compile("avx2");
  auto text = disassemble(code);
  EXPECT_NE(text.find("vfmadd"), std::string::npos) << text;
  EXPECT_NE(text.find("ymm"), std::string::npos) << text;
  EXPECT_NE(text.find("vmaskmovps"), std::string::npos) << text;
  EXPECT_NE(text.find("kernel:"), std::string::npos) << text;
}

TEST_F(KernelTest, PlainCodeHasNoWideRegisters) {
  auto text = disassemble(pointwise(37, 4, read("A", {"i"}) * read("B", {"i"})).compile("plain"));
  EXPECT_EQ(text.find("ymm"), std::string::npos) << text;
  EXPECT_NE(text.find("mulps"), std::string::npos) << text;
}

TEST_F(KernelTest, GuardedReadsHappenOnlyWhereTheGuardHolds) {
  const int n = 1024;
  for (const auto& target : runnable_targets())
    for (int lanes : {1, 8}) {
      auto scop = ScopBuilder(context())
                      .input("A", {n})
                      .output("C", {n + 2})
                      .statement(str("S[i] : 0 <= i < ", n + 2), "C[i]", {str("A[i - 1] : 1 <= i <= ", n)})
                      .scop();
      KernelCase kernel(scop);
      kernel.vectorise("S", "i", lanes);
      Expr inside = iterator("i") >= ir::make_const(Int(64), 1) && iterator("i") <= ir::make_const(Int(64), n);
      kernel.value("S", ir::Call::make(Float(32), ir::Call::if_then_else,
                                       {inside, element(Float(32), "A", {iterator("i") - ir::make_const(Int(64), 1)}),
                                        Expr(-7.0f)},
                                       ir::Call::PureIntrinsic));
      GuardedBuffer<float> a(n), c(n + 2);
      std::iota(a.begin(), a.end(), 0.0f);
      EXPECT_EQ(kernel.run(target, {a.data(), c.data()}), 0);
      for (int i = 0; i < n + 2; ++i) EXPECT_EQ(c[i], i == 0 || i == n + 1 ? -7.0f : i - 1.0f) << i << " " << target;
    }
}

TEST_F(KernelTest, LookUpsBeyondTwoToThe31Elements) {
  const std::int64_t rows = 600'000'000, columns = 5;
  const std::size_t bytes = rows * columns;
  auto* table = static_cast<std::uint8_t*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(table, MAP_FAILED);
  std::vector<std::int32_t> index = {0, 599'999'999, 450'000'000, 3};
  for (std::size_t n = 0; n < index.size(); ++n)
    for (int c = 0; c < columns; ++c) table[index[n] * columns + c] = static_cast<std::uint8_t>(10 * n + c + 1);
  for (int lanes : {1, 4}) {
    auto scop = ScopBuilder(context())
                    .input("T", {rows, columns})
                    .input("I", {4})
                    .output("C", {4, columns})
                    .statement("S[n, c] : 0 <= n < 4 and 0 <= c < 5", "C[n, c]", {"I[n]"})
                    .read_any("T[r, c] : 0 <= r < 600000000 and 0 <= c < 5")
                    .scop();
    KernelCase kernel(scop);
    kernel.vectorise("S", "c", lanes).type("T", DType::UInt8).type("I", DType::Int32).type("C", DType::UInt8);
    Expr row = ir::Cast::make(Int(64), element(Int(32), "I", {iterator("n")}));
    kernel.value("S", element(Halide::UInt(8), "T", {row, iterator("c")}));
    std::vector<std::uint8_t> c(4 * columns);
    EXPECT_EQ(kernel.run("native", {table, index.data(), c.data()}), 0);
    for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(c[i], 10 * (i / columns) + i % columns + 1) << i;
  }
  munmap(table, bytes);
}

/// acc[4][16] of the tile (i/4, j/16) lives in a local buffer: cleared, accumulated into over k, copied out.
KernelCase tiled_matmul(std::shared_ptr<polyhedral::Context> context, int m, int n, int k, int lanes, bool parallel) {
  auto box = str("0 <= i < ", m, " and 0 <= j < ", n);
  auto acc = str("acc[i mod 4, j mod ", 2 * lanes, "]");
  auto scop = ScopBuilder(context)
                  .input("A", {m, k})
                  .input("B", {k, n})
                  .output("C", {m, n})
                  .temporary("acc", {4, 2 * lanes})
                  .identity("Z[i, j] : " + box, acc)
                  .accumulate(str("U[i, j, k] : ", box, " and 0 <= k < ", k), acc, {"A[i, k]", "B[k, j]"})
                  .statement("W[i, j] : " + box, "C[i, j]", {acc}, polyhedral::Statement::Body::Copy)
                  .scop();
  scop.tensor("acc").storage = polyhedral::Tensor::Storage::Local;
  scop.tensor("acc").padded = true;
  for (auto& s : scop.statements) s.vector_lanes = lanes;
  auto tile = [&](const std::string& f, int size) {
    return str("[{ Z[i, j] -> [", f, "]; U[i, j, k] -> [", f, "]; W[i, j] -> [", f, "] }", size ? "" : "", "]");
  };
  auto registers = [&](const std::string& s) {
    return str("{ mark: register, child: { schedule: \"[{ ", s, " -> [(i mod 4)] }, { ", s, " -> [(floor((j mod ",
               2 * lanes, ")/", lanes, "))] }]\", child: { mark: vector, child: { schedule: \"[{ ", s, " -> [(j mod ",
               lanes, ")] }]\" } } } }");
  };
  auto text = str(
      "{ domain: \"", str(scop.domain()), "\", child: { ", parallel ? "mark: parallel, child: { " : "", "schedule: \"",
      tile("(floor(i/4))", 4), "\", child: { schedule: \"", tile(str("(floor(j/", 2 * lanes, "))"), 0),
      "\", child: { mark: allocate_acc, child: { sequence: [ { filter: \"{ Z[i, j] }\", child: ", registers("Z[i, j]"),
      " }, { filter: \"{ U[i, j, k] }\", child: { schedule: \"[{ U[i, j, k] -> [(k)] }]\", child: ",
      registers("U[i, j, k]"), " } }, { filter: \"{ W[i, j] }\", child: ", registers("W[i, j]"), " } ] } } }",
      parallel ? " }" : "", " } }");
  scop.schedule = isl::schedule(scop.ctx(), text);
  KernelCase result(scop);
  result.value("U", element(Float(32), "A", {iterator("i"), iterator("k")}) *
                        element(Float(32), "B", {iterator("k"), iterator("j")}));
  return result;
}

TEST_F(KernelTest, RegisterTiles) {
  for (const auto& target : runnable_targets())
    for (bool parallel : {false, true})
      for (int n : {5, 64, 71}) {
        const int m = n == 64 ? 8 : 11, k = 9, lanes = target == "plain" ? 4 : 8;
        GuardedBuffer<float> a(m * k), b(k * n), c(m * n);
        for (int i = 0; i < m * k; ++i) a[i] = i % 7 - 3;
        for (int i = 0; i < k * n; ++i) b[i] = i % 5 + 1;
        EXPECT_EQ(tiled_matmul(context(), m, n, k, lanes, parallel).run(target, {a.data(), b.data(), c.data()}), 0);
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < n; ++j) {
            float want = 0;
            for (int l = 0; l < k; ++l) want += a[i * k + l] * b[l * n + j];
            ASSERT_EQ(c[i * n + j], want) << target << " at " << i << ", " << j;
          }
      }
}

TEST_F(KernelTest, OnlyTheMarkedLoopGoesToThePool) {
  EXPECT_NE(disassemble(tiled_matmul(context(), 11, 71, 9, 8, true).compile("avx2")).find("halide_do_par_for"),
            std::string::npos);
  EXPECT_EQ(disassemble(tiled_matmul(context(), 11, 71, 9, 8, false).compile("avx2")).find("halide_do_par_for"),
            std::string::npos);
}

/// s = reduction of A(k) by lanes: acc[k mod lanes] op= A(k), then s op= acc(l).
KernelCase lane_reduction(std::shared_ptr<polyhedral::Context> context, int n, int lanes, ReductionOp op) {
  auto scop = ScopBuilder(context)
                  .input("A", {n})
                  .output("s", {})
                  .temporary("acc", {lanes})
                  .identity("I[]", "s[]")
                  .identity(str("Z[l] : 0 <= l < ", lanes), "acc[l]")
                  .accumulate(str("U[k] : 0 <= k < ", n), str("acc[k mod ", lanes, "]"), {"A[k]"})
                  .accumulate(str("F[l] : 0 <= l < ", lanes), "s[]", {"acc[l]"})
                  .scop();
  auto& acc = scop.tensor("acc");
  acc.storage = polyhedral::Tensor::Storage::Local;
  acc.padded = acc.combined = true;
  for (auto& s : scop.statements) {
    s.op = op;
    if (s.id != "I") s.vector_lanes = lanes;
  }
  scop.statement("F").body = polyhedral::Statement::Body::Copy;
  auto vector = [](const std::string& s, const std::string& f) {
    return str("{ mark: vector, child: { schedule: \"[{ ", s, " -> [(", f, ")] }]\" } }");
  };
  scop.schedule =
      isl::schedule(scop.ctx(), str("{ domain: \"", str(scop.domain()),
                                    "\", child: { mark: allocate_acc, child: { sequence: [ { filter: \"{ I[] }\" }, ",
                                    "{ filter: \"{ Z[l] }\", child: ", vector("Z[l]", "l"),
                                    " }, { filter: \"{ U[k] }\", child: { schedule: \"[{ U[k] -> [(floor(k/", lanes,
                                    "))] }]\", child: ", vector("U[k]", str("k mod ", lanes)),
                                    " } }, { filter: \"{ F[l] }\", child: ", vector("F[l]", "l"), " } ] } } }"));
  KernelCase result(scop);
  result.value("U", element(Float(32), "A", {iterator("k")}));
  return result;
}

TEST_F(KernelTest, LanesOfAReductionAreCombined) {
  for (const auto& target : runnable_targets())
    for (int n : {1, 8, 29}) {
      GuardedBuffer<float> a(n);
      for (int i = 0; i < n; ++i) a[i] = (i * 5) % 13 - 6;
      float sum = std::accumulate(a.begin(), a.end(), 0.0f), s = 0;
      EXPECT_EQ(lane_reduction(context(), n, 8, ReductionOp::Sum).run(target, {a.data(), &s}), 0);
      EXPECT_EQ(s, sum) << target << " " << n;
      EXPECT_EQ(lane_reduction(context(), n, 8, ReductionOp::Max).run(target, {a.data(), &s}), 0);
      EXPECT_EQ(s, *std::max_element(a.begin(), a.end())) << target << " " << n;
      a[n / 2] = nan;
      EXPECT_EQ(lane_reduction(context(), n, 8, ReductionOp::Min).run(target, {a.data(), &s}), 0);
      EXPECT_TRUE(std::isnan(s)) << target << " " << n;
    }
}

TEST_F(KernelTest, AnEmptyDomainDoesNothing) {
  float a = 1, b = 1, c = 5;
  EXPECT_EQ(pointwise(0, 1, read("A", {"i"})).run("native", {&a, &b, &c}), 0);
  EXPECT_EQ(c, 5);
}

/// C(i) = t(i) with t, 1 GiB, in a local buffer of each iteration of a parallel loop.
KernelCase with_large_buffer(std::shared_ptr<polyhedral::Context> context) {
  auto scop = ScopBuilder(context)
                  .output("C", {4})
                  .temporary("t", {1 << 28})
                  .identity("P[i] : 0 <= i < 4", "t[67108864 * i]")
                  .statement("Q[i] : 0 <= i < 4", "C[i]", {"t[67108864 * i]"}, polyhedral::Statement::Body::Copy)
                  .scop();
  scop.tensor("t").storage = polyhedral::Tensor::Storage::Local;
  scop.schedule = isl::schedule(scop.ctx(), R"(
domain: "{ P[i] : 0 <= i < 4; Q[i] : 0 <= i < 4 }"
child:
  mark: parallel
  child:
    schedule: "[{ P[i] -> [(i)]; Q[i] -> [(i)] }]"
    child:
      mark: allocate_t
      child:
        sequence:
        - filter: "{ P[i] }"
        - filter: "{ Q[i] }"
)");
  return KernelCase(scop);
}

TEST_F(KernelTest, RunningOutOfMemoryIsAReturnCode) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer reserves more than the limit this test sets";
#endif
  auto kernel = load_kernel(with_large_buffer(context()).compile("native"));
  std::vector<float> c(4, 3.0f);
  void* pointers[] = {c.data()};
  EXPECT_EQ(kernel.function(pointers), 0);
  EXPECT_EQ(c, std::vector<float>(4, 0.0f));
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit limit{512u << 20, 512u << 20};
    setrlimit(RLIMIT_AS, &limit);
    _exit(kernel.function(pointers) != 0 ? 7 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST_F(KernelTest, SeveralThreadsCompileAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> failures(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&failures, t] {
      for (int round = 0; round < 3; ++round) {
        auto kernel = tiled_matmul(std::make_shared<polyhedral::Context>(), 8, 16, 4 + t, 8, true);
        std::vector<float> a(8 * (4 + t), 1.0f), b((4 + t) * 16, 2.0f), c(8 * 16);
        if (kernel.run(runnable_targets().back(), {a.data(), b.data(), c.data()}) != 0) failures[t] += " status";
        for (float x : c)
          if (x != 2.0f * (4 + t)) failures[t] += str(" ", x);
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures) EXPECT_EQ(failure, "");
}

/// Leaves free one page of the address space, and more than 2 GiB below it the rest.
void leave_one_page_above() {
  constexpr std::size_t page = 4096, block = std::size_t{3} << 30;
  const auto map = [](std::size_t size) {
    return static_cast<char*>(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  };
  const char* below = map(block);
  char* last = nullptr;
  for (std::size_t size = std::size_t{1} << 24; size >= page; size /= 16)
    for (char* place = map(size);; place = map(size)) {
      if (place < below) {
        munmap(place, size);
        break;
      }
      last = place;
    }
  munmap(last, page);
}

/// Code reaches its constants by offsets of 32 bits.
TEST_F(KernelTest, CodeLiesBesideItsConstantsWhereverThereIsRoom) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer has its own map of the address space";
#endif
  const auto code = pointwise(16, 8, read("A", {"i"}) * 3.5f + read("B", {"i"})).compile("avx2");
  const auto run = [&] {
    leave_one_page_above();
    const auto kernel = load_kernel(code);
    std::vector<float> a(16, 2.0f), b(16, 1.0f), c(16);
    std::array<void*, 3> tensors{a.data(), b.data(), c.data()};
    std::exit(kernel.function(tensors.data()) == 0 && c == std::vector<float>(16, 8.0f) ? 7 : 8);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(7), "");
}

TEST_F(KernelTest, ObjectCodeRoundTrip) {
  auto code = pointwise(9, 4, read("A", {"i"}) - read("B", {"i"})).compile("plain");
  auto stored = code.serialise();
  auto loaded = ObjectCode::deserialise(stored);
  EXPECT_EQ(loaded.function, code.function);
  EXPECT_EQ(loaded.target, code.target);
  EXPECT_EQ(loaded.buffers, (std::vector<std::string>{"A", "B", "C"}));
  EXPECT_EQ(loaded.bytes, code.bytes);
  std::vector<float> a(9, 3.0f), b(9, 1.0f), c(9);
  void* pointers[] = {a.data(), b.data(), c.data()};
  Kernel copy;
  {
    Kernel kernel = load_kernel(loaded);
    copy = kernel;
  }
  EXPECT_EQ(copy.function(pointers), 0);
  EXPECT_EQ(c, std::vector<float>(9, 2.0f));
}

TEST_F(KernelTest, DamagedObjectCodeIsRefused) {
  auto stored = pointwise(9, 4, read("A", {"i"})).compile("plain").serialise();
  for (std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{20}, stored.size() - 1})
    EXPECT_ERROR(ObjectCode::deserialise(stored.substr(0, size)), ArgumentError, "stored machine code") << size;
  EXPECT_ERROR(ObjectCode::deserialise(stored + "x"), ArgumentError,
               "stored machine code is damaged: its checksum differs");
  for (std::size_t at : {std::size_t{0}, std::size_t{9}, stored.size() / 2, stored.size() - 1}) {
    auto damaged = stored;
    damaged[at] ^= 4;
    EXPECT_ERROR(ObjectCode::deserialise(damaged), ArgumentError, "stored machine code") << at;
  }
}

}  // namespace
}  // namespace tc::cpu
