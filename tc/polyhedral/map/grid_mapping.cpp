#include "tc/polyhedral/map/grid_mapping.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/map/decision_text.h"

namespace tc::polyhedral {
namespace {

std::string describe(const std::array<std::int64_t, 3>& extent) {
  int last = extent[2] > 1 ? 2 : extent[1] > 1 ? 1 : 0;
  auto text = str(extent[0]);
  for (int i = 1; i <= last; ++i) text += str("x", extent[i]);
  return text;
}

std::string describe(const ThreadLoop& threads) {
  auto text = threads.dimension < 0 ? "" : str(" threads ", axes[threads.dimension]);
  if (threads.run > 1) text += str(" run ", threads.run);
  if (threads.count > 0) text += str(" of ", threads.count);
  const auto& warps = threads.warps;
  return warps.dimension < 0 ? text
                             : str(text, " warps ", axes[warps.dimension], " run ", warps.run, " of ", warps.count);
}

std::string describe_beside(std::int64_t count) { return count > 1 ? str(" beside ", count) : ""; }

std::string describe_flags(const GridStatement& statement) {
  std::string flags;
  if (statement.together) flags += " together";
  if (statement.tile) flags += " tile";
  if (statement.vector) flags += " vector";
  if (statement.unroll) flags += " unroll";
  return flags;
}

/// The parts of \p statement: one for each of its loops and one for its flags.
std::string describe(const GridStatement& statement) {
  std::string text;
  for (const auto& loop : statement.loops)
    text += str(", ", statement.id, ": i", loop.iterator, describe(loop.threads), describe_beside(loop.beside));
  const auto& unit = statement.unit;
  if (!unit.name.empty())
    text += str(", ", statement.id, ": i", unit.rows, " i", unit.columns, " i", unit.steps, " in products of matrices ",
                unit.name);
  auto flags = describe_flags(statement);
  if (flags.empty() && unit.name.empty() && statement.loops.empty()) flags = " plain";
  return flags.empty() ? text : str(text, ", ", statement.id, ":", flags);
}

std::string describe(const GridCopy& copy, bool ahead) {
  return str(", copy read ", copy.read, " of ", copy.statement,
             copy.contiguous >= 0 ? str(" along i", copy.contiguous) : "",
             copy.run_along >= 0 ? str(" run i", copy.run_along) : "",
             copy.vector > 1 ? str(" vector ", copy.vector) : "", describe_beside(copy.beside),
             copy.way == GridCopy::Way::Asynchronous ? " asynchronous"
             : ahead                                 ? " by registers"
                                                     : "");
}

/// What a kernel may use, where it is not what one has by default.
std::string describe_limits(const GridClusterMapping& cluster) {
  const GridClusterMapping plain;
  std::string text;
  if (cluster.thread_elements != plain.thread_elements) text += str(", thread elements ", cluster.thread_elements);
  if (cluster.shared_bytes != plain.shared_bytes) text += str(", shared bytes ", cluster.shared_bytes);
  if (cluster.blocks_per_multiprocessor != plain.blocks_per_multiprocessor)
    text += str(", blocks per multiprocessor ", cluster.blocks_per_multiprocessor);
  return text;
}

/// Reads one part of a line into \p cluster.
class GridPartReader {
 public:
  GridPartReader(DecisionWords& words, GridClusterMapping& cluster) : words_(words), cluster_(cluster) {}

  void read() {
    if (auto id = words_.name_before_colon(); !id.empty()) return statement_part(id);
    if (words_.take("separate full tiles")) return void(cluster_.separate = true);
    if (words_.take("thread elements")) return void(cluster_.thread_elements = words_.number());
    if (words_.take("shared bytes")) return void(cluster_.shared_bytes = words_.number());
    if (words_.take("blocks per multiprocessor"))
      return void(cluster_.blocks_per_multiprocessor = words_.small_number());
    if (words_.take("copy read")) return copy();
    auto word = words_.word();
    if (word == "grid" || word == "block") return extents(word == "grid" ? cluster_.grid : cluster_.block);
    if (word == "member") return member();
    if (word == "stage") return cluster_.staged.push_back(words_.word());
    if (word == "promote") return cluster_.promoted.push_back(words_.word());
    words_.fail(str("'", word, "' is not known"));
  }

 private:
  DecisionWords& words_;
  GridClusterMapping& cluster_;

  void extents(std::array<std::int64_t, 3>& extents) {
    auto sizes = words_.sizes(1);
    if (sizes.size() > extents.size()) words_.fail("there are three dimensions");
    extents = {1, 1, 1};
    std::copy(sizes.begin(), sizes.end(), extents.begin());
  }

  int axis() {
    auto name = words_.word();
    for (int i = 0; i < 3; ++i)
      if (name == axes[i]) return i;
    words_.fail(str("'", name, "' is none of x, y, z"));
  }

  ThreadLoop thread_loop() {
    ThreadLoop loop;
    if (words_.take("threads")) loop.dimension = axis();
    if (words_.take("run")) loop.run = words_.number("", 1);
    if (words_.take("of")) loop.count = words_.number("", 1);
    if (!words_.take("warps")) return loop;
    loop.warps.dimension = axis();
    words_.expect("run");
    loop.warps.run = words_.number("", 1);
    words_.expect("of");
    loop.warps.count = words_.number("", 1);
    return loop;
  }

  void member() {
    if (words_.small_number() != static_cast<int>(cluster_.members.size())) words_.fail("members stand in their order");
    GridMember member;
    words_.expect("tile");
    member.tile = words_.number();
    if (words_.take("blocks")) member.grid = axis();
    member.threads = thread_loop();
    cluster_.members.push_back(member);
  }

  GridStatement& statement_of(const std::string& id) {
    if (id == "others") return cluster_.others;
    for (auto& statement : cluster_.statements)
      if (statement.id == id) return statement;
    cluster_.statements.push_back({id, {}});
    return cluster_.statements.back();
  }

  /// What stands behind "S0:": flags, a reduction in blocks, or a loop.
  void statement_part(const std::string& id) {
    if (words_.take("plain")) return void(statement_of(id));
    bool any = false;
    auto flag = [&](const char* name, bool GridStatement::* member) {
      if (!words_.take(name)) return;
      any = statement_of(id).*member = true;
    };
    flag("together", &GridStatement::together);
    flag("tile", &GridStatement::tile);
    flag("vector", &GridStatement::vector);
    flag("unroll", &GridStatement::unroll);
    if (any) return;
    int iterator = words_.small_number("i");
    if (int columns = -1; words_.take_number("i", columns)) {
      const int steps = words_.small_number("i");
      words_.expect("in products of matrices");
      statement_of(id).unit = {words_.word(), iterator, columns, steps};
      return;
    }
    if (!words_.take("in blocks of")) return loop(statement_of(id), iterator);
    cluster_.blocks = {id, iterator, words_.number("", 1)};
    if (words_.take("slots")) cluster_.blocks.slots = words_.small_number("", 1);
  }

  void loop(GridStatement& statement, int iterator) {
    statement.loops.push_back({iterator, thread_loop()});
    if (words_.take("beside")) statement.loops.back().beside = words_.number("", 1);
  }

  void copy() {
    GridCopy copy;
    copy.read = words_.small_number();
    words_.expect("of");
    copy.statement = words_.word();
    if (words_.take("along")) copy.contiguous = words_.small_number("i");
    if (words_.take("run")) copy.run_along = words_.small_number("i");
    if (words_.take("vector")) copy.vector = words_.number("", 1);
    if (words_.take("beside")) copy.beside = words_.number("", 1);
    if (words_.take("asynchronous"))
      copy.way = GridCopy::Way::Asynchronous;
    else
      words_.take("by registers");
    cluster_.copies.push_back(copy);
  }
};

}  // namespace

GridStatement GridClusterMapping::statement(const std::string& id) const {
  for (const auto& candidate : statements)
    if (candidate.id == id) return candidate;
  auto result = others;
  result.id = id;
  return result;
}

std::string to_string(const GridClusterMapping& cluster) {
  auto text = str("grid ", describe(cluster.grid), ", block ", describe(cluster.block));
  for (std::size_t i = 0; i < cluster.members.size(); ++i) {
    const auto& member = cluster.members[i];
    text += str(", member ", i, " tile ", member.tile, member.grid >= 0 ? str(" blocks ", axes[member.grid]) : "",
                describe(member.threads));
  }
  for (const auto& statement : cluster.statements) text += describe(statement);
  if (auto flags = describe_flags(cluster.others); !flags.empty()) text += ", others:" + flags;
  const auto& blocks = cluster.blocks;
  if (blocks.iterator >= 0)
    text += str(", ", blocks.statement, ": i", blocks.iterator, " in blocks of ", blocks.size,
                blocks.slots > 1 ? str(" slots ", blocks.slots) : "");
  for (const auto& copy : cluster.copies) text += describe(copy, blocks.slots > 1);
  if (cluster.separate) text += ", separate full tiles";
  for (const auto& tensor : cluster.staged) text += ", stage " + tensor;
  for (const auto& tensor : cluster.promoted) text += ", promote " + tensor;
  return text + describe_limits(cluster);
}

std::string to_string(const GridMapping& mapping) {
  std::string text;
  for (const auto& cluster : mapping.clusters) text += to_string(cluster) + "\n";
  return text;
}

GridMapping parse_grid_mapping(const std::string& text) {
  GridMapping result;
  read_decision(
      text, [&](std::size_t) { result.clusters.emplace_back(); },
      [&](DecisionWords& words) { GridPartReader(words, result.clusters.back()).read(); });
  return result;
}

}  // namespace tc::polyhedral
