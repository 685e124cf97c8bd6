// What the text of a tiled matrix product becomes: the printer keeps tiles in registers, moves 16 bytes at once and
// leaves the main loop to fused multiply-adds.

#include <Halide.h>
#include <gtest/gtest.h>

#include "tc/cuda/cubin.h"
#include "tc/cuda/emit_kernel.h"
#include "test/cuda/compiled.h"

namespace tc::cuda::sgemm_test {
namespace {

using Halide::Expr;
using Halide::Float;
using Halide::Int;
namespace ir = Halide::Internal;
using ir::Stmt;

constexpr int size = 4096, tile = 128, depth = 8, own = 8;  ///< a thread computes own x own elements

Expr var(const std::string& name) { return ir::Variable::make(Int(32), name); }
Expr load(const std::string& buffer, const Expr& index) {
  int lanes = index.type().lanes();
  return ir::Load::make(Float(32, lanes), buffer, index, Halide::Buffer<>(), ir::Parameter(), ir::const_true(lanes),
                        ir::ModulusRemainder());
}
Stmt store(const std::string& buffer, const Expr& index, const Expr& value) {
  return ir::Store::make(buffer, value, index, ir::Parameter(), ir::const_true(index.type().lanes()),
                         ir::ModulusRemainder());
}
Stmt loop(const std::string& name, int extent, const Stmt& body, ir::ForType type = ir::ForType::Unrolled) {
  return ir::For::make(name, 0, extent, type, Halide::DeviceAPI::None, body);
}
Stmt allocate(const std::string& name, int count, Halide::MemoryType memory, const Stmt& body) {
  return ir::Allocate::make(name, Float(32), memory, {count}, ir::const_true(), body);
}
Expr four(const Expr& base, int stride = 1) { return ir::Ramp::make(base, stride, 4); }
Stmt barrier() { return ir::Evaluate::make(ir::Call::make(Int(32), "tc_barrier", {}, ir::Call::Extern)); }

/// Tiles of A, transposed, and of B into shared memory.
Stmt copies() {
  Expr t = var("thread_x"), k0 = var("k_outer") * depth;
  Expr a = (var("block_y") * tile + t / 2) * size + k0 + (t % 2) * 4;
  Expr b = (k0 + t / 32) * size + var("block_x") * tile + (t % 32) * 4;
  return ir::Block::make(store("A_tile", four((t % 2) * 4 * tile + t / 2, tile), load("A", four(a))),
                         store("B_tile", four((t / 32) * tile + (t % 32) * 4), load("B", four(b))));
}

Stmt products() {
  Expr row = (var("thread_x") / 16) * own, column = (var("thread_x") % 16) * own, k = var("k") * tile, q = var("q") * 4;
  Stmt fragments = loop("q", 2,
                        ir::Block::make(store("a", four(q), load("A_tile", four(k + row + q))),
                                        store("b", four(q), load("B_tile", four(k + column + q)))));
  Expr place = var("i") * own + var("j");
  Stmt update = store("acc", place, load("acc", place) + load("a", var("i")) * load("b", var("j")));
  return loop("k", depth, ir::Block::make(fragments, loop("i", own, loop("j", own, update))));
}

KernelText sgemm() {
  Stmt zero = loop("i", own * own, store("acc", var("i"), 0.0f));
  Stmt main =
      loop("k_outer", size / depth, ir::Block::make({copies(), barrier(), products(), barrier()}), ir::ForType::Serial);
  Expr row = var("block_y") * tile + (var("thread_x") / 16) * own + var("i"),
       column = var("block_x") * tile + (var("thread_x") % 16) * own;
  Stmt result = loop(
      "i", own,
      loop("q", 2,
           store("C", four(row * size + column + var("q") * 4), load("acc", four(var("i") * own + var("q") * 4)))));
  Stmt body = ir::Block::make({zero, main, result});
  for (const char* fragment : {"a", "b"}) body = allocate(fragment, own, Halide::MemoryType::Register, body);
  body = allocate("acc", own * own, Halide::MemoryType::Register, body);
  for (const char* shared : {"A_tile", "B_tile"})
    body = allocate(shared, tile * depth, Halide::MemoryType::GPUShared, body);
  return emit_kernel("sgemm", body, {"A", "B", "C"}, {{size / tile, size / tile, 1}, {256, 1, 1}, 0});
}

TEST(Sgemm, IsFusedMultiplyAddsWithoutSpills) {
  TC_NEEDS_NVRTC();
  auto kernel = sgemm();
  for (const char* architecture : {"sm_80", "sm_90"}) {
    auto stats = read_cubin(compile_cubin(program_text({kernel}), architecture).bytes).at(0);
    EXPECT_EQ(stats.spill_store_bytes + stats.spill_load_bytes + stats.stack_bytes, 0) << to_string(stats);
    EXPECT_GE(stats.main_loop_share("FFMA"), 0.7) << to_string(stats) << "\n" << kernel.text;
    EXPECT_EQ(stats.main_loop["FFMA"] % (own * own * depth), 0) << to_string(stats);
    for (const char* access : {"LDG", "LDS", "STG"}) {
      EXPECT_GT(stats.accesses[std::string(access) + ".128"], 0) << architecture << " " << access;
      EXPECT_EQ(stats.accesses[std::string(access) + ".128"], stats.count(access)) << access << " " << to_string(stats);
    }
    EXPECT_LE(stats.registers, 128) << to_string(stats);
  }
}

}  // namespace
}  // namespace tc::cuda::sgemm_test
