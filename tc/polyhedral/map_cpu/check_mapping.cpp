#include "tc/polyhedral/map_cpu/check_mapping.h"

#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/map_cpu/check_cpu_nest.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"

namespace tc::polyhedral {
namespace {

constexpr int most_vectors = 64;

/// The checks of one cluster: what its mapping names is there, and the laws of its nest.
class ClusterCheck {
 public:
  ClusterCheck(const Scop& scop, const ClusterView& view, const ClusterMapping& mapping, std::size_t number)
      : scop_(scop), view_(view), mapping_(mapping), number_(number) {}

  void run() const {
    if (mapping_ == ClusterMapping{}) return;
    check_members();
    check_order();
    check_statements();
    for (const auto& pack : mapping_.packed) check_pack(pack);
    check_cpu_nest(scop_, view_, nest_of(scop_, view_, mapping_),
                   [this](const NestPart&, const std::string&, const std::string& why) { fail(why); });
  }

 private:
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
    for (const auto& member : mapping_.members)
      if (member.block < 0 || member.points < 1) fail("blocks are of 0 or more iterations, tiles of 1 or more");
    if (mapping_.copies.iterator >= 0) check_member(mapping_.copies.iterator, "the lanes of copies");
  }

  void check_order() const {
    if (mapping_.outermost >= 0) check_member(mapping_.outermost, "the outermost loop");
    if (mapping_.parallel && mapping_.outermost < 0) fail("no loop is outermost, so none runs on threads");
    for (int member : mapping_.above) check_member(member, "loops above");
    if (std::set<int>(mapping_.above.begin(), mapping_.above.end()).size() != mapping_.above.size())
      fail("a member is above the copies twice");
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

  /// A loop of its own runs over \p iterator of statement \p id.
  void check_inner(const std::string& id, int iterator, const char* what) const {
    statement(id, iterator);
    const auto& inner = entry(id).inner;
    if (std::none_of(inner.begin(), inner.end(), [&](const InnerLoop& loop) { return loop.iterator == iterator; }))
      fail(str("i", iterator, " of '", id, "' is not ", what, ": it is no loop of a reduction that has its own"));
  }

  void check_statements() const {
    std::set<std::string> seen;
    for (const auto& choice : mapping_.statements) {
      if (!seen.insert(choice.id).second) fail(str("'", choice.id, "' has lanes twice"));
      const auto& outer = entry(choice.id).outer;
      if (choice.iterator >= 0 && std::find(outer.begin(), outer.end(), choice.iterator) == outer.end())
        check_inner(choice.id, choice.iterator, "run along lanes");
      if (choice.unroll < 1 || (choice.unroll & (choice.unroll - 1)) != 0 || choice.unroll > most_vectors)
        fail(str("'", choice.id, "' has ", choice.unroll, " vectors in flight: there are 1, 2, 4, ... ", most_vectors));
    }
    if (mapping_.reduction.iterator >= 0)
      check_inner(mapping_.reduction.statement, mapping_.reduction.iterator, "cut into blocks");
    if (mapping_.dot.iterator >= 0)
      check_inner(mapping_.dot.statement, mapping_.dot.iterator, "summed by instructions");
    check_window();
  }

  void check_window() const {
    const auto& window = mapping_.window;
    if (window.iterator < 0) return;
    check_inner(window.statement, window.iterator, "slid along");
    statement(window.statement, window.row);
    auto extent =
        box(statement(window.statement, window.iterator).domain)[static_cast<std::size_t>(window.iterator)].extent();
    const auto& outer = entry(window.statement).outer;
    if (std::find(outer.begin(), outer.end(), window.row) == outer.end())
      fail("a window slides along a member of the band");
    if (window.width != extent) fail(str("a window is as wide as the loop that slides, ", extent));
  }

  void check_pack(const PackMapping& pack) const {
    const auto& reader = statement(pack.statement, pack.panel);
    if (pack.read >= static_cast<int>(reader.reads.size()))
      fail(str("'", pack.statement, "' has no read ", pack.read, ", it has ", reader.reads.size()));
  }

  const Scop& scop_;
  const ClusterView& view_;
  const ClusterMapping& mapping_;
  std::size_t number_;
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
