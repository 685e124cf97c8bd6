#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"

/// Reads through index tensors, T[l + I[i, j], k], and others whose subscripts are not affine. What such a read finds
/// is not known before the program runs, but that it is the same in all instances with the same i, j, k and l is: a
/// copy of it is indexed by these.
///
///   before  U[m, n, k]: C[m, n] += T[I[m], k] * B[k, n]
///   after   copy_T[m, k]: block_T[m, k] = T[I[m], k]        U[m, n, k]: C[m, n] += block_T[m, k] * B[k, n]
namespace tc::polyhedral {

/// The iterators of \p statement on which the element depends that its read number \p read reads, in order; nothing
/// where they are not known, or where values of tensors decide whether it is read.
std::optional<std::vector<int>> element_iterators(const Statement& statement, int read);

/// Is read number \p read of \p statement in a subscript of another one that element_iterators knows?
bool is_subscript(const Statement& statement, int read);

/// The tensors that read number \p read touches, those in its subscripts first.
std::vector<std::string> tensors_of(const Statement& statement, int read);

/// Do the iterators alone tell subscript number \p dimension of \p access?
bool is_told(const Access& access, int dimension);

/// Subscript number \p dimension of \p access as an affine function, nothing where it is none or depends on data.
std::optional<isl::aff> affine_subscript(const Access& access, int dimension);

/// Elements in memory from one iteration of dimension \p iterator to the next, or unknown_stride. Subscripts that
/// depend on data are taken not to move with it.
std::int64_t known_stride(const Scop& scop, const Access& access, int iterator);

/// Makes \p copy, whose domain is its own to become, move what read number \p read of \p reader finds.
///
/// \param instances { reader -> copy }: the copy that serves an instance; \param like { copy -> reader }: an instance
/// with the same element, not necessarily of the domain.
void move_indirect_read(const Statement& reader, int read, const isl::map& instances, const isl::multi_aff& like,
                        Statement& copy);

/// \p statement after its read number \p read went to a copy, which \p access reads: what stands in its subscripts is
/// not read any more.
void read_copy(Statement& statement, int read, const Access& access);

}  // namespace tc::polyhedral
