#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"
#include "tc/polyhedral/core/isl.h"

/// The expression form: a def for concrete sizes as scopes. A scope instantiates one tensor,
///
///   L_x Σ_y f(T[τ(x, y)])           O(x) +=! f(T(τ(x, y)))
///
/// over a set of instances (x, y) that need not be a box: where a guard was false there is no instance, and an element
/// without instances holds the scope's fill. So padding is no part of a body, and tensors are zero-extended.
namespace tc::derive {

/// The isl context of a search; programs keep it alive.
using ContextPtr = std::shared_ptr<polyhedral::Context>;

/// An element of a tensor; of no tensor: the one output of `at`, an index as a value.
struct Read {
  std::string tensor;
  isl::multi_aff at;  ///< instance -> index
};

/// What a scope computes in some of its instances. The body names read k as "#k"; other expressions are as the parser
/// gives them.
struct Case {
  isl::set domain;  ///< { [left iterators, summed iterators] }
  lang::ExprPtr body;
  std::vector<Read> reads;
};

/// A loop whose iterations run in order, each of them all scopes of the loop. A scope may then read elements of earlier iterations, its own
/// too, and elements that an earlier scope of the loop defines in the same iteration.
struct ScopeLoop {
  int id = 0;         ///< of the program: neighbouring scopes with one id are in one loop
  int dimension = 0;  ///< one of the left iterators

  bool operator==(const ScopeLoop&) const = default;
};

/// One statement, normalised.
struct Scope {
  std::string tensor;
  DType type = DType::Float32;
  lang::Box box;                       ///< of the tensor, one range a left iterator
  std::vector<std::string> iterators;  ///< the left ones first
  std::optional<ReductionOp> op;       ///< nothing: '=', one instance an element
  double fill = 0;                     ///< of elements without an instance; infinite: the least, largest of the type
  std::vector<Case> cases;             ///< their domains are disjoint
  /// Have all tensors that it reads its own type, and is nothing in it cast? Others are carried along as they are.
  bool uniform = true;
  /// Does it convert nothing but reads of narrower floats and indices, to its own type, and read else conditions alone? Values stay as they
  /// are, so sums of them are like others.
  bool widens = false;
  bool keeps_values() const { return uniform || widens; }
  /// Is each element another one, rounded to its type of 16 bits?
  bool rounds() const;
  std::optional<ScopeLoop> loop = std::nullopt;  ///< around it

  int left() const { return static_cast<int>(box.size()); }
  int dimensions() const { return static_cast<int>(iterators.size()); }
};
using ScopePtr = std::shared_ptr<const Scope>;

struct Input {
  std::string tensor;
  DType type = DType::Float32;
  lang::Box box;
};

/// Scopes in an order in which each reads inputs and earlier ones, or elements of earlier iterations of its loop; none writes what another
/// does.
struct Program {
  ContextPtr context;  ///< lives longer than the sets below
  std::string name;
  std::vector<Input> inputs;
  std::vector<std::string> outputs;
  std::vector<ScopePtr> scopes;

  /// Null for an input and for a name that is none.
  ScopePtr find(const std::string& tensor) const;
  bool is_output(const std::string& tensor) const;
  /// The index box of an input or of what a scope defines. Throws Refusal for another name.
  const lang::Box& box(const std::string& tensor) const;
  DType type(const std::string& tensor) const;
  /// Is a scope in a loop? Rules other than roll() make no loops and change none.
  bool has_loops() const;
};

/// Does \p scope read elements of its own tensor?
bool reads_itself(const Scope& scope);

/// The element that \p op leaves in place: what an empty reduction gives. Infinite where it is the least or largest.
double neutral(ReductionOp op);
/// "#3".
std::string read_name(std::size_t read);
/// The number in it; nothing for another name.
std::optional<std::size_t> read_number(const lang::ExprPtr& expr);
/// \p body with each read's number k replaced by what \p change gives for it.
lang::ExprPtr with_reads(const lang::ExprPtr& body, const std::function<lang::ExprPtr(std::size_t)>& change);

/// An expression that is rounded to 16 bits, and converted back: float32(bfloat16(value)).
struct RoundedValue {
  DType type;
  lang::ExprPtr value;
};
std::optional<RoundedValue> rounded_value(const lang::ExprPtr& expr);
/// \p value, a float of \p type, rounded to \p half and converted back; as it is without one.
lang::ExprPtr rounded(const lang::ExprPtr& value, const std::optional<DType>& half, DType type);

/// The operators ⊗ that distribute over \p op: "*" over +, "+" and "min" over max, and so on.
std::vector<std::string> distributing(ReductionOp op);
/// "*" of a*b, "min" of min(a, b), "" of what is no such.
std::string operator_of(const lang::ExprPtr& expr);
/// The operands of \p expr under the operator \p times, nested ones too: a*(b*c) gives a, b, c.
std::vector<lang::ExprPtr> factors(const lang::ExprPtr& expr, const std::string& times);
/// Their product.
lang::ExprPtr product(const std::vector<lang::ExprPtr>& factors, const std::string& times);
/// The operator under which \p body is a product of factors, among those that distribute over \p op; "*" or the like
/// where it is a single one.
std::string product_operator(const lang::ExprPtr& body, ReductionOp op);
/// \p body multiplied out: the products of which it is the sum by \p op. A difference adds -1 times what is taken off.
///
///   a * (b + c) - d        a * b, a * c, -1 * d
std::vector<lang::ExprPtr> terms(const lang::ExprPtr& body, ReductionOp op);
/// Their sum by \p op.
lang::ExprPtr sum(const std::vector<lang::ExprPtr>& terms, ReductionOp op);
/// Is read \p read a factor of \p body, alone in it, so that body(⊕ a) = ⊕ body(a)?
bool is_linear(const lang::ExprPtr& body, std::size_t read, ReductionOp op);
/// The reads that \p expr names.
std::set<std::size_t> reads_in(const lang::ExprPtr& expr);

}  // namespace tc::derive
