#pragma once

#include <set>
#include <vector>

#include "tc/library/description/call.h"
#include "tc/library/match/pairing.h"

namespace tc::library {

/// Where an element lies in memory, as elements from the first one of its tensor.
struct Address {
  std::size_t argument = 0;
  DType type = DType::Float32;
  Affine function;
  /// Of each subscript: its iterators, and the tensor's stride and extent.
  std::vector<std::set<int>> together;
  std::vector<std::int64_t> strides, extents;
};

/// An iterator of the user's def, and what it belongs to.
struct Counter {
  int id = 0;
  std::int64_t extent = 0;
  std::size_t scope = 0;  ///< 0: of the result; from 1 on the scopes of a pairing
};

/// Two counters that a problem has as one, outer * size + inner, where tensors hold what they run through in blocks.
struct Join {
  int outer = 0, inner = 0;  ///< the joined counter is called `inner`
  std::int64_t size = 0;

  bool operator==(const Join&) const = default;
};

/// A user's def that has the form of a routine, by addresses: how tensors were subscripted no longer matters.
struct Problem {
  std::vector<Counter> counters;
  std::vector<Address> reads;     ///< as in Pairing::reads
  std::vector<Address> post_ops;  ///< what post-ops read
  Address result;
  std::vector<Conditions> conditions;  ///< as in Pairing::conditions
  std::vector<Join> joins{};           ///< a function's factor of `outer` is that of joined / size

  /// The join that \p counter is; null where it is a counter of the def.
  const Join* join_of(int counter) const;
};

/// The problem of \p pairing in \p given, whose post-ops read \p post_ops. Iterators of extent 1 are gone; two that run
/// through memory as one in every tensor are one.
///
///   A(m, 4*k1 + k2) * B(k1, k2, n), B dense       A(m, k) * B(k, n)
Problem make_problem(const Computation& given, const Pairing& pairing, const std::vector<Read>& post_ops);

/// The blocks in which \p address of \p problem runs along \p counter, of size 0 without any.
Block block_of_counter(const Problem& problem, const Address& address, int counter);
/// Adds to \p operand, which gets \p dimensions in all, the one along which \p counter of \p problem runs through \p address; null: none
/// does.
void add_dimension(Operand& operand, const Problem& problem, const Address& address, const Counter* counter,
                   std::size_t dimensions);

/// \p problem with one or more pairs of its counters joined, in all ways, the fewest joins first: two that run through the same
/// tensors, each alone in its subscripts, or both of them in one as the joined counter does.
///
///   X(n,co,ci) * W(oo,co,ci,oi), blocks of 16        X(n, c) * W(o, c), where c = 16*co + ci and o = 16*oo + oi
std::vector<Problem> joined_problems(const Problem& problem);

}  // namespace tc::library
