#include "tc/polyhedral/map/mapping.h"

#include "tc/base/str.h"

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
  auto result = str(statement.id, ": i", statement.iterator, " x", statement.lanes);
  return statement.unroll > 1 ? str(result, " unroll ", statement.unroll) : result;
}

std::string describe(const PackMapping& pack) {
  auto rows = pack.panel_last ? "panels of " : "rows of ";
  return str("pack read ", pack.read, " of ", pack.statement, " in ", rows, pack.size, " i", pack.panel,
             pack.once           ? " once"
             : pack.below_blocks ? " below blocks"
                                 : "");
}

std::string describe(const ClusterMapping& cluster) {
  std::vector<std::string> parts;
  if (cluster.outermost >= 0) parts.push_back(str(cluster.parallel ? "parallel " : "outermost ", cluster.outermost));
  auto blocks = sizes(cluster.members, &MemberMapping::block, 0);
  auto points = sizes(cluster.members, &MemberMapping::points, 1);
  if (!blocks.empty()) parts.push_back("blocks " + blocks);
  if (!cluster.above.empty()) parts.push_back("above " + join(cluster.above));
  if (!points.empty()) parts.push_back((cluster.register_tile ? "register " : "points ") + points);
  for (const auto& statement : cluster.statements)
    if (statement.iterator >= 0) parts.push_back(describe(statement));
  for (const auto& tensor : cluster.staged) parts.push_back("stage " + tensor);
  if (cluster.reduction.iterator >= 0)
    parts.push_back(
        str(cluster.reduction.statement, ": i", cluster.reduction.iterator, " in blocks of ", cluster.reduction.size));
  if (cluster.dot.of_matrices())
    parts.push_back(str(cluster.dot.statement, ": i", cluster.dot.iterator, " in products of matrices, ",
                        cluster.dot.steps, "x", cluster.dot.width));
  else if (cluster.dot.iterator >= 0)
    parts.push_back(str(cluster.dot.statement, ": i", cluster.dot.iterator, " in dot products of ", cluster.dot.width));
  if (cluster.window.iterator >= 0)
    parts.push_back(
        str(cluster.window.statement, ": i", cluster.window.iterator, " slides along i", cluster.window.row));
  for (const auto& pack : cluster.packed) parts.push_back(describe(pack));
  std::string result;
  for (const auto& part : parts) result += (result.empty() ? "" : ", ") + part;
  return result.empty() ? "serial" : result;
}

}  // namespace

StatementMapping ClusterMapping::statement(const std::string& id) const {
  for (const auto& candidate : statements)
    if (candidate.id == id) return candidate;
  return StatementMapping{id};
}

std::string to_string(const Mapping& mapping) {
  std::string result;
  for (const auto& cluster : mapping.clusters) result += describe(cluster) + "\n";
  return result;
}

}  // namespace tc::polyhedral
