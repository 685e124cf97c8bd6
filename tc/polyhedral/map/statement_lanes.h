#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/map/subtree.h"

namespace tc::polyhedral {

/// How an access moves with the lanes: not at all, along one dimension by one, or in another way.
struct AccessLanes {
  int dimension = -1;
  bool scattered = false;
};

/// How \p access moves with lanes along \p iterator of its statement.
///
///   A[i, j], lanes along j      dimension 1      A[i, 2j]      scattered      A[i, k]      dimension -1
AccessLanes lanes_of(const Access& access, int iterator);

/// The member of the band of points of \p statement below \p subtree that becomes its lanes, as \p choice says; nothing
/// where there is none.
std::optional<isl::union_pw_aff> lane_member(const Subtree& subtree, const Statement& statement,
                                             const StatementMapping& choice);

/// Do all lanes of \p statement run, as vectors begin at multiples of them, counted from where the range of the iterator
/// begins, and the range is a multiple of them too? \p member is its lane_member().
bool has_full_vectors(const Statement& statement, const StatementMapping& choice, const isl::union_pw_aff& member);

/// \p value modulo the lanes of \p choice.
isl::union_pw_aff lane_of(const isl::union_pw_aff& value, const StatementMapping& choice);

/// The lanes that the first instances of statements have, each found once.
class FirstLanes {
 public:
  explicit FirstLanes(const Subtree& subtree) : subtree_(subtree) {}
  /// The greatest lane that a lowest instance of \p statement along \p choice would have in a vector that starts with its
  /// tile. A statement has one choice.
  std::int64_t of(const Statement& statement, const StatementMapping& choice);

 private:
  const Subtree& subtree_;
  std::map<std::string, std::int64_t> found_;
};

}  // namespace tc::polyhedral
