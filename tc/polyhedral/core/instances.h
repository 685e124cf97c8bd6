#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"

/// Statements and accesses that passes derive from those of a scop.
namespace tc::polyhedral {

/// Does \p set, bounded, have all points of its box that share a tile with one of its own, of \p tiles[d] values of dimension d from the
/// least one on?
///
///   { [n, b] : 0 <= 64 b <= n < 256 }       tiles of 64 or 32 values of n: yes        of 128: no
bool is_of_whole_tiles(const isl::set& set, const std::vector<std::int64_t>& tiles);
/// "i0, i1, ...": names for \p count dimensions.
std::vector<std::string> dimension_names(int count, const std::string& prefix = "i");
/// The dimensions of \p statement its write depends on, in order; the others are reduced.
std::vector<int> kept_dimensions(const Statement& statement);
/// An exact access from the relation \p relation, a function on its domain.
Access exact_access(const isl::map& relation);
/// \p access to \p tensor in place of its own tensor, at the same index.
Access redirect(const Access& access, const std::string& tensor);
/// \p element of \p tensor, where indices behind its end are its last ones.
isl::pw_multi_aff clamped(const isl::pw_multi_aff& element, const Tensor& tensor);
/// \p statement with the instances \p domain, which \p from takes to those it has.
Statement moved(const Statement& statement, const isl::multi_aff& from, const isl::set& domain);
/// Does \p access touch \p tensor?
bool touches(const Access& access, const std::string& tensor);
/// All accesses of \p statement, the write first.
std::vector<Access*> accesses(Statement& statement);
std::vector<const Access*> accesses(const Statement& statement);
/// \p wish without primes, with underscores appended until no tensor and no statement of \p scop has this name.
std::string unused_name(const Scop& scop, const std::string& wish);
std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& extent);

}  // namespace tc::polyhedral
