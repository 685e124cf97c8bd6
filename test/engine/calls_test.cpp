#include <gtest/gtest.h>

#include <ctime>
#include <iostream>

#include "tc/base/str.h"
#include "tc/engine/compile/graph_interpreter.h"
#include "tc/graph/bind.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"
#include "test/support/from_environment.h"
#include "test/support/oracle.h"
#include "test/support/program_file.h"
#include "test/support/random/random_calls.h"
#include "test/support/random/random_loops.h"

/// Defs that call one another, all the way through inference and inlining.
namespace tc::engine {
namespace {

using test::Boxed;
using Ints = Array<std::int32_t>;

/// How a def is run: its calls written out by the interpreter or compiled, or as a graph, node by node by the
/// interpreter, or in parts that are compiled.
enum class How { Interpreted, Compiled, InterpretedNodes, CompiledNodes, CompiledParts };

/// The executable of \p function; null where no graph says what it does.
std::shared_ptr<const Executable> made(const std::shared_ptr<const Function>& function,
                                       const std::vector<TensorSpec>& specs, How how) {
  auto options = checked();
  options.interpret = how == How::Interpreted;
  options.partition = how == How::CompiledNodes   ? graph::Partition::Each
                      : how == How::CompiledParts ? graph::Partition::Auto
                                                  : graph::Partition::One;
  if (how != How::InterpretedNodes) return compile(function, specs, {}, options);
  auto graph = graph::bind(function->defs, function->name(), specs);
  if (!graph) return nullptr;
  Image image;
  image.arguments = make_arguments(*function, specs, {});
  auto interpreter = graph_interpreter(std::move(*graph), image.arguments);
  return std::make_shared<Executable>(std::move(image), CompileStats(), std::move(interpreter));
}

/// The outputs of \p function for \p arguments; nothing where it cannot be run so.
std::vector<Boxed> run(const std::shared_ptr<const Function>& function, const std::vector<Boxed>& arguments, How how) {
  std::vector<Ints> inputs, outputs;
  for (const auto& argument : arguments) {
    inputs.emplace_back(argument.extents);
    inputs.back().values = argument.values;
    inputs.back().data = inputs.back().values.data();
  }
  std::vector<TensorSpec> specs(inputs.begin(), inputs.end());
  for (const auto& info : infer_output_tensor_info(*function, specs)) outputs.emplace_back(info.shape, 77);
  for (auto* list : {&inputs, &outputs})
    for (auto& array : *list) array.data = array.values.data();
  const auto executable = made(function, specs, how);
  if (!executable) return {};
  executable->run(std::vector<TensorView>(inputs.begin(), inputs.end()),
                  std::vector<TensorView>(outputs.begin(), outputs.end()));
  std::vector<Boxed> result;
  for (const auto& output : outputs)
    result.push_back({std::vector<std::int64_t>(output.shape.size(), 0), output.shape, output.values});
  return result;
}

std::string text_of(const std::vector<Boxed>& tensors) {
  std::vector<std::string> texts;
  for (const auto& tensor : tensors) texts.push_back(str("(", join(tensor.extents), "): ", join(tensor.values)));
  return join(texts, "\n");
}

/// What the last def gives as this library understands it, "does not fit" for a typed refusal.
std::string found(const test::CallText& program, const std::vector<Boxed>& arguments, How how) {
  try {
    return text_of(run(define(program.text()).functions.back(), arguments, how));
  } catch (const ArgumentError&) {
    return "does not fit";
  } catch (const SemanticError&) {
    return "does not fit";
  } catch (const Error& error) {
    return str("an error of another type: ", error.what());
  }
}

std::string wanted(const test::CallText& program, const std::vector<Boxed>& arguments) {
  try {
    return text_of(program.evaluate(program.defs.size() - 1, arguments));
  } catch (const test::DoesNotFit&) {
    return "does not fit";
  }
}

std::vector<Boxed> random_arguments(test::Random& random, const test::CallDef& def) {
  std::map<std::string, std::int64_t> sizes;
  std::vector<Boxed> result;
  for (const auto& param : def.params) {
    Boxed tensor;
    std::int64_t count = 1;
    for (const auto& size : param.sizes) {
      auto extent = random.chance(70) ? 5 : random.between(2, 6);
      tensor.extents.push_back(sizes.emplace(size, extent).first->second);
      count *= tensor.extents.back();
    }
    tensor.mins.assign(tensor.extents.size(), 0);
    for (int k = 0; k < count; ++k) tensor.values.push_back(static_cast<std::int32_t>(random.between(-9, 9)));
    result.push_back(tensor);
  }
  return result;
}

TEST(Calls, RandomTextsMeanWhatTheirDefsMean) {
  const auto first = test::from_environment("TC_FUZZ_SEED", 1), count = test::from_environment("TC_FUZZ_COUNT", 120);
  std::cout << "seeds " << first << " to " << first + count - 1 << "\n";
  std::uint64_t fitting = 0, graphs = 0;
  for (auto seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
    test::Random random(seed);
    const auto program = test::random_calls(random);
    const auto arguments = random_arguments(random, program.defs.back());
    const auto want = wanted(program, arguments);
    fitting += want != "does not fit";
    EXPECT_EQ(found(program, arguments, How::Interpreted), want) << "seed " << seed << "\n"
                                                                 << program.text() << text_of(arguments);
    const auto by_nodes = found(program, arguments, How::InterpretedNodes);
    graphs += !by_nodes.empty();
    if (!by_nodes.empty()) {
      EXPECT_EQ(by_nodes, want) << "node by node, seed " << seed << "\n" << program.text() << text_of(arguments);
    }
    const How compiled[] = {How::Compiled, How::CompiledNodes, How::CompiledParts};
    if (const auto how = static_cast<int>(seed % 40); how < 3) {
      EXPECT_EQ(found(program, arguments, compiled[how]), want) << "compiled, seed " << seed << "\n" << program.text();
    }
  }
  EXPECT_GE(graphs * 10, count * 9) << "few of the texts are graphs";
  EXPECT_GE(fitting * 3, count) << "few of the texts can be called";
}

/// The values of the only return of the last def of \p text for one vector.
std::vector<std::int32_t> of_vector(const std::string& text, const std::vector<std::int32_t>& values) {
  Boxed argument{{0}, {static_cast<std::int64_t>(values.size())}, values};
  const auto function = define(text).functions.back();
  auto first = run(function, {argument}, How::Interpreted).front().values;
  for (auto how : {How::InterpretedNodes, How::CompiledNodes, How::CompiledParts})
    EXPECT_EQ(run(function, {argument}, how).front().values, first) << static_cast<int>(how) << "\n" << text;
  return first;
}

TEST(Calls, Temporaries) {
  const std::string act = "def act(int(N) X) -> (Y) { Y(i) = X(i) * 2 }\n";
  const std::string tail = "def tail(int(N) X) -> (Y) { Y(i) = X(i) where i in 1:N }\n";
  const std::string add = "def add(int(N) X, int(N) Z) -> (Y) { Y(i) = X(i) + Z(i) }\n";
  EXPECT_EQ(of_vector(act + "def f(int(N) X) -> (Y) { A = act(X)  C = act(A)  Y = act(C) }", {1, 2}),
            (std::vector<std::int32_t>{8, 16}));
  EXPECT_EQ(
      of_vector(act + add + "def f(int(N) X) -> (Y) { A = act(X)  B = act(X)  C = act(A)  D = act(B) Y = add(C, D) }",
                {1, 2}),
      (std::vector<std::int32_t>{8, 16}));
  EXPECT_EQ(of_vector(act + add +
                          "def block(int(N) X) -> (Y) { A = act(X)  B = act(A)  Y = add(X, B) }\n"
                          "def f(int(N) X) -> (Y) { A = block(X)  B = block(A)  Y = block(B) }",
                      {1, 2}),
            (std::vector<std::int32_t>{125, 250}));
  EXPECT_EQ(of_vector(tail + act + "def f(int(N) X) -> (Y) { A = tail(X)  B = act(A)  C = tail(B)  Y = tail(C) }",
                      {1, 2, 3, 4, 5}),
            (std::vector<std::int32_t>{8, 10}));
  EXPECT_EQ(
      of_vector("def two(int(N) X) -> (A, B) { A(i) = X(i) + 1  B(i) = X(i-1) }\n"
                "def f(int(N) X) -> (Y) { (A, B) = two(X); (A, B) = two(B); (C, A) = two(A)  Y(i) = A(i) + C(i) }",
                {1, 2}),
      (std::vector<std::int32_t>{5, 7}));
}

TEST(Calls, DefsWithLoops) {
  const std::string running =
      "def running(int(N) X) -> (int(N) Y) { for i in 0:N { Y(i) = X(i) + (i >= 1 ? Y(i-1) : 0) } }\n";
  const std::string two =
      "def two(int(N) X) -> (int(N) B) {\n"
      "  for t in 0:N { A(t) = X(t) - (t >= 1 ? B(t-1) : 0)  B(t) = A(t) * 2 } }\n";
  const std::string small =
      "def small(int(N) X) -> (int8(N) Y) { for t in 0:N { Y(t) +=! X(t) + k where k in 0:2  Y(t) += (t >= 1 ? Y(t-1) "
      ": 100) } }\n";
  EXPECT_EQ(of_vector(running + "def f(int(N) X) -> (Y) { Y = running(X) }", {1, 2, 3}),
            (std::vector<std::int32_t>{1, 3, 6}));
  EXPECT_EQ(of_vector(running + two +
                          "def f(int(N) X) -> (Y) { A = running(X)  B = two(A)  C = running(B)  Y(i) = C(i) + A(i) }",
                      {1, 2, 3}),
            (std::vector<std::int32_t>{3, 7, 18}));
  EXPECT_EQ(of_vector(running + "def again(int(N) X) -> (Y) { A = running(X)  Y = running(A) }\n" +
                          "def f(int(N) X) -> (Y) { A = again(X)  A = again(A)  Y(i) = A(i) * 2 }",
                      {1, 1}),
            (std::vector<std::int32_t>{2, 10}));
  EXPECT_EQ(of_vector(running + "def f(int(N) t) -> (Y) { A = running(t)  Y(i) = A(i) + t(i) }", {1, 1}),
            (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(of_vector(small + "def f(int(N) X) -> (Y) { A = small(X)  Y(i) = int(A(i)) }", {1, 20}),
            (std::vector<std::int32_t>{103, -112}));
}

/// A call of a def with random loops gives what the def gives: all returns, or the last, so that the others are temporaries of the caller.
TEST(Calls, OfRandomLoopsMeanWhatTheLoopsMean) {
  const auto first = test::from_environment("TC_FUZZ_SEED", 1), count = test::from_environment("TC_FUZZ_COUNT", 24);
  for (auto seed = first; seed < first + count; ++seed) {
    const auto program = test::random_loops(seed);
    const auto loops = define(program.text).functions.back();
    std::vector<std::string> results;
    for (const auto& decl : loops->def.returns) results.push_back(decl.name);
    const bool is_last = seed % 2 == 1;
    const auto text =
        str(program.text, "def main(int32(T,N) X, int32(N,M) B, int32(T,M) C, int32(T) S, int32(N) V) -> (",
            is_last ? results.back() : join(results), ") {\n  (", join(results), ") = loops(X, B, C, S, V)\n}\n");
    SCOPED_TRACE(str("seed ", seed, "\n", text));
    const auto main = define(text).functions.back();
    auto arguments = test::make_arguments(*main, program, program.runs.front());
    auto inner = test::make_arguments(*loops, program, program.runs.front());
    inner.inputs = arguments.inputs;
    auto want = test::interpreted(*loops, inner);
    if (is_last) want.erase(want.begin(), want.end() - 1);
    const auto difference = test::first_difference(*main, test::interpreted(*main, arguments), want, {});
    EXPECT_FALSE(difference) << *difference;
    if (seed % 10 != 0) continue;
    auto options = checked();
    options.partition = seed % 20 == 0 ? graph::Partition::Each : graph::Partition::One;
    const auto wrong = test::mismatch(main, arguments, options);
    EXPECT_FALSE(wrong) << *wrong;
  }
}

TEST(Calls, LoopsBesideCalls) {
  const auto function =
      define(
          "def running(int(N) X) -> (int(N) Y) { for i in 0:N { Y(i) = X(i) + (i >= 1 ? Y(i-1) : 0) } }\n"
          "def f(int(N) X) -> (int(N) Y) { for t in 0:N { A(t) = X(t) + (t >= 1 ? A(t-1) : 0) }\n"
          "  B = running(A)  for i in 0:N { Y(i) = B(i) + (i >= 2 ? Y(i-2) : 0) } }")
          .functions.back();
  const Boxed argument{{0}, {4}, {1, 0, 0, 2}};
  EXPECT_TRUE(run(function, {argument}, How::InterpretedNodes).empty());
  for (const auto how : {How::Interpreted, How::Compiled, How::CompiledNodes, How::CompiledParts})
    EXPECT_EQ(run(function, {argument}, how).front().values, (std::vector<std::int32_t>{1, 2, 4, 8})) << int(how);
}

TEST(Calls, AnLstmOfSomeSteps) {
  const std::string step =
      "def gate(float(B,I) x, float(B,H) h, float(G,I) Wx, float(G,H) Wh) -> (Z) {\n"
      "  Z(b,g) +=! x(b,i) * Wx(g,i)  Z(b,g) += h(b,k) * Wh(g,k) }\n"
      "def step(float(B,I) x, float(B,H) h, float(B,H) c, float(H,I) Wx, float(H,H) Wh) -> (hn, cn) {\n"
      "  U = gate(x, h, Wx, Wh)  F = gate(x, h, Wx, Wh)\n"
      "  cn(b,j) = F(b,j) * c(b,j) + U(b,j)  hn(b,j) = U(b,j) * tanh(cn(b,j)) }\n"
      "def f(float(B,I) x, float(B,H) h0, float(B,H) c0, float(H,I) Wx, float(H,H) Wh) -> (h, c) {\n"
      "  (h, c) = step(x, h0, c0, Wx, Wh); (h, c) = step(x, h, c, Wx, Wh); (h, c) = step(x, h, c, Wx, Wh) }\n";
  auto module = define(step);
  EXPECT_TRUE(module.warnings.empty());
  std::vector<TensorSpec> inputs;
  for (std::vector<std::int64_t> shape : {std::vector<std::int64_t>{2, 3}, {2, 4}, {2, 4}, {4, 3}, {4, 4}})
    inputs.push_back(contiguous(DType::Float32, shape));
  const auto outputs = infer_output_tensor_info(*module.functions.back(), inputs);
  EXPECT_EQ(outputs[0].shape, (std::vector<std::int64_t>{2, 4}));
}

TEST(Calls, AResultGivenAgainHasItsOwnSizes) {
  auto module = define(
      "def fc(float(B,I) X, float(O,I) W) -> (Y) { Y(b,o) +=! X(b,i) * W(o,i) }\n"
      "def f(float(B,I) X, float(H,I) W1, float(O,H) W2) -> (A) { A = fc(X, W1)  A = fc(A, W2) }");
  auto spec = [](std::int64_t a, std::int64_t b) { return contiguous(DType::Float32, {a, b}); };
  const auto& f = *module.functions.back();
  EXPECT_EQ(infer_output_tensor_info(f, {spec(2, 3), spec(4, 3), spec(7, 4)})[0].shape,
            (std::vector<std::int64_t>{2, 7}));
  EXPECT_ERROR(infer_output_tensor_info(f, {spec(2, 3), spec(4, 3), spec(7, 5)}), ArgumentError,
               "dimension 1 of parameter 'W2' of f is 5, but H is 4 (dimension 0 of 'W1')");
}

TEST(Calls, WhatIsAccumulatedIntoMustFit) {
  auto module = define(
      "def acc(float(N) X) -> (Y) { Y(i) += X(i) }\n"
      "def f(float(M) A, float(N) B) -> (C) { C(i) = A(i)  C = acc(B) }\n"
      "def g(float(M) A, float(N) B) -> (C) { C(i) = A(i-1)  C = acc(B) }");
  for (const char* name : {"f", "g"}) {
    const auto& function = *module.function(name);
    auto spec = [](std::int64_t n) { return contiguous(DType::Float32, {n}); };
    EXPECT_EQ(infer_output_tensor_info(function, {spec(3), spec(3)})[0].shape, std::vector<std::int64_t>{3});
    EXPECT_ERROR(infer_output_tensor_info(function, {spec(3), spec(4)}), ArgumentError,
                 "the extent of the range of index 'i' would be M - N = -1 with M = 3, N = 4; it must not be negative")
        << name;
    EXPECT_ERROR(infer_output_tensor_info(function, {spec(4), spec(3)}), ArgumentError,
                 "the extent of the range of index 'j' would be N - M = -1 with M = 4, N = 3; it must not be negative")
        << name;
  }
}

TEST(Warnings, AnIndexThatTakesTheSmallerOfTwoSizes) {
  auto warnings = [](const std::string& text) {
    std::vector<std::string> codes;
    for (const auto& warning : define(text).warnings) codes.push_back(str(warning.code, " ", warning.message));
    return join(codes, "; ");
  };
  EXPECT_EQ(warnings("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }"),
            "TC210 the index 'k' runs over the smaller of the sizes K and N");
  EXPECT_EQ(warnings("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"), "");
  EXPECT_EQ(warnings("def f(float(N) A, float(M) B) -> (C) { C(i) = A(i) + B(i) where i in 0:min(N,M) }"), "");
  EXPECT_EQ(warnings("def f(float(N) A, float(M) B) -> (C) { C(i) = A(i)  C(i) = C(i) + B(i) }"),
            "TC210 the index 'i' runs over the smaller of the sizes M and N");
  EXPECT_EQ(warnings("def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }\n"
                     "def f(float(N) A, float(M) B) -> (C) { C = add(A, B) }"),
            "")
      << "sizes that must be equal at the call";
}

TEST(Warnings, ElementsThatAreNeverRead) {
  auto codes = [](const std::string& text) {
    std::vector<std::string> found;
    for (const auto& warning : define(text).warnings) found.push_back(warning.code);
    return join(found);
  };
  const std::string joined = "def f(float(M) A, float(N) B) -> (Y) { Y(i) = i < M ? A(i) : B(i - M)";
  EXPECT_EQ(codes(joined + " }"), "TC211");
  EXPECT_EQ(codes(joined + " where i in 0:M+N }"), "");
  EXPECT_EQ(codes("def f(float(N) A) -> (Y) { Y(i) = i > 0 ? A(i - 1) : A(i) }"), "");
  EXPECT_EQ(codes("def f(float(N) A) -> (Y) { Y(i) = A(i) + (true ? 0 : A(i)) }"), "");
  EXPECT_EQ(codes("def f(int(N) A) -> (Y) { Y(i) = A(i) // 2\n}"), "TC010");
  EXPECT_EQ(codes("def f(int(N) A) -> (Y) { Y(i) = A(i) // 2 rows\n  // 2\n}"), "");
}

TEST(Calls, WhatIsAcceptedAloneIsAcceptedInACall) {
  const std::pair<const char*, const char*> defs[] = {
      {"float(M,E) X", "(float(4,M,E/4) Y) { Y(h,m,d) = X(m, h*(E/4)+d) }"},
      {"float(M,E) X", "(float(2,M) Y) { Y(h,m) +=! X(m, h*2+d) where d in 0:2 }"},
      {"float(M,E) X", "(float(M,E-1) Y) { Y(m,d) = X(m, d+m%2) }"},
      {"float(M,E) X", "(float(M,3) Y) { T(m,d) = X(m,d)  Y(m,k) = 0  Y(m,k) += T(m,k+j) where j in 0:2 }"},
      {"float(M,E) X", "(float(M,E) Y) { Y(m,d) = d % 2 == 0 ? X(m,d+1) : X(m,d-1) }"},
  };
  for (const auto& [params, body] : defs) {
    const std::string callee = str("def g(", params, ") -> ", body, "\n");
    const std::string callers[] = {
        str("def f(", params, ") -> (Q) { Q = g(X) }"),
        "def f(float(6,4) X) -> (Q) { Q = g(X) }",
        str("def f(", params, ") -> (Q) { T(i,j) = 2 * X(i,j)  Q = g(T) }"),
    };
    define(callee);
    for (const std::string& caller : callers) EXPECT_NO_THROW(define(callee + caller)) << callee << caller;
  }
}

/// Defs that call one another in a chain: each is understood once.
TEST(Calls, AChainOfDefsTakesTimeInProportion) {
  const auto seconds = [](int count) {
    std::string text = "def f0(float(N) X) -> (Y) { Y(i) = X(i) + 1 }\n";
    for (int k = 1; k < count; ++k)
      text += str("def f", k, "(float(N) X) -> (Y) { T = f", k - 1, "(X)  Y(i) = T(i) * 2 }\n");
    const auto before = std::clock();
    define(text);
    return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  };
  const double few = std::min(seconds(200), seconds(200));
  EXPECT_LT(seconds(1600), 24 * few + 0.5);
}

TEST(Calls, ManyInAChain) {
  std::string text = "def act(float(N) X) -> (Y) { Y(i) = X(i) + 1 }\ndef f(float(N) X) -> (Y) {\n  A0 = act(X)\n";
  for (int k = 1; k < 400; ++k) text += str("  A", k, " = act(A", k - 1, ")\n");
  auto module = define(text + "  Y = act(A399)\n}");
  EXPECT_EQ(inlined(module.functions.back())->def.statements.size(), 401u);
}

}  // namespace
}  // namespace tc::engine
