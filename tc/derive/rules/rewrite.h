#pragma once

#include <string>
#include <vector>

#include "tc/derive/proof/certificate.h"

/// What rules are made of. A rule changes one scope X and leaves what the tensor X holds as it is, so that its certificate
/// is about X alone: where it wants other values, it defines a new tensor T, and X is copied from T. fuse() then takes X
/// out of what reads it.
namespace tc::derive {

/// A program, and why it equals the one before.
struct Step {
  std::string rule;
  std::string what;  ///< to which tensor and iterators it was applied
  Program after;
  Certificate certificate;
  std::vector<std::string> copies = {};  ///< tensors that are copies of new ones: to be fused
};

/// \p wish, or \p wish with a number behind it, which nothing in \p program is called.
std::string fresh_tensor(const Program& program, const std::string& wish);
/// The same for an iterator of a scope that has \p taken ones.
std::string fresh_iterator(const Program& program, const std::vector<std::string>& taken, const std::string& wish);

/// \p program with \p scopes in place of the one that defines \p tensor.
Program with_scopes(const Program& program, const std::string& tensor, std::vector<Scope> scopes);
/// The scope that defines \p tensor. Throws Refusal where rules may not change it: it is not uniform, or there is none.
const Scope& changeable(const Program& program, const std::string& tensor);

/// \p tensor of \p like, copied from \p source: tensor(x) = source(at(x)) where x is in \p domain.
Scope copy_of(const Scope& like, const std::string& source, const isl::multi_aff& at, const isl::set& domain);
/// "#0".
lang::ExprPtr only_read();
/// \p part with the reads that its body names, and no others.
Case with_used_reads(const Case& part);

/// The ranges of all iterators of \p scope: the tensor's box, the hull of what is summed.
lang::Box iterator_box(const Scope& scope);
/// The elements of \p scope that some instance writes: { [left iterators] }.
isl::set written_cells(const Scope& scope);
/// The instances of \p part for which all reads are inside of their tensors.
isl::set reads_inside(const Program& program, const Case& part);
/// The names \p scope gives to \p dimensions, and those of the left or summed dimensions as numbers.
std::vector<std::string> names_of(const Scope& scope, const std::vector<int>& dimensions);
std::vector<int> left_dimensions(const Scope& scope);
std::vector<int> summed_dimensions(const Scope& scope);

/// The dimensions of \p scope, of one case, that have the same part in it as \p dimension: both are summed with the same range, or both are
/// of the tensor, with the same factors beside the same ones in the same reads, and no subscript together, as the two of a square window or
/// of an image. \p ranges is iterator_box().
std::vector<int> alike_dimensions(const Scope& scope, int dimension, const lang::Box& ranges);

/// { c<from>[x] -> c<to>[function(x)] }, of terms where \p name is that of one.
isl::union_map link(std::size_t from, std::size_t to, const isl::multi_aff& function,
                    std::string (*name)(std::size_t) = case_name);
/// The certificate that takes case k of \p tensor to case k by \p functions[k].
Certificate by_cases(const std::string& tensor, const std::vector<isl::multi_aff>& functions);
/// The same function for each of \p cases cases.
Certificate by_cases(const std::string& tensor, std::size_t cases, const isl::multi_aff& function);

}  // namespace tc::derive
