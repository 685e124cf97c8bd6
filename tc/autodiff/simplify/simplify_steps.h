#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/autodiff/access/guards.h"
#include "tc/autodiff/reverse/step.h"

/// Passes that make the text of a gradient what a person would write. Each keeps the values over the real numbers.
namespace tc::autodiff {

/// A tensor and the product that each of its elements is.
struct Definition {
  std::string tensor;
  DType type = DType::Float32;
  std::vector<IteratorRange> left;
  Term product;
};

/// Definitions, and which of them hold a function, by outline() of the first in them.
struct Definitions {
  std::vector<Definition> all;
  std::map<std::string, std::vector<std::size_t>> by_function;
};

/// What the statements of \p forward define by single products with a function in them.
Definitions product_definitions(const Forward& forward);

/// Replaces functions in products by the names of definitions that hold them, where that is cheaper and divides by nothing
/// new, which might be 0.
///
///   O(n,d) = exp(I(n,d) - top(n)) / total(n)     d(n,d) * exp(I(n,d) - top(n)) / total(n)    becomes   d(n,d) * O(n,d)
std::vector<Step> use_names(std::vector<Step> steps, const Definitions& definitions, GuardProver& prover);

/// Takes factors that no reduction iterator is in out of unguarded sums.
///
///   d(n) +=! g(n,c) * X(n,c) / t(n)     becomes     s(n) +=! g(n,c) * X(n,c)    d(n) = s(n) / t(n)
std::vector<Step> hoist_factors(std::vector<Step> steps, FreshNames& names);

/// Leaves out what is multiplied by a sum of differences from the mean, which is 0.
///
///   mean(n) = Σ_c X(n,c) / C     s(n) +=! X(n,c) - mean(n)    d(n) += s(n) * v(n)     becomes    s(n) +=! ...
std::vector<Step> drop_centred_sums(std::vector<Step> steps, const Forward& forward);

/// Writes pointwise values in place of their names where all readers together get cheaper.
std::vector<Step> inline_pointwise(std::vector<Step> steps, const Definitions& definitions, GuardProver& prover);

/// Adds up in one statement what several following each other add to a tensor by the same iterators, where that is short.
///
///   d(n) = g(n) + g(n)   d(n) += g(n)     becomes     d(n) = 3 * g(n)
std::vector<Step> join_sums(std::vector<Step> steps);

/// Reads an earlier pointwise statement in place of a value that is equal to it.
///
///   e(n,m) = c(n,m) ? g(n,m) : 0   b(m) +=! c(n,m) ? g(n,m) : 0     becomes     ...   b(m) +=! e(n,m)
std::vector<Step> share_values(std::vector<Step> steps, GuardProver& prover);

/// Names functions in unguarded values that need fewer iterators than their statements.
///
///   d(n,c) = g(n,c) * rsqrt(v(n) + 1e-5)     becomes     f(n) = rsqrt(v(n) + 1e-5)    d(n,c) = g(n,c) * f(n)
std::vector<Step> name_invariants(std::vector<Step> steps, FreshNames& names, GuardProver& prover);

/// One range a dimension of tensors; names in them say nothing.
using Boxes = std::map<std::string, std::vector<IteratorRange>>;

/// Gives residues of coordinates iterators of their own, so that neighbouring elements of a loop are computed alike, and
/// copies the sums to where they belong. What guards do not choose among is summed before. \p boxes are those of tensors
/// that no step writes.
///
///   d(p) +=! g(m, p/2 - q) * w(m, p%2 + 2*q)    becomes    s(h,k) +=! g(m,h) * w(m,k)
///                                                          r(t,u) +=! s(u - q, t + 2*q)    d(p) = r(p%2, p/2)
std::vector<Step> split_residues(std::vector<Step> steps, FreshNames& names, GuardProver& prover, Boxes boxes);

/// The steps that \p results depend on.
std::vector<Step> without_dead(const std::vector<Step>& steps, const std::vector<std::string>& results);

}  // namespace tc::autodiff
