#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/lang/syntax/limits.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

/// Texts that are too much for the compiler are refused by a typed error, and no work on a text is out of reach.
namespace tc::engine {
namespace {

/// The codes of the errors of \p text, each once.
std::string codes(const std::string& text) {
  std::set<std::string> found;
  try {
    define(text);
  } catch (const Error& error) {
    if (dynamic_cast<const InternalError*>(&error)) return error.what();
    for (const auto& diagnostic : error.diagnostics()) found.insert(diagnostic.code);
  }
  return join(std::vector<std::string>(found.begin(), found.end()));
}

std::string def(const std::string& body) { return "def f(float(N) A, float(M) B) -> (O) {\n" + body + "\n}\n"; }

/// \p from + item(0) + separator + item(1) ...
template <typename F>
std::string listed(int count, const std::string& separator, F&& item) {
  std::string out;
  for (int k = 0; k < count; ++k) out += (k ? separator : "") + item(k);
  return out;
}

/// op(item(first), ...) as a balanced tree of calls.
template <typename F>
std::string balanced(const std::string& op, int first, int last, F&& item) {
  if (last - first == 1) return item(first);
  const int middle = (first + last) / 2;
  return str(op, "(", balanced(op, first, middle, item), ",", balanced(op, middle, last, item), ")");
}

TEST(TextLimits, NamesOfWhereThatDouble) {
  auto doubling = [](int count) {
    return def("O(i) = x0 where x0 = A(i)" +
               listed(count, "", [](int k) { return str(", x", k + 1, " = x", k, " + x", k); }));
  };
  auto used = [&](int count) {
    std::string text = doubling(count);
    return text.replace(text.find("= x0"), 4, str("= x", count));
  };
  EXPECT_EQ(codes(used(8)), "");
  for (int count : {15, 40, 200}) EXPECT_EQ(codes(used(count)), "TC008") << count;
}

TEST(TextLimits, LongAndDeepExpressions) {
  auto read = [](int k) { return str("A(i+", k, ")"); };
  EXPECT_EQ(codes(def("O(i) = " + balanced("max", 0, 12250, read))), "TC008");
  EXPECT_EQ(codes(def("O(i) = " + balanced("max", 0, 1000, read))), "");
  EXPECT_EQ(codes(def("O(i) = " + std::string(5000, '(') + "A(i)" + std::string(5000, ')'))), "TC006");
  EXPECT_EQ(codes(def("O(i) = " + listed(380, "+", read))), "");
  EXPECT_EQ(codes(def("O(i) = " + listed(500, "+", read))), "TC006");
  auto maxima = [](int count) {
    return def(str("O(i) = x", count, " where x0 = A(i)") +
               listed(count, "", [](int k) { return str(", x", k + 1, " = max(max(x", k, ", A(i+", k, ")), B(i))"); }));
  };
  EXPECT_EQ(codes(maxima(150)), "");
  EXPECT_EQ(codes(maxima(250)), "TC006");
}

TEST(TextLimits, ChainsOfMaximaInSubscripts) {
  auto chain = [](int depth) {
    std::string text = "i";
    for (int k = 0; k < depth; ++k) text = str(k % 2 ? "min(" : "max(", text, ",", k, ")");
    return text;
  };
  for (int depth : {100, 250, 390})
    for (const char* where : {"", " where i in 0:N"}) {
      const std::string found = codes(def(str("O(i) = A(", chain(depth), ")", where)));
      EXPECT_TRUE(found.empty() || found.substr(0, 3) == "TC2") << found;
    }
}

TEST(TextLimits, AnIndexBoundedByManySizes) {
  auto text = [](int count) {
    return str("def f(", listed(count, ", ", [](int k) { return str("float(N", k, ") A", k); }),
               ") -> (O) { O(i) = ", balanced("max", 0, count, [](int k) { return str("A", k, "(i)"); }), " }");
  };
  EXPECT_EQ(codes(text(50)), "");
  const std::string found = codes(text(1000));
  EXPECT_TRUE(found == "TC209" || found == "TC008") << found;
}

TEST(TextLimits, QuotientsOfQuotients) {
  std::string value = "i";
  for (int k = 0; k < 60; ++k) value = str("(", value, ")/(N+", k, ")");
  const std::string found = codes(def(str("O(i) = A(", value, ") where i in 0:N")));
  EXPECT_TRUE(found.empty() || found.substr(0, 3) == "TC2") << found;
}

TEST(TextLimits, NumbersBeyond64Bits) {
  EXPECT_EQ(codes(def("O(i) = A(i) + B(9223372036854775807)")), "TC209");
  EXPECT_EQ(codes(def("O(i) = A(i + 9223372036854775807 + 9223372036854775807)")), "TC201");
}

/// What a compile of \p text for \p sizes says up to the mapping; "" where that is made.
std::string refusal(const std::string& text, const std::vector<std::int64_t>& sizes, const std::string& target) {
  const auto function = define(text).functions.back();
  std::vector<TensorSpec> inputs;
  for (const auto size : sizes) inputs.push_back(contiguous(DType::Float32, {size}));
  CompileOptions options;
  if (!target.empty()) options.target = Target::parse(target);
  try {
    map_launches(function, make_arguments(*function, inputs, {}), options);
    return "";
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(TextLimits, LoopsThatNoMachineEnds) {
  for (const std::string target : {"", "cuda:sm_90"}) {
    EXPECT_NE(refusal(def("O +=! A(i) * B(0) where j in 0:M*M*M*M"), {3, 20000}, target)
                  .find("'j' of the statement that writes 'O' runs over 160000000000000000 values"),
              std::string::npos);
    EXPECT_NE(refusal(def("O +=! A(0) * B(0) where j in 0:9223372036854775807"), {3, 2}, target).find("more than 2^52"),
              std::string::npos);
    EXPECT_EQ(refusal(def("O +=! A(i) * B(0) where j in 0:M*M*M"), {3, 165140}, target), "");
    EXPECT_EQ(refusal(def("O +=! A(i) * B(k) where j in 0:M*M, l in 0:M*M"), {3, 67108864}, target), "");
    EXPECT_EQ(refusal(def("O(i) +=! A(i) * B(k) where j in 0:4503599627370496"), {1000, 140737488355328}, target), "");
  }
}

TEST(TextLimits, CallsThatDouble) {
  auto doubling = [](int count) {
    std::string text = "def f0(float(N) X) -> (Y) { Y(i) = X(i) + 1 }\n";
    for (int k = 1; k < count; ++k)
      text += str("def f", k, "(float(N) X) -> (Y) { A = f", k - 1, "(X)  Y = f", k - 1, "(A) }\n");
    return text;
  };
  EXPECT_EQ(codes(doubling(6)), "");
  EXPECT_EQ(codes(doubling(60)), "TC124");
}

TEST(TextLimits, LongChainsOfDefsDoNotOverflowTheStack) {
  std::string text;
  for (int k = 5000; k > 0; --k) text += str("def f", k, "(float(N) X) -> (Y) { Y = f", k - 1, "(X) }\n");
  text += "def f0(float(N) X) -> (Y) { Y(i) = Z(i) }\n";
  EXPECT_EQ(codes(text), "TC101");
  EXPECT_EQ(codes("def f0(float(N) X) -> (Y) { Y = f5000(X) }\n" + text.substr(0, text.rfind("def f0"))), "TC120");
}

TEST(TextLimits, AHundredErrorsAreEnough) {
  for (const char* statement : {"O(i) = C(i)\n", "O(i) = = 2\n", "O(i) = A(i) $ 2\n", "O(i) = A(j)\n"}) {
    std::string body;
    for (int k = 0; k < 6000; ++k) body += statement;
    try {
      define(def(body));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.diagnostics().size(), 100u) << statement;
      EXPECT_NE(std::string(error.what()).find("There may be more errors"), std::string::npos);
    }
  }
}

TEST(TextLimits, TextsThatAreTooLong) {
  const std::string statement = "O(i) = A(i) + 1\n";
  std::string body;
  while (body.size() <= lang::max_text_bytes) body += statement;
  EXPECT_EQ(codes(def(body)), "TC008");
  EXPECT_EQ(codes(std::string(lang::max_text_bytes + 1, ' ')), "TC008");
}

TEST(TextLimits, DefineStopsWhenItIsTold) {
  std::string body;
  for (int k = 0; k < 30000; ++k) body += "O(i) = A(i) * 2 + B(i)\n";
  StageOptions<DefineState> options;
  options.cancellation.set_time_limit(0.02);
  EXPECT_ERROR(define(def(body), "<tc>", options), ResourceError, "the time limit was reached in the parser");
  StageOptions<DefineState> told;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    told.cancellation.cancel();
  });
  EXPECT_ERROR(define(def(body), "<tc>", told), CancelledError, "cancelled in the parser");
  other.join();
}

}  // namespace
}  // namespace tc::engine
