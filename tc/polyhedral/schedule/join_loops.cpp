#include "tc/polyhedral/schedule/join_loops.h"

#include <algorithm>
#include <optional>
#include <set>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::polyhedral {
namespace {

/// A reader more iterations later needs more slots than are worth it.
constexpr std::int64_t longest_distance = 8;

class Joiner {
 public:
  Joiner(const Scop& scop, const StatementGraph& graph, const std::vector<Unit>& units, const Free& free,
         std::size_t depth, const FusionCriterion& criterion)
      : scop_(scop), graph_(graph), units_(units), free_(free), depth_(depth), criterion_(criterion) {}

  std::vector<Unit> run() const {
    std::vector<Unit> result;
    for (std::size_t first = 0; first < units_.size();) {
      const auto last = end_of_loop(first);
      auto joined = units_[first];
      for (auto unit = first + 1; unit <= last; ++unit)
        joined.insert(joined.end(), units_[unit].begin(), units_[unit].end());
      std::sort(joined.begin(), joined.end());
      result.push_back(std::move(joined));
      first = last + 1;
    }
    return result;
  }

 private:
  const Statement& at(int statement) const { return scop_.statements[static_cast<std::size_t>(statement)]; }

  std::optional<int> loop_of(std::size_t unit) const {
    const auto& loops = at(units_[unit].front()).loops;
    if (loops.size() <= depth_) return std::nullopt;
    return loops[depth_].id;
  }
  int iterator_of(const Statement& statement) const { return statement.loops[depth_].iterator; }
  bool is_in(const Statement& statement, int loop) const {
    return statement.loops.size() > depth_ && statement.loops[depth_].id == loop;
  }

  /// The last of the units that run in one loop with \p first: readers of its temporaries, readers of theirs, and so on.
  std::size_t end_of_loop(std::size_t first) const {
    if (!loop_of(first)) return first;
    auto last = first;
    for (auto unit = first; unit <= last; ++unit)
      for (const int statement : units_[unit]) {
        const auto reader = last_reader(unit, at(statement), *loop_of(first));
        last = std::max(last, reader);
      }
    return last > first && pays(first, last) ? last : first;
  }

  /// The last unit of the loop that reads the temporary that \p writer, of \p unit, writes; \p unit where slots would not do, or the
  /// temporary fits the caches.
  std::size_t last_reader(std::size_t unit, const Statement& writer, int loop) const {
    const auto& tensor = scop_.tensor(range_name(writer.write.relation));
    if (tensor.storage != Tensor::Storage::Workspace || tensor.live_in || tensor.live_out) return unit;
    std::int64_t bytes = byte_size(tensor.type);
    for (const auto extent : tensor.extent) bytes *= std::max<std::int64_t>(extent, 1);
    if (criterion_.fits_caches(bytes)) return unit;
    const int dimension = dimension_of(writer);
    if (dimension < 0) return unit;
    for (const auto& statement : scop_.statements)
      for (const auto& read : statement.reads)
        if (touches(read, tensor.name) && !reads_few(statement, read, dimension, loop)) return unit;
    auto last = unit;
    for (auto other = unit; other < units_.size() && loop_of(other) == loop; ++other)
      for (const int statement : units_[other])
        for (const auto& read : at(statement).reads)
          if (touches(read, tensor.name)) last = other;
    return last;
  }

  /// The dimension of what \p writer writes that the loop runs over; -1 without one.
  int dimension_of(const Statement& writer) const {
    if (!writer.write.exact || !writer.write.function.isa_multi_aff()) return -1;
    const auto function = writer.write.function.as_multi_aff();
    for (unsigned d = 0; d < function.size(); ++d)
      if (only_iterator(isl::union_pw_aff(function.at(static_cast<int>(d))), writer.domain) == iterator_of(writer))
        return static_cast<int>(d);
    return -1;
  }

  /// Does \p read, of \p statement, find elements of a few iterations only: of the last ones in the loop, of one outside of it?
  bool reads_few(const Statement& statement, const Access& read, int dimension, int loop) const {
    if (!read.exact || !read.function.isa_multi_aff()) return false;
    auto index = isl::union_pw_aff(read.function.as_multi_aff().at(dimension));
    if (is_in(statement, loop)) {
      const auto own = statement.domain.space().identity_multi_aff_on_domain();
      index = index.sub(isl::union_pw_aff(isl::multi_aff(own).at(iterator_of(statement))));
    }
    const auto instances = read.relation.domain().to_union_set();
    if (instances.is_empty()) return true;
    const auto range = values(index, instances);
    return is_in(statement, loop) ? range.min >= -longest_distance && range.max <= 0 : range.min == range.max;
  }

  /// Is one loop of the units from \p first to \p last better than loops of their own?
  bool pays(std::size_t first, std::size_t last) const {
    std::vector<int> statements;
    for (auto unit = first; unit <= last; ++unit)
      statements.insert(statements.end(), units_[unit].begin(), units_[unit].end());
    std::sort(statements.begin(), statements.end());
    auto rows = align(graph_, statements, free_);
    std::erase_if(rows, [&](const Row& row) { return !keeps_loops(graph_, row); });
    if (rows.empty()) return false;
    return std::all_of(statements.begin(), statements.end(),
                       [&](int statement) { return reads_little(statement, rows); });
  }

  /// Does \p statement read no more of data that all iterations share, in one iteration of \p rows, than it writes and others read back?
  bool reads_little(int statement, const Rows& rows) const {
    const auto& node = graph_.nodes[static_cast<std::size_t>(statement)];
    std::set<int> outside{iterator_of(at(statement))};
    for (const auto& row : rows) outside.insert(row.terms.at(statement).iterator);
    const auto elements = [&](const auto& involves) {
      std::int64_t count = 1;
      for (int d = 0; d < node.size(); ++d)
        if (!outside.count(d) && involves(d)) count *= node.extent[static_cast<std::size_t>(d)];
      return count;
    };
    const auto kept = kept_dimensions(at(statement));
    const auto written = elements([&](int d) { return std::find(kept.begin(), kept.end(), d) != kept.end(); });
    const auto& reads = at(statement).reads;
    return std::all_of(reads.begin(), reads.end(), [&](const Access& read) {
      if (!read.exact || read.function.is_null()) return false;
      const auto involves = [&](int d) {
        return isl_pw_multi_aff_involves_dims(read.function.get(), isl_dim_in, static_cast<unsigned>(d), 1) ==
               isl_bool_true;
      };
      return involves(iterator_of(at(statement))) || elements(involves) <= 2 * written;
    });
  }

  const Scop& scop_;
  const StatementGraph& graph_;
  const std::vector<Unit>& units_;
  const Free& free_;
  const std::size_t depth_;
  const FusionCriterion& criterion_;
};

}  // namespace

std::vector<Unit> join_loops(const Scop& scop, const StatementGraph& graph, const std::vector<Unit>& units,
                             const Free& free, std::size_t depth, const FusionCriterion& criterion) {
  return Joiner(scop, graph, units, free, depth, criterion).run();
}

}  // namespace tc::polyhedral
