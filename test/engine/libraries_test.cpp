#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tc/cpu/thread_pool.h"
#include "tc/engine/compile/library_call.h"
#include "tc/library/registry.h"
#include "test/cache/cache_fixture.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

/// Calls of libraries in executables, with a library of this test: a product of matrices and what may follow it.
namespace tc::engine {
namespace {

using library::Call;
using library::Library;
using library::PostOp;
using library::Presence;
using library::Routine;

/// What the library of this test is like today.
struct State {
  Presence presence{"3.1", ""};
  bool fails = false;
  std::atomic<int> runs{0}, threads{0}, held{0};
};
State& state() {
  static auto& instance = *new State;
  return instance;
}

class Product : public library::Invocation {
 public:
  explicit Product(const Call& call) : call_(call) {}
  void run(void* const* operands, int threads) const override {
    if (state().fails) throw DeviceError("the library of the test reports a failure");
    ++state().runs;
    state().threads = threads;
    const auto m = call_.number("M"), n = call_.number("N"), k = call_.number("K");
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += element(operands, 0, i, l) * element(operands, 1, l, j);
        std::size_t next = 3;
        for (const auto& op : call_.post_ops) {
          if (op.kind == PostOp::Kind::Relu) sum = std::max(sum, 0.0f);
          if (op.operand) sum += at(operands[next++], *op.operand, i, j);
        }
        at(operands[2], call_.result(), i, j) = sum;
      }
  }

  std::unique_ptr<Invocation> hold(const std::vector<void*>& operands) const override;

 private:
  static float& at(void* begin, const library::Operand& operand, std::int64_t i, std::int64_t j) {
    return static_cast<float*>(begin)[i * operand.strides[0] + j * operand.strides[1]];
  }
  float element(void* const* operands, std::size_t which, std::int64_t i, std::int64_t j) const {
    return at(operands[which], call_.operands[which], i, j);
  }
  Call call_;
};

/// A product of post-ops none, whose second matrix is its own copy.
class HeldProduct : public Product {
 public:
  HeldProduct(const Call& call, const float* second) : Product(call), copy_(second, second + span(call)) {}
  void run(void* const* operands, int threads) const override {
    void* mine[] = {operands[0], const_cast<float*>(copy_.data()), operands[2]};
    ++state().held;
    Product::run(mine, threads);
  }

 private:
  static std::int64_t span(const Call& call) {
    const auto& strides = call.operands[1].strides;
    return (call.number("K") - 1) * strides[0] + (call.number("N") - 1) * strides[1] + 1;
  }
  std::vector<float> copy_;
};

std::unique_ptr<library::Invocation> Product::hold(const std::vector<void*>& operands) const {
  if (operands.size() != 3 || !operands[1]) return nullptr;
  return std::make_unique<HeldProduct>(call_, static_cast<const float*>(operands[1]));
}

/// The library, with and without post-ops.
void add_libraries() {
  static const bool added = [] {
    for (bool post_ops : {false, true}) {
      Routine routine{"product",
                      "def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                      {{DType::Float32, DType::Float32, DType::Float32}}};
      routine.post_ops = routine.relu_drops_nan = post_ops;
      routine.in_place = [](const Call& call) -> std::optional<std::size_t> {
        for (std::size_t p = 0; p < call.post_ops.size(); ++p)
          if (call.post_ops[p].operand) return p;
        return std::nullopt;
      };
      routine.prepare = [](const Call& call) { return std::make_unique<Product>(call); };
      library::add_library({post_ops ? "fake_with_post_ops" : "fake",
                            0,
                            []() -> const Presence& { return state().presence; },
                            {routine}});
    }
    return true;
  }();
  EXPECT_TRUE(added);
}

class Libraries : public ::testing::Test {
 protected:
  void SetUp() override {
    add_libraries();
    state().presence = {"3.1", ""};
    state().fails = false;
    state().runs = state().held = 0;
  }
  static CompileOptions with(const std::string& libraries) {
    auto options = checked();
    options.libraries = libraries;
    return options;
  }
};

const std::string layers =
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
    "def bias(float(N,K) X, float(K) b) -> (Y) { Y(n,k) = X(n,k) + b(k) }\n"
    "def twice(float(N,K) X) -> (Y) { Y(n,k) = X(n,k) * 2 }\n"
    "def cut(float(N,K) X) -> (Y) { Y(n,k) = fmax(X(n,k), 0) }\n"
    "def main(float(N,C) X, float(C,C) W, float(C) b) -> (Y) {\n"
    "  A = fc(X, W)  B = bias(A, b)  D = cut(B)  E = twice(D)  F = fc(E, W)  Y = bias(F, b) }";

Floats run(const Executable& executable, const std::vector<TensorView>& inputs, std::vector<std::int64_t> shape) {
  Floats result(std::move(shape), -77);
  executable.run(inputs, std::vector<TensorView>{result});
  result.data = nullptr;
  return result;
}

TEST_F(Libraries, TakeThePlaceOfCode) {
  auto function = define(mm).functions[0];
  auto a = count_up({5, 7}), b = count_up({7, 3});
  auto executable = compile(function, {a, b}, {}, with("fake"));
  EXPECT_EQ(run(*executable, {a, b}, {5, 3}).values, product(a, b));
  EXPECT_EQ(state().runs, 1);
  EXPECT_EQ(state().threads, cpu::num_threads());
  ASSERT_EQ(executable->image().calls.size(), 1u);
  EXPECT_NE(to_string(executable->image().calls[0]).find("product of fake 3.1: K=7 M=5 N=3"), std::string::npos);
  Floats c({5, 3});
  EXPECT_GE(executable->profile(std::vector<TensorView>{a, b}, std::vector<TensorView>{c}).kernels.count(), 0);
  EXPECT_EQ(run(*compile(function, {a, b}, {}, checked()), {a, b}, {5, 3}).values, product(a, b));
  EXPECT_EQ(state().runs, 2) << "none is asked for";
}

TEST_F(Libraries, ArePartsOfGraphs) {
  auto function = define(layers).functions.back();
  auto x = count_up({3, 5}), w = count_up({5, 5}), b = count_up({5});
  const auto wanted = run(*compile(function, {x, w, b}, {}, checked()), {x, w, b}, {3, 5}).values;
  const std::vector<std::pair<std::string, std::size_t>> parts = {{"fake", 4}, {"fake_with_post_ops", 3}};
  for (const auto& [name, count] : parts) {
    auto executable = compile(function, {x, w, b}, {}, with(name));
    EXPECT_EQ(run(*executable, {x, w, b}, {3, 5}).values, wanted);
    EXPECT_EQ(executable->image().parts, count) << "what the library cannot do is a part of its own";
    Executable copy(Image::deserialise(executable->image().serialise()));
    EXPECT_EQ(run(copy, {x, w, b}, {3, 5}).values, wanted);
    EXPECT_EQ(copy.image().calls, executable->image().calls);
  }
  EXPECT_EQ(state().runs, 8);
}

/// Constants named \p names that borrow \p arrays.
std::vector<Constant> constants(const std::vector<std::string>& names, const std::vector<Floats*>& arrays) {
  std::vector<Constant> result;
  for (std::size_t i = 0; i < names.size(); ++i)
    result.push_back({names[i], *arrays[i], {arrays[i]->data, [](void*) {}}, std::nullopt});
  return result;
}

/// Products with sums of what stood before; \p last reads \p read beside the sum.
std::string sums(const std::string& first, const std::string& read) {
  return "def mul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n"
         "def add(float(M,N) A, float(M,N) B) -> (C) { C(m,n) = A(m,n) + B(m,n) }\n"
         "def main(float(M,M) X, float(M,M) W) -> (Y) {\n"
         "  A = mul(X, W)  B = mul(" +
         first + ", W)  D = add(B, A)  Y = mul(D, " + read + ") }";
}

TEST_F(Libraries, RunInPlaceOfWhatTheyReadLast) {
  auto x = count_up({6, 6}), w = count_up({6, 6});
  const auto shares = [&](const std::string& text) {
    auto function = define(text).functions.back();
    const auto wanted = run(*compile(function, {x, w}, {}, checked()), {x, w}, {6, 6}).values;
    const auto executable = compile(function, {x, w}, {}, with("fake_with_post_ops"));
    EXPECT_EQ(run(*executable, {x, w}, {6, 6}).values, wanted);
    const auto& image = executable->image();
    EXPECT_EQ(image.launches.size(), 3u);
    const auto& call = image.calls[std::get<RoutineCall>(image.launches[1].code).call];
    EXPECT_EQ(call.post_ops.size(), 1u);
    const auto place = [&](const library::Operand& operand) {
      return std::get<WorkspaceSlot>(image.launches[1].slots[operand.argument]).offset;
    };
    return place(call.post_ops[0].operand.value()) == place(call.result());
  };
  EXPECT_TRUE(shares(sums("X", "W")));
  EXPECT_FALSE(shares(sums("X", "A"))) << "it is read later";
  EXPECT_FALSE(shares(sums("A", "W"))) << "the product reads it too";
}

TEST_F(Libraries, HoldConstants) {
  auto function = define(mm).functions[0];
  auto a = count_up({5, 7}), b = count_up({7, 3});
  auto options = with("fake");
  options.constants = constants({function->def.params[1].name}, {&b});
  auto executable = compile(function, {a, b}, {}, options);
  const auto wanted = product(a, b);
  EXPECT_EQ(run(*executable, {a}, {5, 3}).values, wanted);
  EXPECT_EQ(state().held, 1);
  ASSERT_EQ(executable->image().calls.size(), 1u);
  EXPECT_TRUE(executable->image().calls[0].operands[1].constant);
  EXPECT_FALSE(executable->image().calls[0].operands[0].constant);
  Executable copy(Image::deserialise(executable->image().serialise()));
  EXPECT_EQ(run(copy, {a}, {5, 3}).values, wanted);
  EXPECT_EQ(state().held, 2);
  options.constants = constants({function->def.params[0].name}, {&a});
  EXPECT_EQ(run(*compile(function, {a, b}, {}, options), {b}, {5, 3}).values, wanted);
  EXPECT_EQ(run(*compile(function, {a, b}, {}, with("fake")), {a, b}, {5, 3}).values, wanted);
  EXPECT_EQ(state().held, 2) << "there is nothing to be held";
}

TEST_F(Libraries, HoldTheConstantsOfEachPart) {
  auto function = define(
                      "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
                      "def scale(float(K,C) W, float(K) g) -> (S) { S(k,c) = W(k,c) * g(k) }\n"
                      "def main(float(N,C) X, float(C,C) V, float(C,C) W, float(C) g) -> (Y) {\n"
                      "  A = fc(X, V)  B = fc(A, W)  S = scale(V, g)  D = fc(B, S)  Y = fc(D, D) }")
                      .functions.back();
  auto x = count_up({5, 5}), v = count_up({5, 5}), w = count_up({5, 5}), g = count_up({5});
  std::reverse(w.values.begin(), w.values.end());
  const auto wanted = run(*compile(function, {x, v, w, g}, {}, checked()), {x, v, w, g}, {5, 5}).values;
  auto options = with("fake");
  options.constants = constants({"V", "W", "g"}, {&v, &w, &g});
  ExecutableCache cache;
  auto executable = compile_cached(cache, function, {x, v, w, g}, {}, options);
  EXPECT_EQ(executable->image().calls.size(), 2u) << "of constants, and of none";
  EXPECT_EQ(run(*executable, {x}, {5, 5}).values, wanted);
  EXPECT_EQ(state().held, 3);
  EXPECT_EQ(run(*compile_cached(cache, function, {x, v, w, g}, {}, with("fake")), {x, v, w, g}, {5, 5}).values, wanted);
  EXPECT_EQ(state().held, 3);
}

TEST_F(Libraries, CutDefsWithoutCallsToo) {
  auto function = define(
                      "def f(float(M,K) A, float(K,N) B) -> (D) {\n"
                      "  C(m,n) +=! A(m,k) * B(k,n)  D(m,n) = C(m,n) * C(m,n) }")
                      .functions[0];
  auto a = count_up({5, 7}), b = count_up({7, 3});
  auto executable = compile(function, {a, b}, {}, with("fake"));
  EXPECT_EQ(executable->image().parts, 2u);
  EXPECT_EQ(executable->image().calls.size(), 1u);
  auto wanted = product(a, b);
  for (auto& value : wanted) value *= value;
  EXPECT_EQ(run(*executable, {a, b}, {5, 3}).values, wanted);
  auto other = define("def f(float(M,K) A) -> (D) { C(m) +=! A(m,k)  D(m) = C(m) * 2 }").functions[0];
  auto own = compile(other, {a}, {}, with("fake"));
  EXPECT_EQ(own->image().parts, 1u);
  EXPECT_TRUE(own->image().calls.empty());
  ASSERT_EQ(own->stats().notes.size(), 1u);
  EXPECT_NE(own->stats().notes[0].find("fake has no routine"), std::string::npos);
}

/// The parts of a product of 512 x \p k x 512 whose elements are squared then, where the fake library's is measured to be \p speed
/// times as fast as own code.
std::size_t parts_by_prices(std::int64_t k, double speed) {
  const auto function = define(
                            "def f(float(M,K) A, float(K,N) B) -> (D) {\n"
                            "  C(m,n) +=! A(m,k) * B(k,n)  D(m,n) = C(m,n) * C(m,n) }")
                            .functions[0];
  const std::vector<TensorSpec> inputs{contiguous(DType::Float32, {512, k}), contiguous(DType::Float32, {k, 512})};
  const auto alone = define(mm).functions[0];
  CompileOptions options;
  options.libraries = "fake";
  const auto call = choose_library_call(*alone, make_arguments(*alone, inputs, {}), options).call;
  auto price = library::price_of(call.value(), cpu::num_threads());
  price.library_seconds = 1;
  price.own_seconds = speed;
  cache::TemporaryFolder folder;
  options.libraries = "auto";
  options.cache = std::make_shared<cache::Cache>(cache::CacheSettings{folder / "cache"});
  std::filesystem::create_directories(folder / "cache");
  std::ofstream(library_prices_file(*options.cache))
      << library::to_string(library::PriceTable{cache::measurement_here().machine, std::vector{price}});
  const auto executable = compile(function, inputs, {}, options);
  EXPECT_EQ(executable->image().calls.size(), executable->image().parts - 1);
  return executable->image().parts;
}

TEST_F(Libraries, AreNotWorthAPassOverWhatTheyComputeQuickly) {
  EXPECT_EQ(parts_by_prices(4, 1.2), 1U) << "to read and write C takes longer than what is gained";
  EXPECT_EQ(parts_by_prices(512, 3), 2U);
}

TEST_F(Libraries, AreToldApartByCaches) {
  auto function = define(mm).functions[0];
  auto a = count_up({5, 7}), b = count_up({7, 3});
  ExecutableCache cache;
  auto called = compile_cached(cache, function, {a, b}, {}, with("fake"));
  auto own = compile_cached(cache, function, {a, b}, {}, checked());
  EXPECT_EQ(called->image().calls.size(), 1u);
  EXPECT_TRUE(own->image().calls.empty());
  EXPECT_EQ(compile_cached(cache, function, {a, b}, {}, with("fake")), called);
}

TEST_F(Libraries, ThatAreMissingAreNamed) {
  auto function = define(mm).functions[0];
  auto a = count_up({5, 7}), b = count_up({7, 3});
  auto bytes = compile(function, {a, b}, {}, with("fake"))->image().serialise();
  state().presence = {"", "no such file"};
  auto text = message<OptionsError>([&] { Executable copy(Image::deserialise(bytes)); });
  EXPECT_NE(text.find("product of fake 3.1, which is not on this machine (no such file)"), std::string::npos) << text;
  text = message<OptionsError>([&] { compile(function, {a, b}, {}, with("fake")); });
  EXPECT_NE(text.find("the library 'fake' is not on this machine (no such file)"), std::string::npos) << text;
  text = message<OptionsError>([&] { compile(function, {a, b}, {}, with("fakes")); });
  EXPECT_NE(text.find("'none', 'auto'"), std::string::npos) << text;
  EXPECT_TRUE(compile(function, {a, b}, {}, with("auto"))->image().calls.empty());
}

TEST_F(Libraries, OfAnotherVersionAreRefused) {
  auto function = define(mm).functions[0];
  auto a = count_up({5, 7}), b = count_up({7, 3});
  auto bytes = compile(function, {a, b}, {}, with("fake"))->image().serialise();
  state().presence = {"3.2", ""};
  auto text = message<OptionsError>([&] { Executable copy(Image::deserialise(bytes)); });
  EXPECT_NE(text.find("product of fake 3.1, this machine has version 3.2"), std::string::npos) << text;
}

TEST_F(Libraries, ThatFailSaySo) {
  auto function = define(mm).functions[0];
  auto a = count_up({5, 7}), b = count_up({7, 3});
  auto executable = compile(function, {a, b}, {}, with("fake"));
  state().fails = true;
  auto text = message<DeviceError>([&] { run(*executable, {a, b}, {5, 3}); });
  EXPECT_NE(text.find("reports a failure"), std::string::npos) << text;
  state().fails = false;
  EXPECT_EQ(run(*executable, {a, b}, {5, 3}).values, product(a, b));
}

TEST_F(Libraries, DamagedImagesAreRefused) {
  auto function = define(mm).functions[0];
  auto a = count_up({5, 7}), b = count_up({7, 3});
  auto image = compile(function, {a, b}, {}, with("fake"))->image();
  image.calls[0].operands[1].argument = 3;
  EXPECT_ERROR(Image::deserialise(image.serialise()), ArgumentError, "the bytes of an executable are damaged");
  image.calls[0].operands.clear();
  EXPECT_ERROR(Image::deserialise(image.serialise()), ArgumentError, "the bytes of an executable are damaged");
  image.calls.clear();
  EXPECT_ERROR(Image::deserialise(image.serialise()), ArgumentError, "the bytes of an executable are damaged");
}

/// The libraries of this machine, on one def.
class RealLibraries : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto& presence = library::find_library(GetParam()).find();
    if (presence.version.empty()) GTEST_SKIP() << presence.reason;
    function_ = define(mm).functions[0];
    CompileOptions options;
    options.libraries = GetParam();
    executable_ = compile(function_, {a_, b_}, {}, options);
    ASSERT_EQ(executable_->image().calls.size(), 1u);
  }
  bool is_right() const { return run(*executable_, {a_, b_}, {65, 70}).values == product(a_, b_); }

  Floats a_ = count_up({65, 130}), b_ = count_up({130, 70});
  std::shared_ptr<const Function> function_;
  std::shared_ptr<const Executable> executable_;
};

TEST_P(RealLibraries, RunInManyThreadsAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) wrong += !is_right();
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(RealLibraries, ObeyTheNumberOfThreads) {
  const int before = cpu::num_threads();
  for (int count : {1, 3, before}) {
    cpu::set_num_threads(count);
    EXPECT_TRUE(is_right()) << count;
  }
}

TEST_P(RealLibraries, RunInAForkedChild) {
  ASSERT_TRUE(is_right());
  const auto child = fork();
  if (child == 0) {
    alarm(60);
    _exit(is_right() && is_right() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(is_right()) << "and in its parent afterwards";
}

INSTANTIATE_TEST_SUITE_P(All, RealLibraries, ::testing::Values("openblas", "onednn"));

}  // namespace
}  // namespace tc::engine
