#include "tc/polyhedral/map/mapping.h"

#include "tc/base/str.h"
#include "tc/polyhedral/map/decision_text.h"

namespace tc::polyhedral {
namespace {

/// "8x48", or "" when all sizes are \p none.
std::string sizes(const std::vector<MemberMapping>& members, std::int64_t MemberMapping::* size, std::int64_t none) {
  std::string result;
  bool any = false;
  for (const auto& member : members) {
    result += (result.empty() ? "" : "x") + str(member.*size);
    any = any || member.*size != none;
  }
  return any ? result : "";
}

std::string describe(const StatementMapping& statement) {
  if (statement.iterator < 0) return str(statement.id, ": scalar");
  auto result = str(statement.id, ": i", statement.iterator, " x", statement.lanes);
  return statement.unroll > 1 ? str(result, " unroll ", statement.unroll) : result;
}

std::string describe(const PackMapping& pack) {
  auto result = str("pack read ", pack.read, " of ", pack.statement, " in ", pack.panel_last ? "panels" : "rows",
                    " of ", pack.size, " i", pack.panel);
  if (pack.once) result += " once";
  if (pack.below_blocks) result += " below blocks";
  return pack.lanes > 0 ? str(result, " lanes ", pack.lanes) : result;
}

std::string describe(const DotMapping& dot) {
  auto what = str(dot.statement, ": i", dot.iterator, " in ");
  return dot.of_matrices() ? str(what, "products of matrices ", dot.steps, "x", dot.width)
                           : str(what, "dot products of ", dot.width);
}

/// The parts about the cluster's band.
std::vector<std::string> describe_members(const ClusterMapping& cluster) {
  std::vector<std::string> parts;
  if (cluster.outermost >= 0) parts.push_back(str(cluster.parallel ? "parallel " : "outermost ", cluster.outermost));
  auto blocks = sizes(cluster.members, &MemberMapping::block, 0);
  auto points = sizes(cluster.members, &MemberMapping::points, cluster.register_tile ? 0 : 1);
  if (!blocks.empty()) parts.push_back("blocks " + blocks);
  if (!cluster.above.empty()) parts.push_back("above " + join(cluster.above, " "));
  if (cluster.register_tile || !points.empty())
    parts.push_back(str(cluster.register_tile ? "register" : "points", points.empty() ? "" : " ", points));
  if (!cluster.members.empty() && blocks.empty() && points.empty())
    parts.push_back(str("members ", cluster.members.size()));
  return parts;
}

/// Reads one part of a line into \p cluster.
class PartReader {
 public:
  PartReader(DecisionWords& words, ClusterMapping& cluster) : words_(words), cluster_(cluster) {}

  void read() {
    if (words_.take("serial")) return;
    if (auto id = words_.name_before_colon(); !id.empty()) return statement_part(id);
    auto word = words_.word();
    if (word == "parallel" || word == "outermost") return outermost(word == "parallel");
    if (word == "members") return count_members(static_cast<std::size_t>(words_.number()));
    if (word == "blocks") return take_sizes(&MemberMapping::block, 0);
    if (word == "points" || word == "register") return points(word == "register");
    if (word == "above") return above();
    if (word == "stage") return cluster_.staged.push_back(words_.word());
    if (word == "pack") return pack();
    if (word == "copies") return copies();
    words_.fail(str("'", word, "' is not known"));
  }

 private:
  DecisionWords& words_;
  ClusterMapping& cluster_;

  void outermost(bool parallel) {
    cluster_.outermost = words_.small_number();
    cluster_.parallel = parallel;
  }

  /// The most members that a band can have.
  static constexpr std::size_t most_members = 64;

  void count_members(std::size_t count) {
    if (count > most_members) words_.fail(str("a band has at most ", most_members, " members"));
    if (!cluster_.members.empty() && cluster_.members.size() != count) words_.fail("another part has other members");
    cluster_.members.resize(count);
  }

  void take_sizes(std::int64_t MemberMapping::* size, std::int64_t least) {
    auto sizes = words_.sizes(least);
    count_members(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) cluster_.members[i].*size = sizes[i];
  }

  void points(bool register_tile) {
    cluster_.register_tile = register_tile;
    if (!register_tile || !words_.at_end()) take_sizes(&MemberMapping::points, 1);
  }

  void above() {
    do cluster_.above.push_back(words_.small_number());
    while (!words_.at_end());
  }

  /// What stands behind "S0:".
  void statement_part(const std::string& id) {
    if (words_.take("scalar")) return cluster_.statements.push_back({id});
    int iterator = words_.small_number("i");
    if (words_.take("in blocks of")) {
      cluster_.reduction = {id, iterator, words_.number("", 1)};
    } else if (words_.take("in dot products of")) {
      cluster_.dot = {id, iterator, words_.small_number("", 1)};
    } else if (words_.take("in products of matrices")) {
      matrices(id, iterator);
    } else if (words_.take("slides along")) {
      window(id, iterator);
    } else {
      StatementMapping statement{id, iterator, words_.small_number("x", 1)};
      if (words_.take("unroll")) statement.unroll = words_.small_number("", 1);
      cluster_.statements.push_back(statement);
    }
  }

  void matrices(const std::string& id, int iterator) {
    auto sizes = words_.sizes(1);
    if (sizes.size() != 2 || sizes[0] < 2 || sizes[0] > 1024 || sizes[1] > 1024)
      words_.fail("products of matrices have 2 to 1024 steps of a width up to 1024");
    cluster_.dot = {id, iterator, static_cast<int>(sizes[1]), static_cast<int>(sizes[0])};
  }

  void window(const std::string& id, int iterator) {
    WindowMapping window{id, iterator, words_.small_number("i")};
    words_.expect("width");
    window.width = words_.small_number("", 1);
    words_.expect("step");
    window.step = words_.small_number("", 1);
    cluster_.window = window;
  }

  void pack() {
    PackMapping pack;
    words_.expect("read");
    pack.read = words_.small_number();
    words_.expect("of");
    pack.statement = words_.word();
    words_.expect("in");
    pack.panel_last = words_.take("panels");
    if (!pack.panel_last) words_.expect("rows");
    words_.expect("of");
    pack.size = words_.number("", 1);
    pack.panel = words_.small_number("i");
    pack.once = words_.take("once");
    pack.below_blocks = words_.take("below blocks");
    if (words_.take("lanes")) pack.lanes = words_.small_number("", 1);
    cluster_.packed.push_back(pack);
  }

  void copies() {
    words_.expect("along");
    cluster_.copies = {"", words_.small_number()};
    cluster_.copies.lanes = words_.small_number("x", 1);
  }
};

}  // namespace

std::string to_string(const ClusterMapping& cluster) {
  auto parts = describe_members(cluster);
  for (const auto& statement : cluster.statements) parts.push_back(describe(statement));
  for (const auto& tensor : cluster.staged) parts.push_back("stage " + tensor);
  const auto& reduction = cluster.reduction;
  if (reduction.iterator >= 0)
    parts.push_back(str(reduction.statement, ": i", reduction.iterator, " in blocks of ", reduction.size));
  if (cluster.dot.iterator >= 0) parts.push_back(describe(cluster.dot));
  const auto& window = cluster.window;
  if (window.iterator >= 0)
    parts.push_back(str(window.statement, ": i", window.iterator, " slides along i", window.row, " width ",
                        window.width, " step ", window.step));
  for (const auto& pack : cluster.packed) parts.push_back(describe(pack));
  if (cluster.copies.iterator >= 0)
    parts.push_back(str("copies along ", cluster.copies.iterator, " x", cluster.copies.lanes));
  return parts.empty() ? "serial" : join(parts);
}

StatementMapping ClusterMapping::statement(const std::string& id) const {
  for (const auto& candidate : statements)
    if (candidate.id == id) return candidate;
  return StatementMapping{id};
}

std::string to_string(const Mapping& mapping) {
  std::string result;
  for (const auto& cluster : mapping.clusters) result += to_string(cluster) + "\n";
  return mapping.buffer_bytes > 0 ? str(result, "buffers ", mapping.buffer_bytes, "\n") : result;
}

Mapping parse_mapping(const std::string& text) {
  Mapping result;
  bool cluster = true;
  read_decision(
      text, [&](std::size_t) { cluster = true; },
      [&](DecisionWords& words) {
        if (words.take("buffers")) {
          result.buffer_bytes = words.number();
          return;
        }
        if (cluster) result.clusters.emplace_back();
        cluster = false;
        PartReader(words, result.clusters.back()).read();
      });
  return result;
}

}  // namespace tc::polyhedral
