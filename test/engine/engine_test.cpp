#include "tc/engine/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "tc/base/str.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

namespace tc::engine {
namespace {

TEST(Engine, MatrixProduct) {
  ExecutionEngine engine;
  engine.define(mm);
  EXPECT_EQ(engine.functions(), std::vector<std::string>{"mm"});
  auto a = count_up({5, 7}), b = count_up({7, 9});
  auto info = engine.infer_output_tensor_info("mm", ExecutionEngine::Specs{a, b});
  ASSERT_EQ(info.size(), 1u);
  EXPECT_EQ(info[0].name, "C");
  EXPECT_EQ(TensorSpec(info[0]), contiguous(DType::Float32, {5, 9}));
  EXPECT_EQ(info[0].mins, (std::vector<std::int64_t>{0, 0}));
  Floats c({5, 9}, 100);
  auto handle = engine.compile("mm", ExecutionEngine::Specs{a, b}, {c}, checked());
  engine.run(handle, {a, b}, {c});
  EXPECT_EQ(c.values, product(a, b));
  EXPECT_EQ(engine.compile("mm", ExecutionEngine::Specs{a, b}, {}, checked()), handle);

  std::fill(c.values.begin(), c.values.end(), 0.f);
  void* pointers[] = {a.data, b.data, c.data};
  engine.run_unchecked(handle, pointers);
  EXPECT_EQ(c.values, product(a, b));
  auto profile = engine.profile(handle, {a, b}, {c});
  EXPECT_GE(profile.total, profile.kernels);
}

TEST(Engine, StridedTensors) {
  ExecutionEngine engine;
  engine.define(mm);
  auto a = count_up({5, 7}), b = count_up({7, 9});
  Floats storage({9, 5});
  TensorView c = storage;
  c.shape = {5, 9};
  c.strides = {1, 5};
  auto handle = engine.compile("mm", ExecutionEngine::Specs{a, b}, {c}, checked());
  engine.run(handle, {a, b}, {c});
  auto expected = product(a, b);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 9; ++j) EXPECT_EQ(storage.values[j * 5 + i], expected[i * 9 + j]);
}

TEST(Engine, ExpandedInput) {
  ExecutionEngine engine;
  engine.define("def add(float(M,N) A, float(M,N) B) -> (C) { C(m,n) = A(m,n) + B(m,n) }");
  auto a = count_up({4, 6});
  Floats row({6}, 2);
  TensorView b = row;
  b.shape = {4, 6};
  b.strides = {0, 1};
  Floats c({4, 6});
  engine.run(engine.compile("add", ExecutionEngine::Specs{a, b}, {}, checked()), {a, b}, {c});
  for (std::size_t i = 0; i < c.values.size(); ++i) EXPECT_EQ(c.values[i], a.values[i] + 2);
}

TEST(Engine, EmptyAndRankZeroTensors) {
  ExecutionEngine engine;
  engine.define("def total(float(N) A, float s) -> (t) { t +=! A(n) * s }");
  Floats none({0}), s({}, 2), t({}, 77);
  engine.run(engine.compile("total", ExecutionEngine::Specs{none, s}, {}, checked()), {none, s}, {t});
  EXPECT_EQ(t.values[0], 0);
  Floats some({3}, 1.5);
  engine.run(engine.compile("total", ExecutionEngine::Specs{some, s}, {}, checked()), {some, s}, {t});
  EXPECT_EQ(t.values[0], 9);
  engine.define("def copy(float(M,N) A) -> (B) { B(m,n) = A(m,n) }");
  Floats a({3, 0}), b({3, 0});
  engine.run(engine.compile("copy", ExecutionEngine::Specs{a}, {}, checked()), {a}, {b});
}

TEST(Engine, ArgumentsAreCheckedBeforeAnythingIsWritten) {
  ExecutionEngine engine;
  engine.define(mm);
  engine.define("def twice(float(N) A) -> (B) { B(n) = A(n) * 2 }\ndef shift(float(N) A) -> (B) { B(n) = A(n+1) }");
  auto a = count_up({5, 7}), b = count_up({7, 9});
  Floats c({5, 9}, 1);
  auto handle = engine.compile("mm", ExecutionEngine::Specs{a, b});
  auto run = [&](ExecutionEngine::Views inputs, ExecutionEngine::Views outputs) {
    return message<ArgumentError>([&] { engine.run(handle, inputs, outputs); });
  };
  EXPECT_EQ(run({a}, {c}), "'mm' takes 2 inputs and 1 outputs, 1 and 1 were given");
  EXPECT_EQ(run({b, a}, {c}), "input 'A' of 'mm' was compiled for float32(5, 7), float32(7, 9) was given");
  TensorView strided = a;
  strided.strides = {1, 5};
  EXPECT_EQ(run({strided, b}, {c}),
            "input 'A' of 'mm' was compiled for float32(5, 7), float32(5, 7) strides (1, 5) was given");
  TensorView shared = c;
  shared.data = b.data;
  EXPECT_EQ(run({a, b}, {shared}),
            "output 'C' shares memory with input 'B', which would change the result: pass a tensor of its own");
  EXPECT_EQ(c.values, Floats({5, 9}, 1).values);

  auto x = count_up({8});
  auto twice = engine.compile("twice", ExecutionEngine::Specs{x}, {}, checked());
  auto expected = x.values;
  for (auto& value : expected) value *= 2;
  engine.run(twice, {x}, {x});
  EXPECT_EQ(x.values, expected);
  TensorView next = x;
  next.shape = {7};
  auto shift = engine.compile("shift", ExecutionEngine::Specs{x}, {}, checked());
  EXPECT_ERROR(engine.run(shift, {x}, {next}), ArgumentError,
               "output 'B' of 'shift' was compiled for float32(8), float32(7) was given");
  EXPECT_EQ(x.values, expected);
}

TEST(Engine, OutputThatOverlapsItself) {
  ExecutionEngine engine;
  engine.define("def twice(float(M,N) A) -> (B) { B(m,n) = A(m,n) * 2 }");
  auto a = count_up({3, 4});
  Floats row({4});
  TensorView b = row;
  b.shape = {3, 4};
  b.strides = {0, 1};
  EXPECT_ERROR(engine.compile("twice", ExecutionEngine::Specs{a}, {b}), ArgumentError,
               "output 'B' has elements that share memory (float32(3, 4) strides (0, 1)): pass a tensor whose elements "
               "are apart");
}

TEST(Engine, IndexTensorsAreChecked) {
  ExecutionEngine engine;
  engine.define("def gather(float(E,D) T, int32(N) I) -> (O) { O(n,d) = T(I(n), d) }");
  auto table = count_up({4, 3});
  Array<std::int32_t> index({2});
  index.values = {3, 1};
  Floats out({2, 3}, 5);
  auto handle = engine.compile("gather", ExecutionEngine::Specs{table, index}, {}, checked());
  engine.run(handle, {table, index}, {out});
  EXPECT_EQ(out.values[0], table.values[9]);
  auto before = out.values;
  for (int bad : {4, -1}) {
    index.values[1] = bad;
    EXPECT_ERROR(engine.run(handle, {table, index}, {out}), ArgumentError,
                 "subscript 0 of T, 'I(n)', must be in [0, 4): a value in I is not; I(1) is ");
    EXPECT_EQ(out.values, before);
  }
}

/// Another thread changes the index tensor between its check and its use, which must not make a read go outside.
TEST(Engine, IndexTensorsThatChangeMeanwhileAreHeldInside) {
  ExecutionEngine engine;
  engine.define(
      "def gather(float(E) T, int32(N) I) -> (O) { O(n) = T(I(n)) }\n"
      "def deep(float(E) T, int32(E) J, int32(N) I) -> (O) { O(n) = T(J(I(n))) }\n"
      "def bag(float(E,D) T, int32(N,L) I) -> (O) { O(n,d) +=! T(I(n,l), d) }");
  Floats vector({64}, 1), table({64, 16}, 1);
  Array<std::int32_t> index({4096}), lists({256, 16}), inner({64});
  std::atomic<bool> done{false};
  std::thread other([&] {
    const std::int32_t values[] = {1 << 30, 3, std::numeric_limits<std::int32_t>::min(), 63, -1, 0, 64};
    for (std::size_t i = 0; !done; ++i)
      for (auto* changed : {&index, &lists, &inner}) {
        auto* value = changed->values.data() + (i * 61) % changed->values.size();
        __atomic_store_n(value, values[i % 7], __ATOMIC_RELAXED);
        __atomic_store_n(value, 5, __ATOMIC_RELAXED);
      }
  });
  Floats out({4096}), sums({256, 16});
  auto run = [&](const char* name, ExecutionEngine::Views inputs, Floats& output) {
    auto handle = engine.compile(name, {inputs.begin(), inputs.end()});
    for (int i = 0; i < 2000; ++i) try {
        engine.run(handle, inputs, {output});
      } catch (const ArgumentError&) {
      }
  };
  run("gather", {vector, index}, out);
  run("deep", {vector, inner, index}, out);
  run("bag", {table, lists}, sums);
  done = true;
  other.join();
}

TEST(Engine, ErrorsAreTyped) {
  ExecutionEngine engine;
  EXPECT_ERROR(engine.define("def f(float(N) A) -> (B) { B(n) = }"), SyntaxError,
               "error[TC002]: expected an expression but found '}'\n  --> <tc>:1:35");
  EXPECT_ERROR(engine.define("def f(float(N) A) -> (B) { B(n) = C(n) }"), SemanticError,
               "error[TC101]: undefined tensor or function 'C'\n  --> <tc>:1:35");
  EXPECT_TRUE(engine.functions().empty());
  engine.define(mm);
  EXPECT_ERROR(engine.compile("nn", ExecutionEngine::Specs{}), ArgumentError,
               "no def 'nn' has been defined; there are: mm");
  EXPECT_ERROR(engine.compile("mm", ExecutionEngine::Specs{contiguous(DType::Float32, {2, 3})}), ArgumentError,
               "'mm' takes 2 tensors (A, B), 1 was given");
  EXPECT_ERROR(engine.compile("mm", ExecutionEngine::Specs{contiguous(DType::Float64, {2, 3}),
                                                           contiguous(DType::Float32, {3, 2})}),
               ArgumentError, "parameter 'A' of 'mm' is a float32 tensor, one of float64 was given: convert it first");
  EXPECT_ERROR(engine.compile("mm", ExecutionEngine::Specs{contiguous(DType::Float32, {2, 3}),
                                                           contiguous(DType::Float32, {4, 2})}),
               ArgumentError, "dimension 0 of parameter 'B' of mm is 4, but K is 3 (dimension 1 of 'A')");
  EXPECT_ERROR(engine.run(3, ExecutionEngine::Views{}, ExecutionEngine::Views{}), ArgumentError,
               "there is no executable with the handle 3");
  auto options = checked();
  options.stages.replace["shedule"] = "";
  ExecutionEngine::Specs specs{contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 2})};
  EXPECT_ERROR(engine.compile("mm", specs, {}, options), OptionsError,
               "there is no stage 'shedule' to replace; these have a text form: schedule, choose");
}

/// The message of the E that \p work throws.
template <typename E, typename Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Engine, WhatIsUnexpectedBecomesAnInternalErrorThatCanBeReproduced) {
  StageOptions<DefineState> front;
  front.mutate = [](const std::string& stage, DefineState&) {
    if (stage == "inline") throw std::out_of_range("map::at");
  };
  auto message = message_of<InternalError>([&] { define(mm, "<tc>", front); });
  EXPECT_NE(message.find("map::at"), std::string::npos) << message;
  EXPECT_NE(message.find(mm), std::string::npos) << message;

  ExecutionEngine engine;
  engine.define(mm);
  auto options = checked();
  options.stages.mutate = [](const std::string& stage, CompileState&) {
    if (stage == "map") throw std::logic_error("planted");
  };
  ExecutionEngine::Specs specs{contiguous(DType::Float32, {2, 3}), contiguous(DType::Float32, {3, 5})};
  message = message_of<InternalError>([&] { engine.compile("mm", specs, {}, options); });
  for (const char* part : {"planted", "float32(3, 5)", "def mm", "options: default", "target: cpu"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in:\n" << message;
  EXPECT_EQ(message.find("Please report"), message.rfind("Please report")) << "told twice:\n" << message;
}

TEST(Engine, WantOfMemoryIsAResourceError) {
  StageOptions<DefineState> front;
  front.mutate = [](const std::string&, DefineState&) { throw std::bad_alloc(); };
  EXPECT_ERROR(define(mm, "<tc>", front), ResourceError, "the memory of this process is exhausted in define");
  auto interpreter = [](void* const*) { throw std::bad_alloc(); };
  Executable executable(Image(), CompileStats(), interpreter);
  EXPECT_ERROR(executable.run_unchecked(nullptr), ResourceError, "the memory of this process is exhausted in run");
  EXPECT_ERROR(executable.run({}, {}), ResourceError, "the memory of this process is exhausted in run");
}

TEST(Engine, ErrorsOfAllDefsAreReportedTogether) {
  try {
    define("def f(float(N) A) -> (B) { B(i) = 1 }\ndef g(float(N) A) -> (B) { B(j) = 2 }");
    FAIL();
  } catch (const SemanticError& error) {
    EXPECT_GE(error.diagnostics().size(), 2u);
  }
}

TEST(Engine, TheInterpreterRunsToo) {
  auto module = define(mm);
  auto a = count_up({5, 7}), b = count_up({7, 9});
  CompileOptions options;
  options.interpret = true;
  auto executable = compile(module.functions[0], {a, b}, {}, options);
  EXPECT_TRUE(executable->interpreted());
  Floats c({5, 9});
  executable->run(std::vector<TensorView>{a, b}, std::vector<TensorView>{c});
  EXPECT_EQ(c.values, product(a, b));
}

TEST(Engine, InOutReturnsAreRead) {
  ExecutionEngine engine;
  engine.define("def acc(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }");
  auto a = count_up({5, 7}), b = count_up({7, 9});
  EXPECT_TRUE(engine.infer_output_tensor_info("acc", ExecutionEngine::Specs{a, b})[0].read);
  Floats c({5, 9}, 10);
  engine.run(engine.compile("acc", ExecutionEngine::Specs{a, b}, {}, checked()), {a, b}, {c});
  auto expected = product(a, b);
  for (auto& value : expected) value += 10;
  EXPECT_EQ(c.values, expected);
}

TEST(Engine, DLPackTensors) {
  ExecutionEngine engine;
  engine.define(mm);
  auto a = count_up({5, 7}), b = count_up({7, 9});
  Floats c({5, 9});
  auto dl = [](Floats& array) {
    DLTensor tensor{};
    tensor.data = array.data;
    tensor.device = {kDLCPU, 0};
    tensor.ndim = array.rank();
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = array.shape.data();
    return tensor;
  };
  auto da = dl(a), db = dl(b), dc = dl(c);
  EXPECT_EQ(engine.infer_output_tensor_info("mm", {&da, &db})[0].shape, (std::vector<std::int64_t>{5, 9}));
  std::vector<const DLTensor*> inputs{&da, &db}, outputs{&dc};
  auto handle = engine.compile("mm", inputs, outputs);
  engine.run(handle, inputs, outputs);
  EXPECT_EQ(c.values, product(a, b));
  EXPECT_EQ(engine.compile("mm", {&da, &db}, {&dc}), handle);
  engine.run(handle, {&da, &db}, {&dc});
  EXPECT_EQ(c.values, product(a, b));
}

}  // namespace
}  // namespace tc::engine
