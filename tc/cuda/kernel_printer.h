#pragma once

#include <Halide.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tc/cuda/names.h"

namespace tc::cuda {

/// An expression in C++ and how tightly its outermost operator binds, as in C++'s grammar; higher binds tighter.
struct Text {
  std::string text;
  int precedence = 0;

  /// With parentheses unless it binds at least as tightly as \p wanted.
  std::string at(int wanted) const { return precedence >= wanted ? text : "(" + text + ")"; }
};

namespace precedence {
constexpr int choice = 1, disjunction = 2, conjunction = 3, bit_or = 4, bit_xor = 5, bit_and = 6, equality = 7,
              order = 8, shift = 9, sum = 10, product = 11, prefix = 12, primary = 13;
}

/// Prints the body of a kernel: statements as lines, expressions as text after the lines that declare their lets.
///
/// Vectors become loops over a lane: a let or a stored value of several lanes is an array (tc_vector), whose elements
/// are computed one by one; dense aligned loads and stores of memory move it at once.
class KernelPrinter {
 public:
  /// Elements of the buffers \p unaligned are moved one by one.
  explicit KernelPrinter(Names& names, const std::set<std::string>& unaligned = {}, int depth = 1)
      : names_(names), unaligned_(unaligned), depth_(depth) {}

  /// Declares a variable that is free in the body, with the values it can have.
  void bind(const std::string& name, std::int64_t low, std::int64_t high);
  /// The same of a variable of \p type that is declared.
  void bound(const std::string& name, Halide::Type type, std::int64_t low, std::int64_t high);
  void statement(const Halide::Internal::Stmt& stmt);

  /// Hands over what was printed.
  std::string take_text() { return std::move(text_); }
  std::int64_t shared_bytes() const { return shared_bytes_; }
  /// The buffers of which several elements are moved at once.
  const std::set<std::string>& moved_at_once() const { return moved_at_once_; }

 private:
  using Expr = Halide::Expr;
  using Stmt = Halide::Internal::Stmt;

  // lines
  void line(const std::string& text);
  void open(const std::string& head);
  /// Opens an unrolled loop over \p lanes; the identifier of its lane.
  std::string open_lanes(int lanes);
  void close();

  // statements
  void store(const Halide::Internal::Store* op);
  Halide::Expr hoist_subscripts(const Halide::Expr& value);
  void store_vector(const Halide::Internal::Store* op);
  /// Begins an asynchronous copy of the elements that \p from loads to those that \p to stores, as many at once as may
  /// be.
  void begin_copy(const Halide::Internal::Store* to, const Halide::Internal::Load* from);
  void loop(const Halide::Internal::For* op);
  void branch(const Halide::Internal::IfThenElse* op);
  void allocate(const Halide::Internal::Allocate* op);
  void let_statement(const Halide::Internal::LetStmt* op);
  void declare_let(const std::string& name, const Expr& value);
  /// Lines that leave the lanes of \p value in a new array; its identifier.
  std::string vector_value(const Expr& value, const std::string& wish);
  void hoist_loads(const Expr& value);
  bool moves_at_once(const std::string& buffer, const Expr& index, const Expr& predicate,
                     const Halide::Type& element) const;

  // expressions; of a vector, the element of the current lane
  Text expr(const Expr& e);
  Text index(const Expr& e);
  Text comparand(const Expr& e);
  Text binary(const Expr& a, const Expr& b, const char* symbol, int precedence);
  Text arithmetic(const Expr& a, const Expr& b, const char* symbol, int precedence);
  Text division(const Expr& a, const Expr& b, bool remainder);
  Text extreme(const Expr& a, const Expr& b, const char* function);
  Text cast(const Halide::Type& type, const Expr& value);
  Text load(const Halide::Internal::Load* op);
  Text select(const Expr& condition, const Expr& a, const Expr& b);
  Text conditional(const Halide::Internal::Call* op);
  Text let(const Halide::Internal::Let* op);
  Text call(const Halide::Internal::Call* op);
  Text intrinsic(const Halide::Internal::Call* op);
  static Text cast_to(const Halide::Internal::Call* op, const Text& text);
  Text ramp(const Halide::Internal::Ramp* op);
  Text shuffle(const Halide::Internal::Shuffle* op);
  Text reduce(const Halide::Internal::VectorReduce* op);
  Text element_of(const Expr& vector, const std::string& lane);
  std::string argument(const Expr& e);
  std::string address(const std::string& buffer, const Expr& index);
  const std::string& identifier(const std::string& name) const;
  bool is_at_least(const Expr& e, std::int64_t low) const;

  Names& names_;
  std::set<std::string> unaligned_;
  std::string text_;
  int depth_;  ///< of indentation
  std::int64_t shared_bytes_ = 0;
  std::set<std::string> moved_at_once_;
  std::string lane_;  ///< the lane that vectors are printed for: a variable or a number; empty outside of vectors
  Halide::Internal::Scope<Halide::Internal::Interval> bounds_;
  std::map<std::string, bool> arrays_;  ///< variables of several lanes: true for arrays, false for one lane's value
  std::map<std::string, bool> local_;   ///< buffers that threads keep for themselves
  std::vector<std::pair<Expr, std::string>> loads_;  ///< loads that stand in an array already
};

}  // namespace tc::cuda
