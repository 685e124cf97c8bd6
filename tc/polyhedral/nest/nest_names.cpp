#include "tc/polyhedral/nest/nest_names.h"

#include <algorithm>
#include <cctype>

#include "tc/base/contains.h"
#include "tc/base/str.h"

namespace tc::polyhedral {
namespace {

bool is_word(const std::string& name) {
  auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), fits);
}

std::vector<std::string> iterators_of(const Statement& statement) {
  auto result = statement.iterators;
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!is_word(result[i])) result[i] = str("i", i);
  return result;
}

std::vector<std::string> reads_of(const Statement& statement) {
  std::vector<std::string> tensors, result;
  for (const auto& read : statement.reads) tensors.push_back(range_name(read.relation));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    bool alone = std::count(tensors.begin(), tensors.end(), tensors[i]) == 1;
    result.push_back(alone ? tensors[i] : str(tensors[i], "#", i));
  }
  return result;
}

std::string member_name(const NestNames& names, const ClusterView& cluster, std::size_t member) {
  std::string result = str("i", member);
  for (std::size_t s = 0; s < names.statements.size(); ++s)
    if (auto along = cluster.statements[s].outer[member]; along >= 0) {
      result = names.statements[s].iterators[static_cast<std::size_t>(along)];
      break;
    }
  return contains(names.members, result) ? str(result, "_", member) : result;
}

}  // namespace

std::string NestNames::name(const NestIndex& index, int branch) const {
  if (index.statement < 0) return members.at(static_cast<std::size_t>(index.number));
  const auto& statement = statements.at(static_cast<std::size_t>(index.statement));
  const auto& name = statement.iterators.at(static_cast<std::size_t>(index.number));
  bool clear = index.statement == branch && !contains(members, name);
  return clear ? name : str(statement.id, ".", name);
}

std::optional<NestIndex> NestNames::find(const std::string& name, int branch) const {
  auto in = [](const std::vector<std::string>& names, const std::string& wanted) {
    auto found = std::find(names.begin(), names.end(), wanted);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
  };
  if (int member = in(members, name); member >= 0) return NestIndex{-1, member};
  auto dot = name.find('.');
  int statement = dot == std::string::npos ? branch : position(name.substr(0, dot));
  if (statement < 0) return std::nullopt;
  int number = in(statements[static_cast<std::size_t>(statement)].iterators,
                  dot == std::string::npos ? name : name.substr(dot + 1));
  return number < 0 ? std::nullopt : std::optional(NestIndex{statement, number});
}

int NestNames::position(const std::string& id) const {
  for (std::size_t i = 0; i < statements.size(); ++i)
    if (statements[i].id == id) return static_cast<int>(i);
  return -1;
}

std::string NestNames::shown(const std::string& name) const {
  for (const auto& [of_scop, of_text] : tensors)
    if (of_scop == name) return of_text;
  return name;
}

std::string NestNames::tensor(const std::string& shown) const {
  for (const auto& [of_scop, of_text] : tensors)
    if (of_text == shown) return of_scop;
  return shown;
}

NestNames nest_names(const Scop& scop, const ClusterView& cluster) {
  NestNames result;
  for (const auto& entry : cluster.statements) {
    const auto& statement = scop.statement(entry.id);
    result.statements.push_back({entry.id, iterators_of(statement), reads_of(statement)});
  }
  for (std::size_t member = 0; member < cluster.members.size(); ++member)
    result.members.push_back(member_name(result, cluster, member));
  if (!cluster.in_strips()) return result;
  for (int iterator : cluster.statements.front().around)
    result.around.push_back(result.statements.front().iterators.at(static_cast<std::size_t>(iterator)));
  return result;
}

NestNames positional_nest_names(const Scop& scop, const ClusterView& cluster) {
  NestNames result;
  const auto numbered = [](const char* letter, std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(str(letter, i));
    return names;
  };
  for (const auto& entry : cluster.statements) {
    const auto& statement = scop.statement(entry.id);
    result.statements.push_back(
        {entry.id, numbered("i", statement.iterators.size()), numbered("r", statement.reads.size())});
  }
  result.members = numbered("m", cluster.members.size());
  if (cluster.in_strips()) result.around = numbered("a", cluster.around.size());
  for (std::size_t t = 0; t < scop.tensors.size(); ++t) result.tensors.emplace_back(scop.tensors[t].name, str("t", t));
  return result;
}

}  // namespace tc::polyhedral
