#include "tc/cuda/emit_kernel.h"

#include <Halide.h>
#include <gtest/gtest.h>

#include <limits>

#include "tc/base/error.h"
#include "tc/cuda/cubin.h"
#include "test/cuda/compiled.h"
#include "test/support/expect_error.h"

namespace tc::cuda {
namespace {

using Halide::Bool;
using Halide::Expr;
using Halide::Float;
using Halide::Int;
using Halide::Type;
using Halide::UInt;
namespace ir = Halide::Internal;
using ir::Stmt;

Expr variable(const std::string& name, Type type = Int(32)) { return ir::Variable::make(type, name); }
Expr load(const std::string& buffer, const Expr& index, Type type = Float(32), Expr predicate = Expr()) {
  int lanes = index.type().lanes();
  return ir::Load::make(type.with_lanes(lanes), buffer, index, Halide::Buffer<>(), ir::Parameter(),
                        predicate.defined() ? predicate : ir::const_true(lanes), ir::ModulusRemainder());
}
Stmt store(const std::string& buffer, const Expr& index, const Expr& value, Expr predicate = Expr()) {
  return ir::Store::make(buffer, value, index, ir::Parameter(),
                         predicate.defined() ? predicate : ir::const_true(index.type().lanes()),
                         ir::ModulusRemainder());
}
Stmt loop(const std::string& name, const Expr& extent, const Stmt& body, ir::ForType type = ir::ForType::Serial) {
  return ir::For::make(name, 0, extent, type, Halide::DeviceAPI::None, body);
}
Stmt call(const std::string& function, const std::vector<Expr>& args = {}) {
  return ir::Evaluate::make(ir::Call::make(Int(32), function, args, ir::Call::Extern));
}
Expr function(const std::string& name, const std::vector<Expr>& args) {
  return ir::Call::make(args[0].type(), name, args, ir::Call::PureExtern);
}
Expr when(const Expr& condition, const Expr& a, const Expr& b) {
  return ir::Call::make(a.type(), ir::Call::if_then_else, {condition, a, b}, ir::Call::PureIntrinsic);
}
Expr ramp(const Expr& base, int lanes = 4) { return ir::Ramp::make(base, 1, lanes); }

/// The lines of the body, once NVRTC has taken the kernel.
std::string body_of(const KernelText& kernel) {
  if (nvrtc_version()) {
    EXPECT_EQ(compile_cubin(program_text({kernel}), "sm_80").log, "") << kernel.text;
  }
  auto begin = kernel.text.find("{\n") + 2;
  return kernel.text.substr(begin, kernel.text.rfind("}\n") - begin);
}
std::string body_of(const Stmt& body, const std::vector<std::string>& buffers, KernelShape shape = {}) {
  return body_of(emit_kernel("f", body, buffers, shape));
}

TEST(EmitKernel, PhasesTakeTheirCoordinatesApart) {
  auto first = store("T", variable("block_y") * 3 + variable("block_x"),
                     load("A", variable("thread_y") * 8 + variable("thread_x")));
  auto second = store("B", variable("block_x"), load("T", variable("thread_x")));
  KernelShape shape{{6, 1, 1}, {32, 1, 1}, 2, true};
  auto kernel = emit_phases("f", {{&first, {{3, 2, 1}, {8, 4, 1}}, true}, {&second, {{5, 1, 1}, {32, 1, 1}}, false}},
                            {"A", "T", "B"}, shape);
  EXPECT_EQ(kernel.buffers, (std::vector<std::string>{"A", "T", "B", barrier_word}));
  EXPECT_NE(
      kernel.text.find(
          "__launch_bounds__(32, 2) f(const float* __restrict__ A, float* T, float* B, unsigned* grid_barrier_) {"),
      std::string::npos)
      << kernel.text;
  EXPECT_EQ(body_of(kernel), R"(  {
    const int block_x = blockIdx.x % 3, block_y = blockIdx.x / 3, thread_x = threadIdx.x % 8, thread_y = threadIdx.x / 8;
    T[block_y * 3 + block_x] = A[thread_y * 8 + thread_x];
  }
  tc_grid_barrier(grid_barrier_);
  if (blockIdx.x < 5) {
    const int block_x = blockIdx.x, thread_x = threadIdx.x;
    B[block_x] = T[thread_x];
  }
)");
}

/// What a compiler may take for a thread's own it keeps in a register, and does not see what other threads write.
TEST(EmitKernel, WhatThreadsWriteForOthersIsNotRestricted) {
  auto write = store("t", variable("block_x"), load("A", variable("thread_x")));
  auto read = store("B", variable("thread_x"), load("t", variable("block_x")));
  KernelShape shape{{2, 1, 1}, {32, 1, 1}};
  for (const char* wait : {"tc_barrier", "tc_warp_barrier"}) {
    auto kernel = emit_kernel("f", ir::Block::make({write, call(wait), read}), {"A", "t", "B"}, shape);
    EXPECT_NE(kernel.text.find("f(const float* __restrict__ A, float* t, float* B)"), std::string::npos) << kernel.text;
  }
  auto kernel = emit_kernel("f", ir::Block::make(write, read), {"A", "t", "B"}, shape);
  EXPECT_NE(kernel.text.find("float* __restrict__ t, float* __restrict__ B)"), std::string::npos) << kernel.text;
}

TEST(EmitKernel, PhasesThatDoNotMeetNeedNoGridBarrier) {
  auto first = store("B", variable("block_x"), load("A", variable("block_x"))),
       second = store("C", variable("block_x"), load("A", variable("block_x")));
  auto kernel =
      emit_phases("f", {{&first, {{4, 1, 1}}, false}, {&second, {{4, 1, 1}}, false}}, {"A", "B", "C"}, {{4, 1, 1}});
  EXPECT_EQ(kernel.buffers.size(), 3u);
  EXPECT_NE(kernel.text.find("  }\n  tc_barrier();\n  {\n"), std::string::npos) << kernel.text;
}

TEST(EmitKernel, HasASignatureWithConstAndLaunchBounds) {
  auto index = variable("block_x") * 32 + variable("thread_x");
  auto kernel =
      emit_kernel("scale", store("C", index, load("A", index) * 2.0f), {"A", "C"}, {{4, 1, 1}, {32, 1, 1}, 2});
  EXPECT_EQ(
      kernel.text,
      R"(extern "C" __global__ void __launch_bounds__(32, 2) scale(const float* __restrict__ A, float* __restrict__ C) {
  const int block_x = blockIdx.x, thread_x = threadIdx.x;
  C[block_x * 32 + thread_x] = A[block_x * 32 + thread_x] * 2.0f;
}
)");
  body_of(kernel);
}

TEST(EmitKernel, KeepsNamesUnlessTheyMeanSomethingElse) {
  auto body = ir::Block::make({store("int", 0, load("threadIdx", 0)), store("expf", 0, load("x.y", 0)),
                               store("tc_load", 0, 1.0f), store("a__b", 0, 1.0f), store("block_x", 0, 2.0f)});
  EXPECT_EQ(body_of(body, {"int", "threadIdx", "expf", "x.y", "tc_load", "a__b", "block_x"}),
            R"(  int_[0] = threadIdx_[0];
  expf_[0] = x_y[0];
  v_tc_load[0] = 1.0f;
  a_b[0] = 1.0f;
  block_x[0] = 2.0f;
)");
}

/// A kernel has C linkage: it may not have the name of a function of CUDA's.
TEST(EmitKernel, KernelsHaveNamesThatCudaDoesNotDeclare) {
  for (const char* name :
       {"norm", "hypot", "atomicAdd", "j0", "sincos", "exp10", "umul24", "max", "clock", "main", "expf"})
    EXPECT_NE(emit_kernel(name, store("A", 0, 1.0f), {"A"}, {}).name, name);
  EXPECT_EQ(emit_kernel("matmul", store("A", 0, 1.0f), {"A"}, {}).name, "matmul");
}

TEST(EmitKernel, GivesValuesNamesThatNothingInScopeHas) {
  auto value = ir::Let::make("A.value", load("A", 0),
                             ir::Let::make("A.value$1", variable("A.value", Float(32)) + 1.0f,
                                           variable("A.value$1", Float(32)) * variable("A.value", Float(32))));
  EXPECT_EQ(body_of(store("A", 1, value), {"A"}), R"(  const float A_1 = A[0];
  const float A_2 = A_1 + 1.0f;
  A[1] = A_2 * A_1;
)");
}

struct ExpressionCase {
  Expr value;
  std::string text;
};

TEST(EmitKernel, SpellsExpressions) {
  Expr i = variable("i"), n = load("N", i, Int(32)), m = load("M", i, Int(32)), x = load("X", i), y = load("Y", i);
  Expr h = load("H", i, UInt(16)), s = load("S", i, Int(16)), b = load("B", i, Int(8)), u = load("U", i, UInt(32)),
       w = load("W", i, Int(64));
  auto reinterpret = [](Type type, const Expr& e) {
    return ir::Call::make(type, ir::Call::reinterpret, {e}, ir::Call::PureIntrinsic);
  };
  const std::vector<ExpressionCase> cases = {
      {x - (y - x), "X[i] - (Y[i] - X[i])"},
      {(x + y) * x, "(X[i] + Y[i]) * X[i]"},
      {ir::Not::make(ir::EQ::make(x, y)), "X[i] != Y[i]"},
      {ir::Not::make(ir::EQ::make(h, ir::make_zero(UInt(16)))), "H[i] != 0"},
      {ir::LT::make(s, ir::make_const(Int(16), -3)), "S[i] < -3"},
      {ir::Not::make(ir::LT::make(x, y)), "!(X[i] < Y[i])"},
      {(x < y && y < x) || x < 1.0f, "(X[i] < Y[i] && Y[i] < X[i]) || X[i] < 1.0f"},
      {ir::Div::make(i, 8), "i / 8"},
      {ir::Mod::make(i, 6), "i % 6"},
      {ir::Div::make(n, 8), "N[i] >> 3"},
      {ir::Mod::make(n, 8), "N[i] & 7"},
      {ir::Div::make(n, 6), "tc_div<int>(N[i], 6)"},
      {ir::Mod::make(n, m), "tc_mod<int>(N[i], M[i])"},
      {ir::Div::make(u, ir::make_const(UInt(32), 6)), "U[i] / 6u"},
      {ir::Div::make(w, ir::make_const(Int(64), 6)), "tc_div<long long>(W[i], 6ll)"},
      {ir::Min::make(n, m), "min(N[i], M[i])"},
      {ir::Add::make(s, s), "(short)(S[i] + S[i])"},
      {ir::Mul::make(h, h), "(unsigned short)((unsigned)H[i] * (unsigned)H[i])"},
      {ir::Max::make(b, b), "(signed char)max(B[i], B[i])"},
      {ir::Cast::make(Int(8), n), "(signed char)N[i]"},
      {reinterpret(Float(32), n), "tc_bits<float>(N[i])"},
      {reinterpret(Int(32), u + u), "(int)(U[i] + U[i])"},
      {Expr(std::numeric_limits<std::int32_t>::min()), "(-2147483647 - 1)"},
      {ir::FloatImm::make(Float(32), std::numeric_limits<float>::infinity()), "tc_bits<float>(0x7f800000u)"},
      {ir::FloatImm::make(Float(64), 0.1), "0.1"},
      {ir::FloatImm::make(Float(32), 1e-45), "1e-45f"},
      {ir::UIntImm::make(UInt(64), 18446744073709551615ull), "18446744073709551615ull"},
      {function("tc_exp_f32", {x}), "expf(X[i])"},
      {function("tc_pow_f64", {ir::Cast::make(Float(64), x), ir::FloatImm::make(Float(64), 2)}),
       "pow((double)X[i], 2.0)"},
      {function("sqrt_f32", {x}), "sqrtf(X[i])"},
      {function("tc_gelu_f32", {x}), "tc_gelu(X[i])"},
      {function("tc_round_f32", {x}), "tc_round(X[i])"},
      {function("tc_max_f32", {x, y}), "tc_nan_max(X[i], Y[i])"},
      {function("tc_fmax_f32", {x, y}), "fmaxf(X[i], Y[i])"},
      {function("tc_shuffle_xor", {x, 16}), "tc_shuffle_xor(X[i], 16)"},
      {when(i < 3, x, y), "i < 3 ? X[i] : Y[i]"},
      {x * when(i < 3, x, y), "X[i] * (i < 3 ? X[i] : Y[i])"},
  };
  for (const auto& [value, text] : cases) {
    std::vector<std::string> buffers;
    struct Collector : ir::IRVisitor {
      using ir::IRVisitor::visit;
      std::set<std::string> names;
      void visit(const ir::Load* op) override { names.insert(op->name), ir::IRVisitor::visit(op); }
    } collector;
    value.accept(&collector);
    buffers.assign(collector.names.begin(), collector.names.end());
    buffers.push_back("out");
    auto type =
        value.type().is_bool() ? Expr(ir::Select::make(value, ir::make_one(UInt(8)), ir::make_zero(UInt(8)))) : value;
    EXPECT_EQ(body_of(loop("i", 9, store("out", variable("i"), type)), buffers),
              "  for (int i = 0; i < 9; ++i) {\n    out[i] = " + text + ";\n  }\n");
  }
}

TEST(EmitKernel, ReadsComparisonsThatHalideWouldNegate) {
  Expr l = variable("l", Float(32)), r = variable("r", Float(32));
  auto value = ir::Let::make("l", load("A", 0),
                             ir::Let::make("r", load("A", 1), ir::Or::make(ir::LT::make(l, r), ir::EQ::make(l, r))));
  EXPECT_EQ(body_of(store("B", 0, ir::Select::make(value, ir::make_one(UInt(8)), ir::make_zero(UInt(8)))), {"A", "B"}),
            "  B[0] = A[0] <= A[1];\n");
}

TEST(EmitKernel, RunsOnlyTheChosenArmWithItsLets) {
  auto arm = ir::Let::make("t", load("A", variable("i")), variable("t", Float(32)) * variable("t", Float(32)));
  EXPECT_EQ(body_of(loop("i", 9, store("B", variable("i"), when(variable("i") < 3, arm, 0.0f) + 1.0f)), {"A", "B"}),
            R"(  for (int i = 0; i < 9; ++i) {
    float chosen;
    if (i < 3) {
      const float t = A[i];
      chosen = t * t;
    } else {
      chosen = 0.0f;
    }
    B[i] = chosen + 1.0f;
  }
)");
}

TEST(EmitKernel, SharesMemoryBetweenTheThreadsOfABlock) {
  Expr t = variable("thread_x");
  Stmt body =
      ir::Block::make({store("tile", t, load("A", t)), call("tc_barrier"), store("C", t, load("tile", 31 - t))});
  body = ir::Allocate::make("tile", Float(32), Halide::MemoryType::GPUShared, {33}, ir::const_true(), body);
  body = ir::Allocate::make("other", Int(16), Halide::MemoryType::GPUShared, {3}, ir::const_true(),
                            ir::Block::make(store("other", 0, ir::make_const(Int(16), 1)), body));
  body = ir::Allocate::make("acc", Float(32), Halide::MemoryType::Register, {4}, ir::const_true(),
                            ir::Block::make(store("acc", 0, 0.0f), body));
  auto kernel = emit_kernel("f", body, {"A", "C"}, {{1, 1, 1}, {32, 1, 1}});
  EXPECT_EQ(kernel.shared_bytes, 128 + 256);
  EXPECT_EQ(body_of(kernel), R"(  const int thread_x = threadIdx.x;
  float acc[4];
  acc[0] = 0.0f;
  short* const other = tc_shared_memory<short>(0, 3);
  other[0] = (short)1;
  float* const tile = tc_shared_memory<float>(128, 33);
  tile[thread_x] = A[thread_x];
  tc_barrier();
  C[thread_x] = tile[31 - thread_x];
)");
}

TEST(EmitKernel, MovesAlignedVectorsAtOnce) {
  Expr t = variable("thread_x");
  auto sum = load("A", ramp(t * 4)) + load("B", ramp(t * 4)) * ir::Broadcast::make(load("s", 0), 4);
  EXPECT_EQ(body_of(store("C", ramp(t * 4), sum), {"A", "B", "s", "C"}, {{1, 1, 1}, {8, 1, 1}}),
            R"(  const int thread_x = threadIdx.x;
  const auto A_vector = tc_load<4>(A + thread_x * 4);
  const auto B_vector = tc_load<4>(B + thread_x * 4);
  tc_vector<float, 4> C_vector;
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    C_vector[lane] = A_vector[lane] + B_vector[lane] * s[0];
  }
  tc_store(C + thread_x * 4, C_vector);
)");
  EXPECT_EQ(body_of(store("C", ramp(t * 4), load("A", ramp(t * 4))), {"A", "C"}, {{1, 1, 1}, {8, 1, 1}}),
            R"(  const int thread_x = threadIdx.x;
  const auto A_vector = tc_load<4>(A + thread_x * 4);
  tc_store(C + thread_x * 4, A_vector);
)");
}

TEST(EmitKernel, SaysWhichBuffersMustBeAligned) {
  Expr t = variable("thread_x");
  auto kernel = emit_kernel("f", store("C", ramp(t * 4), load("A", ramp(t * 4)) + load("B", ramp(t * 3))),
                            {"A", "B", "C"}, {{1, 1, 1}, {8, 1, 1}});
  EXPECT_EQ(kernel.aligned, (std::vector<int>{0, 2})) << kernel.text;
}

TEST(EmitKernel, MovesOtherVectorsLaneByLane) {
  Expr t = variable("thread_x"), runs = ir::LT::make(ramp(0), ir::Broadcast::make(variable("thread_x"), 4));
  EXPECT_EQ(body_of(store("C", ramp(t * 5), load("A", ramp(t * 5, 4), Float(32), runs), runs), {"A", "C"},
                    {{1, 1, 1}, {8, 1, 1}}),
            R"(  const int thread_x = threadIdx.x;
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    if (lane < thread_x) {
      C[thread_x * 5 + lane] = lane < thread_x ? A[thread_x * 5 + lane] : 0.0f;
    }
  }
)");
}

TEST(EmitKernel, ReadsAllLanesBeforeItWritesOne) {
  EXPECT_EQ(body_of(store("C", ramp(1), load("C", ramp(0)) + load("C", ramp(1))), {"C"}),
            R"(  const auto C_vector = tc_load<4>(C);
  tc_vector<float, 4> C_vector_1;
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    C_vector_1[lane] = C_vector[lane] + C[1 + lane];
  }
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    C[1 + lane] = C_vector_1[lane];
  }
)");
  EXPECT_EQ(body_of(store("C", ramp(1), load("C", ramp(1)) + 1.0f), {"C"}), R"(  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    C[1 + lane] = C[1 + lane] + 1.0f;
  }
)");
}

TEST(EmitKernel, CombinesLanes) {
  Expr v = variable("v", Float(32, 4)), half = variable("half", Float(32, 2));
  auto pairs = ir::Shuffle::make_slice(v, 0, 1, 2) + ir::Shuffle::make_slice(v, 2, 1, 2);
  auto sum = ir::Let::make(
      "v", load("A", ramp(0)),
      ir::Let::make("half", pairs,
                    ir::Shuffle::make_extract_element(half, 0) + ir::Shuffle::make_extract_element(half, 1)));
  EXPECT_EQ(body_of(store("C", 0, sum), {"A", "C"}), R"(  const auto A_vector = tc_load<4>(A);
  tc_vector<float, 2> half_vector;
  #pragma unroll
  for (int lane = 0; lane < 2; ++lane) {
    half_vector[lane] = A_vector[lane] + A_vector[2 + lane];
  }
  C[0] = half_vector[0] + half_vector[1];
)");
}

TEST(EmitKernel, SlicesOfStridedVectorsKeepTheirStride) {
  auto strided = load("A", ir::Ramp::make(variable("thread_x"), 5, 8));
  auto odd = ir::Shuffle::make_slice(ir::Shuffle::make_slice(strided, 2, 1, 6), 1, 2, 2);
  EXPECT_EQ(body_of(store("C", ir::Ramp::make(0, 3, 2), odd), {"A", "C"}, {{1, 1, 1}, {8, 1, 1}}),
            R"(  const int thread_x = threadIdx.x;
  #pragma unroll
  for (int lane = 0; lane < 2; ++lane) {
    C[lane * 3] = A[thread_x + (2 + 1 + 2 * lane) * 5];
  }
)");
}

TEST(EmitKernel, UnrollsByPragma) {
  auto body = loop("k", 4, store("acc", variable("k"), load("A", variable("k"))), ir::ForType::Unrolled);
  EXPECT_EQ(body_of(body, {"A", "acc"}),
            "  #pragma unroll\n  for (int k = 0; k < 4; ++k) {\n    acc[k] = A[k];\n  }\n");
}

TEST(EmitKernel, PassesPointersToThePrelude) {
  Expr t = variable("thread_x");
  Stmt body = ir::Block::make({call("tc_copy_async_16", {load("tile", t * 4), load("A", t * 4)}),
                               call("tc_copy_commit"), call("tc_copy_wait", {0}), call("tc_barrier"),
                               call("tc_atomic_add", {load("C", 0), load("tile", t)})});
  body = ir::Allocate::make("tile", Float(32), Halide::MemoryType::GPUShared, {128}, ir::const_true(), body);
  auto kernel = emit_kernel("f", body, {"A", "C"}, {{1, 1, 1}, {32, 1, 1}});
  EXPECT_NE(kernel.text.find("f(const float* __restrict__ A, float* C)"), std::string::npos) << kernel.text;
  EXPECT_EQ(body_of(kernel), R"(  const int thread_x = threadIdx.x;
  float* const tile = tc_shared_memory<float>(0, 128);
  tc_copy_async_16(tile + thread_x * 4, A + thread_x * 4);
  tc_copy_commit();
  tc_copy_wait<0>();
  tc_barrier();
  tc_atomic_add(C, tile[thread_x]);
)");
}

TEST(EmitKernel, RefusesWhatItHasNoWordFor) {
  EXPECT_ERROR(emit_kernel("f", store("C", 0, function("tc_nothing_f32", {load("A", 0)})), {"A", "C"}), InternalError,
               "the function tc_nothing_f32 is unknown to the CUDA back end");
  EXPECT_ERROR(emit_kernel("f", store("C", 0, variable("x", Float(32))), {"C"}), InternalError,
               "'x' stands in a kernel that does not declare it");
  EXPECT_ERROR(emit_kernel("f", store("C", 0, 1.0f), {"A", "C"}), InternalError,
               "kernel 'f' takes 'A' and does not use it");
}

TEST(EmitKernel, VectorsBecomeWideAccessesInMachineCode) {
  TC_NEEDS_NVRTC();
  Expr t = variable("block_x") * 1024 + variable("thread_x") * 4;
  auto kernel = emit_kernel("f", store("C", ramp(t), load("A", ramp(t)) * ir::make_const(Float(32, 4), 2.0)),
                            {"A", "C"}, {{8, 1, 1}, {256, 1, 1}});
  auto stats = read_cubin(compile_cubin(program_text({kernel}), "sm_90").bytes);
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_EQ(stats[0].accesses, (KernelStats::Counts{{"LDG.128", 1}, {"STG.128", 1}})) << to_string(stats[0]);
}

}  // namespace
}  // namespace tc::cuda
