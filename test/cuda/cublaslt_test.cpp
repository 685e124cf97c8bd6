// Calls of cuBLASLt, on a stand-in for the library that computes in memory of the host (fake_cublaslt.cpp) and on the driver
// that only writes its calls down.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <thread>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/device.h"
#include "tc/engine/compile/library_call.h"
#include "test/cuda/compiled.h"
#include "test/cuda/fake_driver.h"
#include "test/library/library_fixture.h"
#include "test/support/expect_error.h"

namespace tc::library {
namespace {

using cuda::FakeDriver;
using enum DType;

/// A counter, a text or a setting of the stand-in.
template <typename Function>
Function* of_fake(const char* name) {
  static void* const handle = dlopen(TC_FAKE_CUBLASLT, RTLD_NOW);
  return reinterpret_cast<Function*>(dlsym(handle, name));
}
int count(const char* name) { return of_fake<int()>(name)(); }
std::string last_product() { return of_fake<const char*()>("fake_lt_last")(); }

engine::CompileOptions options_of(const std::string& libraries) {
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  options.libraries = libraries;
  return options;
}

class CublasLtTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TC_CUDA_DRIVER", TC_FAKE_DRIVER, 1);
    setenv("TC_CUBLASLT", TC_FAKE_CUBLASLT, 1);
    cuda::driver();
    FakeDriver::capture(false);
    FakeDriver::forget();
    of_fake<void(std::uint64_t)>("fake_lt_need")(512);
    ASSERT_EQ(find_library("cublaslt").find().version, "13.1.0") << find_library("cublaslt").find().reason;
  }
};

TensorSpec strided(DType type, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
  auto spec = contiguous(type, std::move(shape));
  spec.strides = std::move(strides);
  return spec;
}

/// A matrix of \p type by rows or by columns, with \p gap elements between these.
TensorSpec matrix(DType type, std::int64_t rows, std::int64_t columns, bool by_rows, std::int64_t gap = 0) {
  return strided(type, {rows, columns},
                 by_rows ? std::vector<std::int64_t>{columns + gap, 1} : std::vector<std::int64_t>{1, rows + gap});
}

/// The executable of \p test that calls cuBLASLt alone, whose call has \p post_ops post-ops and which computes what the
/// interpreter does, with numbers or, if \p special, infinite values and NaN in each input; null where it is none.
std::shared_ptr<const engine::Executable> expect_call(const TestCase& test, std::size_t post_ops = 0,
                                                      const std::string& libraries = "cublaslt", double tolerance = 0,
                                                      bool special = false) {
  SCOPED_TRACE(test.text);
  const auto function = engine::define(test.text).functions.back();
  const auto made = engine::compile(function, test.inputs, test.outputs, options_of(libraries));
  EXPECT_EQ(made->image().calls.size(), 1u) << join(made->stats().notes);
  EXPECT_TRUE(made->image().modules.empty());
  if (made->image().calls.size() != 1 || !made->image().modules.empty()) return nullptr;
  EXPECT_EQ(made->image().calls[0].post_ops.size(), post_ops) << to_string(made->image().calls[0]);
  engine::CompileOptions options;
  options.interpret = true;
  const auto oracle = engine::compile(function, test.inputs, test.outputs, options);
  const auto count = test.inputs.size();
  for (std::size_t s = 0; s <= (special ? count : 0); ++s) {
    std::vector<TestTensor> want;
    for (const auto& argument : oracle->image().arguments)
      want.emplace_back(argument.spec, static_cast<int>(want.size()));
    if (s > 0) want[s - 1].make_special(13);
    auto got = want;
    auto run = [&](const engine::Executable& executable, std::vector<TestTensor>& tensors) {
      std::vector<TensorView> inputs, outputs;
      for (std::size_t i = 0; i < tensors.size(); ++i) (i < count ? inputs : outputs).push_back(tensors[i].view());
      executable.run(inputs, outputs);
    };
    run(*oracle, want);
    run(*made, got);
    EXPECT_TRUE(got.back().is_near(want.back(), tolerance))
        << to_string(made->image().calls[0]) << "; " << last_product() << (s > 0 ? str("; special: ", s - 1) : "");
  }
  return made;
}

/// Why \p test is no call.
std::string why_own_code(const TestCase& test, const std::string& libraries = "cublaslt") {
  const auto function = function_of(test);
  const auto choice = engine::choose_library_call(
      *function, engine::make_arguments(*function, test.inputs, test.outputs), options_of(libraries));
  return choice.call ? to_string(*choice.call) : join(choice.notes);
}

struct Types {
  const char* name;
  DType factor;
  const char* result_name;
  DType result;
};
constexpr Types all_types[] = {{"float", Float32, "float", Float32},     {"float16", Float16, "float16", Float16},
                               {"float16", Float16, "float", Float32},   {"bfloat16", BFloat16, "bfloat16", BFloat16},
                               {"bfloat16", BFloat16, "float", Float32}, {"double", Float64, "double", Float64}};

/// C = A B in \p types, with casts where the result is wider.
std::string product_text(const Types& types) {
  const bool widens = types.factor != types.result;
  const std::string a = widens ? "float(A(m,k))" : "A(m,k)", b = widens ? "float(B(k,n))" : "B(k,n)";
  return str("def mm(", types.name, "(M,K) A, ", types.name, "(K,N) B) -> (", types.result_name,
             "(M,N) C) { C(m,n) +=! ", a, " * ", b, " }");
}

TEST_F(CublasLtTest, MultipliesInAllOrdersAndTypes) {
  for (const auto& types : all_types)
    for (int orders = 0; orders < 8; ++orders)
      for (std::int64_t gap : {0, 3}) {
        SCOPED_TRACE(str("orders ", orders, ", gap ", gap));
        const TestCase test{product_text(types),
                            {matrix(types.factor, 5, 7, orders & 1, gap), matrix(types.factor, 7, 6, orders & 2, gap)},
                            {matrix(types.result, 5, 6, orders & 4, gap)}};
        ASSERT_TRUE(expect_call(test, 0, "cublaslt", 0, gap == 0 && types.factor == Float32));
      }
}

TEST_F(CublasLtTest, MultipliesMatricesOfOneRowOrColumn) {
  for (std::int64_t m : {1, 4})
    for (std::int64_t k : {1, 5})
      for (std::int64_t n : {1, 6})
        for (int orders = 0; orders < 8; ++orders) {
          SCOPED_TRACE(str(m, " x ", k, " x ", n, ", orders ", orders));
          if (m * k == 1 || k * n == 1 || m * n == 1) continue;  // no tensor of one element has an order
          const TestCase test{product_text(all_types[0]),
                              {matrix(Float32, m, k, orders & 1), matrix(Float32, k, n, orders & 2)},
                              {matrix(Float32, m, n, orders & 4)}};
          ASSERT_TRUE(expect_call(test));
        }
}

constexpr const char* batched = "def bmm(float(B,M,K) X, float(B,K,N) W) -> (Y) { Y(b,m,n) +=! X(b,m,k) * W(b,k,n) }";

TEST_F(CublasLtTest, MultipliesBatches) {
  EXPECT_TRUE(expect_call({batched, {floats({3, 5, 7}), floats({3, 7, 6})}}));
  EXPECT_EQ(last_product().substr(0, 14), "6x5x7 batch 3 ");
  EXPECT_TRUE(expect_call({batched,
                           {strided(Float32, {3, 5, 7}, {7, 21, 1}), strided(Float32, {3, 7, 6}, {6, 18, 1})},
                           {strided(Float32, {3, 5, 6}, {6, 18, 1})}}));
  EXPECT_EQ(last_product().substr(0, 14), "6x5x7 batch 3 ") << "rows of one matrix lie between those of the others";
  EXPECT_TRUE(expect_call({"def shared(float(B,K,M) X, float(K,N) W) -> (Y) { Y(b,m,n) +=! X(b,k,m) * W(k,n) }",
                           {floats({3, 7, 5}), floats({7, 6})}}));
  EXPECT_EQ(last_product().substr(0, 14), "6x5x7 batch 3 ") << "all multiply one matrix";
  EXPECT_TRUE(expect_call({"def rows(float(B,M,K) X, float(K,N) W) -> (Y) { Y(b,m,n) +=! X(b,m,k) * W(k,n) }",
                           {floats({3, 5, 7}), floats({7, 6})}}));
  EXPECT_EQ(last_product().substr(0, 15), "6x15x7 batch 1 ") << "matrices that follow each other are one";
}

TEST_F(CublasLtTest, MultipliesHeadsOfAttention) {
  const std::string text =
      "def scores(float(B,S,H,D) Q, float(B,T,H,D) K) -> (Y) { Y(b,h,s,t) +=! Q(b,s,h,d) * K(b,t,h,d) }";
  const auto before = count("fake_lt_products");
  EXPECT_TRUE(expect_call({text, {floats({1, 5, 3, 8}), floats({1, 6, 3, 8})}}));
  EXPECT_EQ(count("fake_lt_products"), before + 1);
  EXPECT_TRUE(expect_call({text, {floats({2, 5, 3, 8}), floats({2, 6, 3, 8})}}));
  EXPECT_EQ(count("fake_lt_products"), before + 3) << "a loop around batches";
}

/// A product in \p types with an expression behind it that reads the product C(m,n) in float32.
TestCase followed(const Types& types, const std::string& expression, bool by_rows) {
  const auto& [name, factor, result_name, result] = types;
  const bool is_double = factor == Float64;
  const std::string wide = is_double ? "double" : "float";
  return {str("def f(", name, "(M,K) A, ", name, "(N,K) B, ", result_name, "(N) bias, ", result_name, "(M) column, ",
              result_name, "(M,N) Z) -> (", result_name, "(M,N) Y) {\n  C(m,n) +=! ", wide, "(A(m,k)) * ", wide,
              "(B(n,k))  Y(m,n) = ", result_name, "(", expression, ") }"),
          {matrix(factor, 5, 7, true), matrix(factor, 6, 7, true), contiguous(result, {6}), contiguous(result, {5}),
           matrix(result, 5, 6, by_rows)},
          {matrix(result, 5, 6, by_rows)}};
}

TEST_F(CublasLtTest, DoesWhatFollowsAProduct) {
  for (const auto& types : all_types)
    for (bool by_rows : {true, false}) {
      const std::string bias = by_rows ? "bias(n)" : "column(m)";
      SCOPED_TRACE(str(types.name, " to ", types.result_name, by_rows ? " by rows" : " by columns"));
      EXPECT_TRUE(expect_call(followed(types, str("C(m,n) + ", bias), by_rows), 1));
      EXPECT_TRUE(expect_call(followed(types, "Z(m,n) + C(m,n)", by_rows), 1));
      EXPECT_TRUE(expect_call(followed(types, str("C(m,n) + Z(m,n) + ", bias), by_rows), 2));
      EXPECT_TRUE(expect_call(followed(types, str("fmax(C(m,n) + ", bias, ", 0)"), by_rows), 2, "cublaslt:finite"));
      EXPECT_TRUE(
          expect_call(followed(types, str("relu(C(m,n) + ", bias, " + Z(m,n))"), by_rows), 3, "cublaslt:finite"));
      EXPECT_NE(last_product().find("epilogue 6 beta 1"), std::string::npos) << last_product();
    }
}

TEST_F(CublasLtTest, AddsToTheResult) {
  const std::string into = "def into(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }";
  for (bool by_rows : {true, false})
    EXPECT_TRUE(expect_call({into, {floats({5, 7}), floats({7, 6})}, {matrix(Float32, 5, 6, by_rows, 2)}}, 1));
  EXPECT_NE(last_product().find("beta 1"), std::string::npos) << last_product();
}

TEST_F(CublasLtTest, DoesGeluWithTanh) {
  const auto& types = all_types[0];
  for (const char* cubic : {"0.044715 * v * v * v", "v * v * (v * 0.044715)"})
    for (bool by_rows : {true, false}) {
      std::string text = str("0.5 * (v) * (1 + tanh(0.7978845608028654 * ((v) + ", cubic, ")))");
      for (std::size_t at; (at = text.find('v')) != std::string::npos;)
        text.replace(at, 1, by_rows ? "(C(m,n) + bias(n))" : "C(m,n)");
      EXPECT_TRUE(expect_call(followed(types, text, by_rows), by_rows ? 2 : 1, "cublaslt:finite", 1e-5));
      EXPECT_NE(why_own_code(followed(types, text, by_rows)).find("no routine"), std::string::npos)
          << "it may differ for infinite values";
    }
}

TEST_F(CublasLtTest, LeavesOtherOperationsToOwnCode) {
  const auto& types = all_types[0];
  for (const char* expression :
       {"C(m,n) + bias(n) + column(m)", "fmax(C(m,n), 0) + bias(n)", "C(m,n) * bias(n)", "gelu(C(m,n))",
        "0.5 * C(m,n) * (1 + tanh(0.8 * (C(m,n) + 0.044715 * C(m,n) * C(m,n) * C(m,n))))",
        "0.5 * C(m,n) * (1 + tanh(0.7978845608028654 * (Z(m,n) + 0.044715 * C(m,n) * C(m,n) * C(m,n))))",
        "C(m,n) + Z(m,n) + Z(m,n)"})
    EXPECT_NE(why_own_code(followed(types, expression, true), "cublaslt:finite").find("no routine"), std::string::npos)
        << expression;
  EXPECT_NE(why_own_code(followed(types, "fmax(C(m,n), 0)", true)).find("no routine"), std::string::npos)
      << "relu of NaN may differ";
  auto mixed = followed(all_types[2], "C(m,n) + bias(n)", true);
  mixed.text.replace(mixed.text.find("float(N) bias"), 13, "float16(N) bias");
  mixed.inputs[2] = contiguous(Float16, {6});
  EXPECT_NE(why_own_code(mixed).find("no routine"), std::string::npos) << "a bias has the type of the result";
  EXPECT_NE(why_own_code({batched, {strided(Float32, {3, 5, 7}, {70, 14, 2}), floats({3, 7, 6})}}).find("no routine"),
            std::string::npos)
      << "no stride is 1";
}

TEST_F(CublasLtTest, RoundsSumsOfHalvesOnce) {
  const std::string rounds_twice =
      "def f(bfloat16(M,K) A, bfloat16(K,N) B, bfloat16(N) bias) -> (Y) {\n"
      "  C(m,n) +=! A(m,k) * B(k,n)  Y(m,n) = C(m,n) + bias(n) }";
  EXPECT_NE(why_own_code(
                {rounds_twice, {contiguous(BFloat16, {5, 7}), contiguous(BFloat16, {7, 6}), contiguous(BFloat16, {6})}})
                .find("no routine"),
            std::string::npos);
}

TEST_F(CublasLtTest, RunsWithoutAllocationAfterPrepare) {
  const auto made = engine::compile(engine::define(batched).functions.back(), {floats({3, 5, 7}), floats({3, 7, 6})},
                                    {}, options_of("cublaslt"));
  const cuda::AtPlace at({1, reinterpret_cast<void*>(0x40)});
  made->prepare();
  const auto plans = count("fake_lt_plans");
  FakeDriver::forget();
  FakeDriver::capture(true);
  TestTensor x(floats({3, 5, 7}), 1), w(floats({3, 7, 6}), 2), y(floats({3, 5, 6}), 3);
  void* pointers[] = {x.view().data, w.view().data, y.view().data};
  made->run_unchecked(pointers);
  EXPECT_EQ(FakeDriver::calls().find("cuMemAlloc"), std::string::npos) << FakeDriver::calls();
  EXPECT_EQ(FakeDriver::calls().find("Synchronize"), std::string::npos) << FakeDriver::calls();
  EXPECT_EQ(count("fake_lt_plans"), plans);
  EXPECT_NE(last_product().find("stream 64"), std::string::npos) << last_product();
}

TEST_F(CublasLtTest, AllocatesNothingWhereNoAlgorithmNeedsIt) {
  of_fake<void(std::uint64_t)>("fake_lt_need")(0);
  EXPECT_TRUE(expect_call({batched, {floats({3, 5, 8}), floats({3, 8, 6})}}));
  EXPECT_EQ(FakeDriver::calls().find("cuMemAlloc"), std::string::npos) << FakeDriver::calls();
}

TEST_F(CublasLtTest, SaysThatThereIsNoAlgorithm) {
  const auto made = engine::compile(engine::define(batched).functions.back(), {floats({3, 5, 7}), floats({3, 7, 6})},
                                    {}, options_of("cublaslt"));
  of_fake<void(std::uint64_t)>("fake_lt_need")(std::uint64_t{1} << 40);
  EXPECT_ERROR(made->prepare(), DeviceError,
               "cuBLASLt has no algorithm for matmul of cublaslt 13.1.0: B=3 K=7 M=5 N=6");
}

TEST_F(CublasLtTest, DestroysItsDescriptors) {
  const auto before = count("fake_lt_descriptors");
  expect_call(followed(all_types[0], "C(m,n) + bias(n)", true), 1);
  EXPECT_EQ(count("fake_lt_descriptors"), before);
}

TEST_F(CublasLtTest, AnyThreadsRunOneExecutable) {
  const auto test = followed(all_types[0], "C(m,n) + bias(n)", true);
  const auto made =
      engine::compile(engine::define(test.text).functions.back(), test.inputs, test.outputs, options_of("cublaslt"));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const cuda::AtPlace at({0, reinterpret_cast<void*>(static_cast<std::uintptr_t>(0x100 * t))});
      std::vector<TestTensor> tensors;
      for (const auto& argument : made->image().arguments) tensors.emplace_back(argument.spec, t);
      std::vector<void*> pointers;
      for (auto& tensor : tensors) pointers.push_back(tensor.view().data);
      made->run_unchecked(pointers.data());
      const auto first = tensors.back();
      for (int i = 0; i < 50; ++i) {
        made->run_unchecked(pointers.data());
        wrong[static_cast<std::size_t>(t)] += !(tensors.back() == first);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(CublasLtTest, TakesTensorsThatBeginAtMultiplesOf16Bytes) {
  const auto function = engine::define(batched).functions.back();
  const std::vector<TensorSpec> inputs{floats({3, 5, 7}), floats({3, 7, 6})};
  auto options = options_of("cublaslt");
  const auto made = engine::compile(function, inputs, {}, options);
  alignas(64) float memory[512] = {};
  void* pointers[] = {memory + 1, memory + 128, memory + 256};
  EXPECT_ERROR(made->run_unchecked(pointers), ArgumentError, "'X' does not begin at a multiple of 16 bytes");
  options.unaligned = {"X"};
  const auto choice =
      engine::choose_library_call(*function, engine::make_arguments(*function, inputs, {}, options), options);
  EXPECT_FALSE(choice.call);
  EXPECT_EQ(join(choice.notes), "'X' may begin anywhere, and not at a multiple of 16 bytes: own code");
}

TEST_F(CublasLtTest, AutoComparesPredictedTimes) {
  const std::string halves = "def mm(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const auto large =
      why_own_code({halves, {contiguous(BFloat16, {4096, 4096}), contiguous(BFloat16, {4096, 4096})}}, "auto");
  EXPECT_EQ(large.substr(0, 26), "matmul of cublaslt 13.1.0:") << large;
  EXPECT_EQ(why_own_code({halves, {contiguous(BFloat16, {16, 16}), contiguous(BFloat16, {16, 16})}}, "auto"),
            "no library is predicted to be faster: own code");
  EXPECT_EQ(why_own_code({"def f(float(N) A) -> (B) { B(i) = A(i) * 2 }", {floats({64})}}, "auto"),
            "no library has a routine for it: own code");
}

TEST_F(CublasLtTest, PredictedTimesGrowWithTheWork) {
  auto seconds = [](std::int64_t m, std::int64_t n, std::int64_t k, const Types& types) {
    const auto call =
        call_of({product_text(types), {contiguous(types.factor, {m, k}), contiguous(types.factor, {k, n})}},
                find_library("cublaslt"));
    return find_library("cublaslt").routine(call->routine)->seconds(*call, *Target::parse("cuda:sm_90").grid);
  };
  const auto &single = all_types[0], &half = all_types[3], &twice = all_types[5];
  EXPECT_GT(seconds(4096, 4096, 4096, half), 1.9 * seconds(4096, 4096, 2048, half));
  EXPECT_GT(seconds(4096, 4096, 4096, single), 5 * seconds(4096, 4096, 4096, half));
  EXPECT_GT(seconds(4096, 4096, 4096, twice), 1.9 * seconds(4096, 4096, 4096, single));
  EXPECT_LT(seconds(16, 16, 16, single), 5e-6);
  const double flops = 2 * 4096.0 * 4096 * 4096 / seconds(4096, 4096, 4096, half);
  EXPECT_GT(flops, 400e12);
  EXPECT_LT(flops, 990e12) << "the dense peak of an H100";
}

TEST_F(CublasLtTest, IsOnlyForGpus) {
  auto options = options_of("cublaslt");
  options.target = engine::CompileOptions().target;
  const auto function = function_of({batched, {floats({3, 5, 7}), floats({3, 7, 6})}});
  const auto arguments = engine::make_arguments(*function, {floats({3, 5, 7}), floats({3, 7, 6})}, {});
  EXPECT_EQ(join(engine::choose_library_call(*function, arguments, options).notes), "cublaslt runs on GPUs: own code");
}

TEST_F(CublasLtTest, StoredExecutablesCallIt) {
  const TestCase test{batched, {floats({3, 5, 7}), floats({3, 7, 6})}};
  const auto made = expect_call(test);
  const engine::Executable copy(engine::Image::deserialise(made->image().serialise()));
  EXPECT_TRUE(copy.image().is_for_gpu());
  TestTensor x(test.inputs[0], 1), w(test.inputs[1], 2), y(floats({3, 5, 6}), 3), again = y;
  made->run(std::vector{x.view(), w.view()}, std::vector{y.view()});
  copy.run(std::vector{x.view(), w.view()}, std::vector{again.view()});
  EXPECT_TRUE(y == again);
}

TEST_F(CublasLtTest, PartsOfAGraphAreCallsBetweenKernels) {
  TC_NEEDS_NVRTC();
  const auto made = engine::compile(
      engine::define("def fc(float(N,C) X, float(K,C) W, float(K) b) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c)\n"
                     "  Y(n,k) = Y(n,k) + b(k) }\n"
                     "def act(float(N,K) X) -> (Y) { Y(n,k) = exp(X(n,k)) }\n"
                     "def main(float(N,C) X, float(C,C) W, float(C) b) -> (Y) {\n"
                     "  A = fc(X, W, b)  B = act(A)  Y = fc(B, W, b) }")
          .functions.back(),
      {floats({16, 24}), floats({24, 24}), floats({24})}, {}, options_of("cublaslt"));
  const auto& image = made->image();
  ASSERT_EQ(image.launches.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<engine::RoutineCall>(image.launches[0].code));
  EXPECT_TRUE(std::holds_alternative<engine::KernelCall>(image.launches[1].code));
  EXPECT_TRUE(std::holds_alternative<engine::RoutineCall>(image.launches[2].code));
  made->prepare();
  FakeDriver::forget();
  FakeDriver::capture(true);
  const auto before = count("fake_lt_products");
  TestTensor x(floats({16, 24}), 1), w(floats({24, 24}), 2), b(floats({24}), 3), y(floats({16, 24}), 4);
  void* pointers[] = {x.view().data, w.view().data, b.view().data, y.view().data};
  made->run_unchecked(pointers);
  EXPECT_EQ(count("fake_lt_products"), before + 2);
  EXPECT_EQ(FakeDriver::calls().find("cuMemAlloc"), std::string::npos) << FakeDriver::calls();
  EXPECT_NE(FakeDriver::calls().find("cuLaunchKernel"), std::string::npos);
}

}  // namespace
}  // namespace tc::library
