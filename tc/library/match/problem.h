#pragma once

#include <set>
#include <vector>

#include "tc/library/match/pairing.h"

namespace tc::library {

/// Where an element lies in memory, as elements from the first one of its tensor.
struct Address {
  std::size_t argument = 0;
  DType type = DType::Float32;
  Affine function;
  /// Of each subscript: its iterators, and the tensor's stride.
  std::vector<std::set<int>> together;
  std::vector<std::int64_t> strides;
};

/// An iterator of the user's def, and what it belongs to.
struct Counter {
  int id = 0;
  std::int64_t extent = 0;
  std::size_t scope = 0;  ///< 0: of the result; from 1 on the scopes of a pairing
};

/// A user's def that has the form of a routine, by addresses: how tensors were subscripted no longer matters.
struct Problem {
  std::vector<Counter> counters;
  std::vector<Address> reads;     ///< as in Pairing::reads
  std::vector<Address> post_ops;  ///< what post-ops read
  Address result;
  std::vector<Conditions> conditions;  ///< as in Pairing::conditions
};

/// The problem of \p pairing in \p given, whose post-ops read \p post_ops. Iterators of extent 1 are gone; two that run
/// through memory as one in every tensor are one.
///
///   A(m, 4*k1 + k2) * B(k1, k2, n), B dense       A(m, k) * B(k, n)
Problem make_problem(const Computation& given, const Pairing& pairing, const std::vector<Read>& post_ops);

}  // namespace tc::library
