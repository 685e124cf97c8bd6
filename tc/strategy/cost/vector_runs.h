#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::strategy {

/// Bytes that a thread of a GPU moves at once, at most.
inline constexpr std::int64_t widest_access = 16;

/// Does \p access of \p statement, which moves by one element along \p iterator, begin at a multiple of \p run elements
/// of its tensor wherever the other iterators are?
bool is_aligned(const polyhedral::Scop& scop, const polyhedral::Statement& statement, const polyhedral::Access& access,
                int iterator, std::int64_t run);

/// The largest power of two, at most \p most, one itself, at a multiple of which it begins so; \p box holds the statement's
/// instances.
int aligned_run(const polyhedral::Scop& scop, const std::vector<polyhedral::Interval>& box,
                const polyhedral::Access& access, int iterator, int most);

/// How many consecutive iterations along \p iterator one thread should take so that each access of \p statement is to
/// one element, or to consecutive ones that begin where a vector of them may: as many elements of the widest type as
/// are moved at once. 1 where an access lies otherwise or is conditional.
///
///   C[i, j] = A[i, j] + B[j], rows of 4096 floats    4 along j      A[i, j + 1], or rows of 4095    1
std::int64_t vector_run(const polyhedral::Scop& scop, const polyhedral::Statement& statement, int iterator);

/// The same of one access alone, which moves by one element.
std::int64_t access_run(const polyhedral::Scop& scop, const polyhedral::Statement& statement,
                        const polyhedral::Access& access, int iterator);

}  // namespace tc::strategy
