#include "tc/strategy/grid/copy_gathers.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/base/dtype.h"
#include "tc/polyhedral/core/indirect_reads.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map/copy_dimensions.h"
#include "tc/strategy/cost/vector_runs.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::GridCopy;
using polyhedral::Scop;
using polyhedral::Statement;

constexpr std::int64_t usual_reuse = 8;
/// Blocks whose copies are to fit beside each other.
constexpr std::int64_t usual_blocks = 4;

/// The copies of one statement.
class GatherCopies {
 public:
  GatherCopies(const Scop& scop, const ClusterView& cluster, const ClusterStatement& entry,
               const polyhedral::MappingOptions& options, const GridClusterMapping& mapping)
      : scop_(scop),
        cluster_(cluster),
        entry_(entry),
        statement_(scop.statement(entry.id)),
        ranges_(polyhedral::box(statement_.domain)),
        least_(least_reuse(options)),
        mapping_(mapping) {}

  /// The mapping with as many copies as pay and fit; without any, as it was.
  GridClusterMapping run() {
    if (!stands_alone()) return mapping_;
    auto reads = wanted();
    if (bytes(reads) > mapping_.shared_bytes / usual_blocks) cut(reads);
    while (!reads.empty() && bytes(reads) > mapping_.shared_bytes)
      if (!cut(reads)) reads.pop_back();
    if (reads.empty()) mapping_.blocks = {};
    for (int read : reads) mapping_.copies.push_back(copy(read));
    return mapping_;
  }

 private:
  /// Are its loops its own and run by each thread alone? A copy belongs to one execution of what stands around them.
  bool stands_alone() const {
    bool spread = std::any_of(mapping_.statements.begin(), mapping_.statements.end(),
                              [&](const auto& statement) { return statement.id == entry_.id; });
    return !spread && statement_.body == Statement::Body::Source && !contains(entry_.outer, -1) &&
           std::all_of(entry_.inner.begin(), entry_.inner.end(),
                       [](const auto& loop) { return loop.iterator >= 0 && !loop.shared; });
  }

  std::vector<int> wanted() const {
    std::vector<int> result;
    for (int read = 0; read < static_cast<int>(statement_.reads.size()); ++read) {
      bool indirect = !statement_.reads[read].exact && statement_.reads[read].indirection.has_value();
      if (!indirect || polyhedral::is_subscript(statement_, read)) continue;
      if (polyhedral::copy_dimensions(statement_, read).empty() || is_written(scop_, cluster_, statement_, read))
        continue;
      if (has_partial_vectors(read)) continue;
      if (reuse(read) >= least_ || (least_ <= usual_reuse && strays(read))) result.push_back(read);
    }
    return result;
  }

  std::int64_t extent(int iterator) const { return ranges_.at(iterator).extent(); }
  /// Consecutive values of \p iterator that a block has at once.
  std::int64_t tile(int iterator) const {
    for (std::size_t i = 0; i < entry_.outer.size(); ++i) {
      if (entry_.outer[i] != iterator) continue;
      auto size = i < mapping_.members.size() ? mapping_.members[i].tile : 1;
      return size == 0 ? extent(iterator) : std::min(size, extent(iterator));
    }
    return mapping_.blocks.iterator == iterator ? std::min(mapping_.blocks.size, extent(iterator)) : extent(iterator);
  }
  std::int64_t product(const std::vector<int>& iterators) const {
    std::int64_t result = 1;
    for (int i : iterators) result = count_product(result, tile(i));
    return result;
  }
  std::vector<int> all_iterators() const {
    std::vector<int> result;
    for (std::size_t i = 0; i < ranges_.size(); ++i) result.push_back(static_cast<int>(i));
    return result;
  }
  std::vector<int> iterators(int read) const { return *polyhedral::element_iterators(statement_, read); }

  std::int64_t reuse(int read) const { return product(all_iterators()) / product(iterators(read)); }

  /// Would lanes that do not run reach beyond a copy?
  bool has_partial_vectors(int read) const {
    for (std::size_t i = 0; i < entry_.outer.size() && i < mapping_.members.size(); ++i)
      if (mapping_.others.vector && contains(iterators(read), entry_.outer[i]) &&
          !ranges_[entry_.outer[i]].is_multiple_of(mapping_.members[i].threads.run))
        return true;
    return false;
  }

  /// The iterator that runs along the threads of x; -1 if there is none.
  int neighbours() const {
    for (std::size_t i = 0; i < entry_.outer.size() && i < mapping_.members.size(); ++i)
      if (mapping_.members[i].threads.dimension == 0) return entry_.outer[i];
    return -1;
  }
  /// The iterator along which elements lie side by side, -1 if there is none.
  int contiguous(int read) const {
    for (int i : iterators(read))
      if (polyhedral::known_stride(scop_, statement_.reads[read], i) == 1) return i;
    return -1;
  }
  /// Do neighbouring threads read far apart, each of them elements that lie side by side?
  bool strays(int read) const {
    int along = contiguous(read), x = neighbours();
    bool own = along >= 0 && !contains(entry_.outer, along) && extent(along) >= usual_reuse;
    return own && x >= 0 && contains(iterators(read), x);
  }

  std::int64_t bytes(const std::vector<int>& reads) const {
    std::int64_t result = 0;
    for (int read : reads)
      result += product(iterators(read)) *
                byte_size(scop_.tensor(polyhedral::range_name(statement_.reads[read].relation)).type);
    return result;
  }

  /// Cuts the longest loop of the statement into blocks, if all of \p reads depend on it.
  bool cut(const std::vector<int>& reads) {
    if (mapping_.blocks.iterator >= 0 || !statement_.accumulates) return false;
    int longest = -1;
    for (const auto& loop : entry_.inner)
      if (longest < 0 || extent(loop.iterator) > extent(longest)) longest = loop.iterator;
    if (longest < 0 || extent(longest) <= block_size || ranges_[longest].min % block_size != 0) return false;
    for (int read : reads)
      if (!contains(iterators(read), longest)) return false;
    mapping_.blocks = {statement_.id, longest, block_size};
    return true;
  }

  GridCopy copy(int read) const {
    GridCopy result{statement_.id, read};
    int along = contiguous(read), x = neighbours();
    result.contiguous = contains(iterators(read), x) ? x : along;
    if (along < 0) return result;
    auto run = access_run(scop_, statement_, statement_.reads[read], along);
    bool whole = ranges_[along].is_multiple_of(run) && tile(along) % run == 0 && ranges_[along].min % run == 0;
    if (run == 1 || !whole || !mapping_.others.vector) return result;
    result.run_along = along;
    result.vector = run;
    return result;
  }

  const Scop& scop_;
  const ClusterView& cluster_;
  const ClusterStatement& entry_;
  const Statement& statement_;
  std::vector<polyhedral::Interval> ranges_;
  std::int64_t least_;
  GridClusterMapping mapping_;
};

}  // namespace

std::int64_t least_reuse(const polyhedral::MappingOptions& options) {
  return options.gather_reuse > 0 ? options.gather_reuse : usual_reuse;
}

bool writes(const Scop& scop, const ClusterView& cluster, const std::string& tensor) {
  return std::any_of(cluster.statements.begin(), cluster.statements.end(),
                     [&](const auto& entry) { return polyhedral::touches(scop.statement(entry.id).write, tensor); });
}

bool is_written(const Scop& scop, const ClusterView& cluster, const Statement& statement, int read) {
  auto tensors = polyhedral::tensors_of(statement, read);
  return std::any_of(tensors.begin(), tensors.end(), [&](const auto& tensor) { return writes(scop, cluster, tensor); });
}

void copy_gathers(const Scop& scop, const ClusterView& cluster, const polyhedral::MappingOptions& options,
                  GridClusterMapping& mapping) {
  if (!options.promote || mapping.shared_bytes == 0) return;
  for (const auto& entry : cluster.statements)
    if (mapping.copies.empty()) mapping = GatherCopies(scop, cluster, entry, options, mapping).run();
}

}  // namespace tc::strategy
