#pragma once

#include <Halide.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/lang/interpret/ranges.h"

/// A def as Halide IR: for concrete sizes, and for all values of its symbolic ones. A symbolic size N is the variable
/// size_variable("N") of type Int(64); boxes and domains hold all elements and instances that it has for any of its values.
/// Included by .cpp files of tc/engine and below only.
namespace tc::halide_bridge {

/// A tensor: its logical index box, and where it comes from. A rank-0 tensor has an empty box.
struct ProgramTensor {
  std::string name;
  DType type = DType::Float32;
  lang::Role role = lang::Role::Temporary;
  lang::Box box;
  /// One a dimension, or none at all: the extent over symbolic sizes; undefined: that of the box.
  std::vector<Halide::Expr> extents = {};

  /// Do symbolic sizes decide the extent of \p dimension?
  bool is_symbolic(std::size_t dimension) const { return !extents.empty() && extents.at(dimension).defined(); }
};

/// A loop inside of a statement, in order: `iterator` is no iterator of the statement. Its bounds, Int(64), may read tensors; where they
/// leave `range` they are moved to its ends, so that subscripts of the iterator stay in their tensors.
struct RaggedLoop {
  std::string iterator;
  lang::IntegerRange range;
  Halide::Expr begin, end;  ///< from begin to end - 1
  int lanes = 1;            ///< iterations at a time, where no lanes run along an iterator of the statement
};

/// A statement `target(subscripts) = value` over the box of its iterators.
///
/// Assign: target = value. Init: target = identity of `op`. Update: target = target op value, where `value` does not
/// hold the accumulator; instances that write one element may run in any order. The subscripts are iterators; those of an
/// Update may be any values, inside of the target in every instance: it scatters then. In `value`, an iterator is
/// Variable(Int(64), name), an element read is Call(type, tensor, subscripts: Int(64), Call::Halide), made by
/// element_read(), in the compute type of the tensor (bool is Bool(), halves are Float(32)); the arm of a conditional
/// that must not be evaluated unless its condition holds stands in Call::if_then_else, other conditionals are Select.
/// The value has the compute type of the target; the store converts (halves round). Floats are meant as written: who
/// simplifies a value wraps it in strict_float first, and negates a comparison of floats as builtin_calls.h does.
struct ProgramStatement {
  enum class Kind { Assign, Init, Update };
  std::string id;  ///< "S0", "S1", ... unique, in program order
  Kind kind = Kind::Assign;
  ReductionOp op = ReductionOp::Sum;
  std::string target;
  std::vector<std::string> iterators;    ///< left-hand ones first, then reductions
  lang::Box domain;                      ///< one interval an iterator
  std::vector<Halide::Expr> subscripts;  ///< of the target: Int(64)
  Halide::Expr value;                    ///< undefined for Init
  lang::SourceRange source;
  /// Each of one iterator and symbolic sizes, or of two iterators in order: of the box, the instances for which all hold.
  std::vector<Halide::Expr> conditions = {};
  std::vector<lang::OrderedLoop> loops = {};  ///< around it, outermost first
  std::optional<RaggedLoop> ragged = {};      ///< an Update joins its value once for each iteration
};

/// A rank-0 bool temporary that is true after its launch if a data-dependent subscript left its tensor.
struct IndexCheck {
  std::string flag;
  std::string message;  ///< for the ArgumentError
  bool before_writes;   ///< nothing observable has been written when it is tested
};

/// Statements that run without a decision of the host in between, then the flags to test.
struct Launch {
  std::vector<ProgramStatement> statements;
  std::vector<IndexCheck> checks;
};

struct Program {
  std::string name;
  std::vector<ProgramTensor> tensors;
  std::vector<Launch> launches;
  lang::SizeRanges symbolic = {};                ///< the symbolic sizes
  std::vector<Halide::Expr> preconditions = {};  ///< of symbolic sizes: they hold in every run
  std::set<std::string> running = {};            ///< tensors that running_reductions() alone writes

  /// The tensor \p name, which there is.
  const ProgramTensor& tensor(const std::string& name) const;
};

/// The variable that is the symbolic size \p name: no name of a text ends in primes.
std::string size_variable(const std::string& name);

/// The type of a value of \p type in a Halide expression: the compute type; Bool() for bool.
Halide::Type halide_type(DType type);

/// The \p conditions, each of one iterator, that are of one of \p iterators.
std::vector<Halide::Expr> conditions_of(const std::vector<std::string>& iterators,
                                        const std::vector<Halide::Expr>& conditions);

/// \p value as an index.
Halide::Expr index_value(std::int64_t value);

/// The iterators \p names as values.
std::vector<Halide::Expr> iterator_values(const std::vector<std::string>& names);

/// The values of \p iterator, which \p statement has.
lang::IntegerRange range_of(const ProgramStatement& statement, const std::string& iterator);

/// The reads of elements in \p expr, in order.
std::vector<const Halide::Internal::Call*> element_reads(const Halide::Expr& expr);

/// The element tensor(subscripts) as an expression of \p type. Unlike Call::make it takes Int(64) subscripts.
Halide::Expr element_read(Halide::Type type, const std::string& tensor, const std::vector<Halide::Expr>& subscripts);

/// \p value as users read it: symbolic sizes by their names.
std::string print_value(const Halide::Expr& value);

/// All launches as text, for dumps.
std::string print(const Program& program);

}  // namespace tc::halide_bridge
