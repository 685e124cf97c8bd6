#include "tc/engine/run/workspace.h"

#include <gtest/gtest.h>

#include <thread>

namespace tc::engine {
namespace {

bool apart(const Lifetime& a, const Lifetime& b, const WorkspacePlan& plan) {
  auto begin_a = plan.offsets.at(a.name), begin_b = plan.offsets.at(b.name);
  return begin_a + a.bytes <= begin_b || begin_b + b.bytes <= begin_a;
}

TEST(PlanWorkspace, DeadRangesAreUsedAgain) {
  auto plan = plan_workspace({{"a", 1000, 0, 0}, {"b", 1000, 1, 1}, {"c", 1000, 2, 3}});
  EXPECT_EQ(plan.bytes, 1024u);
}

TEST(PlanWorkspace, WhatLivesTogetherIsApart) {
  std::vector<Lifetime> buffers{{"a", 100, 0, 2}, {"b", 64, 1, 1}, {"c", 1, 2, 5}, {"d", 500, 3, 4}, {"e", 0, 0, 9}};
  auto plan = plan_workspace(buffers);
  for (const auto& a : buffers) {
    EXPECT_EQ(plan.offsets.at(a.name) % 64, 0u);
    EXPECT_LE(plan.offsets.at(a.name) + a.bytes, plan.bytes);
    for (const auto& b : buffers)
      if (a.name < b.name && a.first <= b.last && b.first <= a.last) {
        EXPECT_TRUE(apart(a, b, plan)) << a.name << b.name;
      }
  }
}

TEST(PlanWorkspace, NothingNeedsNothing) { EXPECT_EQ(plan_workspace({}).bytes, 0u); }

TEST(WorkspacePool, KeepsBlocks) {
  WorkspacePool pool(100);
  auto* block = pool.acquire();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u);
  pool.release(block);
  EXPECT_EQ(pool.acquire(), block);
  auto* second = pool.acquire();
  EXPECT_NE(second, block);
  pool.release(block);
  pool.release(second);
  EXPECT_EQ(WorkspacePool(0).acquire(), nullptr);
}

TEST(WorkspacePool, ThreadsNeverShareABlock) {
  WorkspacePool pool(64);
  std::atomic<int> clashes{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        WorkspaceLease lease(pool);
        *lease.block() = static_cast<std::uint8_t>(t);
        std::this_thread::yield();
        if (*lease.block() != t) ++clashes;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
}

}  // namespace
}  // namespace tc::engine
