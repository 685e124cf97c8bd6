#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"

/// Views of a schedule for the passes that map it.
namespace tc::polyhedral {

/// The integers from \p min to \p max; none where \p max is less.
struct Interval {
  std::int64_t min = 0, max = -1;
  bool symbolic = false;      ///< symbolic sizes decide which of them there are in a run
  std::int64_t multiple = 1;  ///< a power of two of which their number is a multiple in every run, if it is `symbolic`
  /// Number of integers in it.
  std::int64_t extent() const { return max - min + 1; }
  /// Is their number a multiple of \p size in every run?
  bool is_multiple_of(std::int64_t size) const {
    return size == 1 || (extent() % size == 0 && (!symbolic || multiple % size == 0));
  }
};

/// A band member above a statement, below the cluster's outer band.
struct InnerLoop {
  int iterator = -1;  ///< the dimension of the statement's domain it runs over; -1: a constant or several
  bool coincident = false;
  bool shared = false;  ///< other statements stand below the same band
};

/// A statement within a cluster.
struct ClusterStatement {
  std::string id;
  std::vector<int> outer;        ///< for each member of the outer band, as InnerLoop::iterator
  std::vector<InnerLoop> inner;  ///< outermost first
  std::vector<int> around = {};  ///< in a strip: its iterators of the loops around the strip
};

/// A part of the schedule that starts with a band: statements that share an outer band of coincident members.
struct ClusterView {
  std::vector<int> path;          ///< child positions from the schedule's root to its first node
  std::vector<Interval> members;  ///< the values each member of the outer band takes; empty without a coincident band
  bool permutable = false;
  /// In strips (fuse_in_strips.h): the values of the loops around a strip, outermost first, which is the one on threads.
  std::vector<Interval> around;
  std::vector<ClusterStatement> statements;  ///< in the order of the schedule

  bool in_strips() const { return !around.empty(); }
};

/// Does \p entry, of \p statement, accumulate in loops of its own, and in nothing but these, without reading what it
/// accumulates? Loops that it shares below the outer band run over iterators of its result.
bool reduces_alone(const Statement& statement, const ClusterStatement& entry);

/// The clusters of scop.schedule in order: the subtrees below its outermost sequences, and below the sequences of strips, which a mark
/// `parallel` stands above.
std::vector<ClusterView> cluster_views(const Scop& scop);

/// Is \p member of the outer band of \p cluster, in the schedule of \p scop, one iterator, as it is, of every statement,
/// with the same range in all?
bool is_one_iterator(const Scop& scop, const ClusterView& cluster, int member);

/// The node at \p path below the root of \p schedule.
isl::schedule_node node_at(const isl::schedule& schedule, const std::vector<int>& path);
/// Child positions from the root to \p node.
std::vector<int> path_of(const isl::schedule_node& node);
/// The statement instances that reach \p node.
isl::union_set instances_at(const isl::schedule_node& node);
/// The statements that stand below \p node.
std::vector<std::string> statement_ids(const isl::schedule_node& node);
/// The deepest node of \p schedule below which all of \p statements stand.
isl::schedule_node common_node(const isl::schedule& schedule, const std::vector<std::string>& statements);
/// A band with the given members at \p node, which becomes its child; permutable. \p coincident may be shorter.
isl::schedule_node insert_band(const isl::schedule_node& node, const std::vector<isl::union_pw_aff>& members,
                               const std::vector<bool>& coincident);
/// The members of a band, and which of them are coincident.
std::vector<isl::union_pw_aff> band_members(const isl::schedule_node& band);
std::vector<bool> band_coincident(const isl::schedule_node& band);

/// floor(value / size), and value - size * floor(value / size).
isl::union_pw_aff quotient(const isl::union_pw_aff& value, std::int64_t size);
isl::union_pw_aff remainder(const isl::union_pw_aff& value, std::int64_t size);
/// The only iterator of \p domain that \p function involves; -1 when there is none or more than one.
int only_iterator(const isl::union_pw_aff& function, const isl::set& domain);
/// The values \p function takes on \p domain.
Interval values(const isl::union_pw_aff& function, const isl::union_set& domain);
/// How many of \p range, the values of \p function on \p domain, there are from its first on, as a text of isl over symbolic sizes;
/// nothing where that is not affine in them.
std::optional<std::string> extent_text(const Interval& range, const isl::union_pw_aff& function,
                                       const isl::union_set& domain);
/// Interval::multiple ends here: no tile is larger.
inline constexpr std::int64_t largest_multiple = 256;
/// The box of \p domain.
std::vector<Interval> box(const isl::set& domain);
/// How many values dimension \p i of \p domain takes from its least one on, in the runs with the fewest; of a box.
std::int64_t least_extent(const isl::set& domain, int i);
/// How many instances a statement of \p domain has, which is a box; at most `most_counted`.
std::int64_t instance_count(const isl::set& domain);
/// Elements in memory from one iteration of dimension \p iterator to the next; `unknown_stride` where that is no
/// constant.
inline constexpr std::int64_t unknown_stride = INT64_MIN;
std::int64_t stride(const Scop& scop, const Access& access, int iterator);
/// How an access moves along an iterator whose quotient and remainder by `size` index it, as in a tensor in blocks: by
/// `inside` elements from one iteration to the next of a block, by `between` from one block to the next.
struct BlockedStride {
  std::int64_t size = 0, inside = 0, between = 0;
};
/// Nothing where \p access has a stride along \p iterator, or moves in another way.
///
///   W[o, c] = K[o/16, c, o%16], 64 of c        along o: {16, 1, 1024}
std::optional<BlockedStride> blocked_stride(const Scop& scop, const Access& access, int iterator);
/// The same of \p function instead of a place in memory.
std::optional<BlockedStride> blocked_stride(const isl::aff& function, int iterator);
/// The most lanes along \p iterator, a power of two and at most \p lanes, in which \p access moves by a constant: all
/// where its stride is one; fewer where it is indexed by digits of the iterator (collapse.h), whose extents then are
/// multiples of the lanes.
int even_lanes(const Scop& scop, const Access& access, int iterator, int lanes);

}  // namespace tc::polyhedral
