#include "tc/polyhedral/map_cpu/check_mapping.h"

#include <algorithm>
#include <set>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map_cpu/pack.h"
#include "tc/polyhedral/map_cpu/ragged_lanes.h"

namespace tc::polyhedral {
namespace {

/// Instances that are unrolled at most, lanes of a vector and vectors in flight.
constexpr std::int64_t most_unrolled = 4096;
constexpr int most_lanes = 64;
constexpr int most_vectors = 64;

bool is_power_of_two(int number) { return number > 0 && (number & (number - 1)) == 0; }

/// The checks of one cluster.
class ClusterCheck {
 public:
  ClusterCheck(const Scop& scop, const ClusterView& view, const ClusterMapping& mapping, std::size_t number)
      : scop_(scop), view_(view), mapping_(mapping), number_(number) {}

  void run() const {
    if (mapping_ == ClusterMapping{}) return;
    check_members();
    check_order();
    for (const auto& statement : mapping_.statements) check_lanes(statement);
    check_once();
    for (const auto& tensor : mapping_.staged)
      if (!scop_.has_tensor(tensor)) fail(str("there is no tensor '", tensor, "' to stage"));
    if (mapping_.reduction.iterator >= 0)
      check_reduced(mapping_.reduction.statement, mapping_.reduction.iterator, "cut into blocks");
    check_dot();
    check_window();
    for (const auto& pack : mapping_.packed) check_pack(pack);
    if (mapping_.copies.iterator >= 0) check_member(mapping_.copies.iterator, "the lanes of copies");
    if (mapping_.copies.iterator >= 0) check_count(mapping_.copies.lanes, "copies have");
  }

 private:
  const Scop& scop_;
  const ClusterView& view_;
  const ClusterMapping& mapping_;
  std::size_t number_;

  [[noreturn]] void fail(const std::string& why) const {
    throw OptionsError(str("the mapping of cluster ", number_, " cannot be carried out: ", why));
  }

  int members() const { return static_cast<int>(view_.members.size()); }
  void check_member(int member, const char* what) const {
    if (member >= members()) fail(str(what, " name member ", member, ", the cluster has ", members()));
  }

  void check_members() const {
    if (static_cast<int>(mapping_.members.size()) != members())
      fail(str("it has sizes for ", mapping_.members.size(), " members, the cluster has ", members()));
    std::int64_t unrolled = 1;
    for (const auto& member : mapping_.members) {
      if (member.block < 0 || member.points < 1) fail("blocks are of 0 or more iterations, tiles of 1 or more");
      if (mapping_.register_tile)
        unrolled = std::min(unrolled, most_unrolled) * std::min(member.points, most_unrolled + 1);
      if (!view_.permutable && members() > 1 && (member.block > 0 || member.points > 1) && !is_coincident())
        fail("the members of its band may not be interchanged, so they are not tiled");
    }
    if (unrolled > most_unrolled) fail(str("a register tile has at most ", most_unrolled, " points"));
  }

  bool is_coincident() const {
    auto coincident = band_coincident(node_at(scop_.schedule, view_.path));
    return std::all_of(coincident.begin(), coincident.end(), [](bool one) { return one; });
  }

  void check_order() const {
    if (mapping_.outermost >= 0) check_member(mapping_.outermost, "the outermost loop");
    if (mapping_.parallel && mapping_.outermost < 0) fail("no loop is outermost, so none runs on threads");
    if (mapping_.parallel && view_.in_strips()) fail("it runs in strips, and the loop around these runs on threads");
    if (mapping_.parallel &&
        !band_coincident(node_at(scop_.schedule, view_.path)).at(static_cast<std::size_t>(mapping_.outermost)))
      fail(str("member ", mapping_.outermost, " carries a dependence, so it does not run on threads"));
    for (int member : mapping_.above) check_member(member, "loops above");
    if (std::set<int>(mapping_.above.begin(), mapping_.above.end()).size() != mapping_.above.size())
      fail("a member is above the copies twice");
    bool moves = mapping_.outermost > 0 || !mapping_.above.empty();
    if (moves && !view_.permutable && !is_coincident()) fail("the members of its band may not be interchanged");
  }

  /// Lanes are a power of two, at most 64.
  void check_count(int lanes, const std::string& what) const {
    if (!is_power_of_two(lanes) || lanes > most_lanes)
      fail(str(what, " ", lanes, " lanes: they have 1, 2, 4, ... ", most_lanes));
  }

  const ClusterStatement& entry(const std::string& id) const {
    for (const auto& entry : view_.statements)
      if (entry.id == id) return entry;
    std::vector<std::string> known;
    for (const auto& statement : view_.statements) known.push_back(statement.id);
    fail(str("it has no statement '", id, "' but ", join(known)));
  }

  const Statement& statement(const std::string& id, int iterator) const {
    const auto& result = scop_.statement(entry(id).id);
    auto count = static_cast<int>(result.iterators.size());
    if (iterator >= count) fail(str("'", id, "' has no iterator i", iterator, ", it has ", count));
    return result;
  }

  /// \p iterator is a loop of the reduction that \p id is.
  void check_reduced(const std::string& id, int iterator, const char* what) const {
    const auto& update = statement(id, iterator);
    const auto& found = entry(id);
    bool own = std::any_of(found.inner.begin(), found.inner.end(),
                           [&](const InnerLoop& loop) { return loop.iterator == iterator && !loop.shared; });
    if (!own || !reduces_alone(update, found) || contains(kept_dimensions(update), iterator))
      fail(str("i", iterator, " of '", id, "' is not ", what, ": it is no loop of a reduction that has its own"));
  }

  void check_lanes(const StatementMapping& choice) const {
    if (choice.iterator < 0) return void(entry(choice.id));
    const auto& found = entry(choice.id);
    const auto& mapped = statement(choice.id, choice.iterator);
    check_count(choice.lanes, str("'", choice.id, "' has"));
    if (!is_power_of_two(choice.unroll) || choice.unroll > most_vectors)
      fail(str("'", choice.id, "' has ", choice.unroll, " vectors in flight: there are 1, 2, 4, ... ", most_vectors));
    if (has_ragged_lanes(mapped, choice.iterator))
      fail(str("lanes of '", choice.id, "' along i", choice.iterator,
               " would begin anywhere: another iterator bounds it from below"));
    if (contains(found.outer, choice.iterator)) return;
    auto loop = std::find_if(found.inner.begin(), found.inner.end(),
                             [&](const InnerLoop& inner) { return inner.iterator == choice.iterator; });
    if (loop == found.inner.end()) fail(str("no loop runs along i", choice.iterator, " of '", choice.id, "'"));
    if (mapped.accumulates && !contains(kept_dimensions(mapped), choice.iterator))
      return check_reduced(choice.id, choice.iterator, "run along lanes");
    if (!loop->coincident)
      fail(str("the loop along i", choice.iterator, " of '", choice.id,
               "' carries a dependence, so no lanes run along it"));
  }

  void check_once() const {
    std::set<std::string> seen;
    for (const auto& statement : mapping_.statements)
      if (!seen.insert(statement.id).second) fail(str("'", statement.id, "' has lanes twice"));
    seen.clear();
    for (const auto& tensor : mapping_.staged)
      if (!seen.insert(tensor).second) fail(str("'", tensor, "' is staged twice"));
  }

  void check_dot() const {
    const auto& dot = mapping_.dot;
    if (dot.iterator < 0) return;
    check_reduced(dot.statement, dot.iterator, "summed by instructions");
    if (std::int64_t{dot.width} * dot.steps > most_unrolled)
      fail(str("dot products have at most ", most_unrolled, " terms"));
  }

  void check_window() const {
    const auto& window = mapping_.window;
    if (window.iterator < 0) return;
    check_reduced(window.statement, window.iterator, "slid along");
    statement(window.statement, window.row);
    if (!contains(entry(window.statement).outer, window.row)) fail("a window slides along a member of the band");
    auto extent = box(scop_.statement(window.statement).domain)[static_cast<std::size_t>(window.iterator)].extent();
    if (window.width != extent) fail(str("a window is as wide as the loop that slides, ", extent));
    if (extent > most_unrolled) fail(str("a window is at most ", most_unrolled, " wide"));
  }

  void check_pack(const PackMapping& pack) const {
    const auto& reader = statement(pack.statement, pack.panel);
    if (pack.read >= static_cast<int>(reader.reads.size()))
      fail(str("'", pack.statement, "' has no read ", pack.read, ", it has ", reader.reads.size()));
    auto tensor = range_name(reader.reads[pack.read].relation);
    if (!contains(index_iterators(reader, pack.read), pack.panel))
      fail(str("read ", pack.read, " of '", pack.statement, "' cannot be copied in panels of i", pack.panel,
               ": its indices are not iterators, i", pack.panel, " among them"));
    for (const auto& writer : view_.statements)
      if (touches(scop_.statement(writer.id).write, tensor))
        fail(str("'", tensor, "' is not copied: '", writer.id, "' writes it"));
    check_count(pack.lanes, "copies have");
    if (pack.size > most_unrolled) fail(str("panels are of at most ", most_unrolled, " iterations"));
  }
};

}  // namespace

void check_mapping(const ClusteredScop& clustered, const Mapping& mapping) {
  if (mapping.clusters.size() != clustered.clusters.size())
    throw OptionsError(str("the mapping has lines for ", mapping.clusters.size(), " clusters, the program has ",
                           clustered.clusters.size()));
  for (std::size_t i = 0; i < mapping.clusters.size(); ++i)
    ClusterCheck(clustered.scop, clustered.clusters[i], mapping.clusters[i], i).run();
}

}  // namespace tc::polyhedral
