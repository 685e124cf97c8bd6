#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"
#include "tc/proof/isl.h"

/// The program that the text means, read from the checked tree by the checker itself.
namespace tc::proof {

/// One access of a statement of the text.
struct TextAccess {
  std::string tensor;
  isl::map element;   ///< { S[i] -> T[x] }, single-valued and for all instances
  isl::set where;     ///< the instances that make it, or more where `exact` is false
  bool exact = true;  ///< conditions around it are affine
};

/// A loop around a statement whose iterations run in order.
struct TextLoop {
  int id = 0;         ///< statements with one id are in one loop; they are neighbours
  int dimension = 0;  ///< of the statement's domain
};

/// `target = value` (Assign), `target = identity` (Initialise) or `target = target op value` (Update, in any order).
struct TextStatement {
  enum class Kind { Assign, Initialise, Update };
  std::string id;  ///< S0, S1, ... in the order of the program
  Kind kind = Kind::Assign;
  ReductionOp op = ReductionOp::Sum;
  isl::set domain;
  isl::map write;                   ///< { S[i] -> T[x] }
  std::vector<TextAccess> reads;    ///< left to right, subscripts before the access
  bool has_integer_values = false;  ///< the compiler may evaluate an operand twice
  std::vector<TextLoop> loops;      ///< outermost first
};

/// The loops that \p a and \p b are both in, outermost first, by their number.
std::size_t common_loops(const TextStatement& a, const TextStatement& b);

/// A tensor of the text, or a temporary that its meaning needs.
struct TextTensor {
  DType type = DType::Float32;
  lang::Box box;
  lang::Role role = lang::Role::Temporary;
};

/// { tuple[x0, x1, ...] } for all values in \p box.
isl::set box_set(isl::ctx ctx, const std::string& tuple, const lang::Box& box);

struct TextProgram {
  std::vector<TextStatement> statements;
  std::map<std::string, TextTensor> tensors;

  /// The number of the statement \p id, or -1.
  int find(const std::string& id) const;
};

/// The ranges of the iterators of each assignment of a def, and the boxes of its tensors.
struct GivenRanges {
  std::vector<std::map<std::string, lang::IntegerRange>> assignments;
  std::map<std::string, lang::Box> boxes;
};

/// \p def, checked and without calls and lets, for \p sizes and \p ranges. Throws Undecided for what has no affine meaning:
/// subscripts that data decide, arithmetic beyond 2^31.
///
///   before  O(i) +=! A(i,k)     after  S0[i]: O(i) = 0    S1[i,k]: O(i) += A(i,k)
///
/// A sum of halves runs in a temporary of float32; a statement that reads its own target at other elements reads a copy
/// made before, unless it is in a loop, where these elements are of earlier iterations.
TextProgram read_text(isl::ctx ctx, const lang::Def& def, const lang::SizeMap& sizes, const GivenRanges& ranges);

}  // namespace tc::proof
