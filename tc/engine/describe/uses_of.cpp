#include "tc/engine/describe/uses_of.h"

#include <cctype>

namespace tc::engine {
namespace {

using polyhedral::Access;
using polyhedral::Statement;

std::string buffer_of(const Access& access) {
  return polyhedral::range_name(access.function.is_null() ? access.relation : access.function.as_map());
}

std::set<std::string> buffers_read(const Statement& statement) {
  std::set<std::string> result;
  for (const auto& read : statement.reads) result.insert(buffer_of(read));
  if (statement.accumulates) result.insert(buffer_of(statement.write));
  return result;
}

/// Does \p added, which a pass has added, run for \p other: a copy into a buffer for those that read it, an identity for those that accumulate
/// into it, any other one for those whose results it takes?
bool serves(const Statement& added, const Statement& other, const polyhedral::Scop& scop) {
  if (&added == &other) return false;
  const auto written = buffer_of(added.write);
  const bool is_local = scop.tensor(written).storage == polyhedral::Tensor::Storage::Local;
  if (added.body == Statement::Body::Identity) return other.accumulates && buffer_of(other.write) == written;
  if (added.body == Statement::Body::Copy && !added.accumulates && is_local)
    return buffers_read(other).count(written) > 0;
  return buffers_read(added).count(buffer_of(other.write)) > 0;
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

/// A name in a text, and what stands behind it.
struct Word {
  std::string name;
  char next = 0;
  std::size_t begin = 0;
};

std::vector<Word> words(const std::string& line) {
  std::vector<Word> result;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (!is_name(line[at])) continue;
    auto end = at;
    while (end < line.size() && is_name(line[end])) ++end;
    result.push_back({line.substr(at, end - at), end < line.size() ? line[end] : '\0', at});
    at = end;
  }
  return result;
}

std::size_t indentation(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

/// The statements of the uses that the buffers named in \p line are of: of a declaration all that use what it declares.
std::set<std::string> statements_of(const std::string& line, const std::vector<cpu::BufferUse>& uses) {
  const auto assignment = line.find(" = ");
  std::string written;
  std::set<std::string> loaded, users;
  for (const auto& word : words(line)) {
    const bool is_first = word.begin == indentation(line) && word.next == '[' && assignment != std::string::npos;
    for (const auto& use : uses) {
      if (use.written != word.name && use.read.count(word.name) == 0) continue;
      users.insert(use.statements.begin(), use.statements.end());
      if (is_first)
        written = word.name;
      else
        loaded.insert(word.name);
    }
  }
  if (written.empty() && line.find('(') == std::string::npos && assignment == std::string::npos) return users;
  return users.empty() ? users : cpu::owners(uses, written, loaded);
}

/// Gives each of \p lines that has no statements, or all, those of the lines below it that stand further to the right.
void mark_blocks(std::vector<MarkedLine>& lines, bool all) {
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    if (line->text.empty() || (!all && !line->statements.empty())) continue;
    for (auto inner = line + 1; inner != lines.end() && indentation(inner->text) > indentation(line->text); ++inner)
      line->statements.insert(inner->statements.begin(), inner->statements.end());
  }
}

}  // namespace

std::map<std::string, std::set<std::string>> run_for(const polyhedral::Scop& scop, const std::set<std::string>& ids) {
  std::map<std::string, std::set<std::string>> result;
  for (const auto& statement : scop.statements) {
    if (statement.body == Statement::Body::Copy) continue;
    if (ids.count(statement.id) > 0)
      result[statement.id] = {statement.id};
    else if (ids.count(statement.source) > 0)
      result[statement.id] = {statement.source};
  }
  std::vector<const Statement*> added;
  for (const auto& statement : scop.statements)
    if (result.count(statement.id) == 0) added.push_back(&statement);
  for (std::size_t round = 0; round < added.size(); ++round)
    for (const auto* statement : added)
      for (const auto& other : scop.statements)
        if (const auto found = result.find(other.id); found != result.end() && serves(*statement, other, scop))
          result[statement->id].insert(found->second.begin(), found->second.end());
  return result;
}

std::vector<cpu::BufferUse> uses_of(const polyhedral::Scop& scop, const std::set<std::string>& ids) {
  const auto whose = run_for(scop, ids);
  std::vector<cpu::BufferUse> uses;
  for (const auto& statement : scop.statements) {
    const auto found = whose.find(statement.id);
    if (found == whose.end()) continue;
    uses.push_back({found->second, buffer_of(statement.write), buffers_read(statement)});
  }
  return uses;
}

std::vector<MarkedLine> marked_source(const std::string& text, const std::vector<cpu::BufferUse>& uses) {
  auto lines = unmarked_lines(text);
  for (auto& line : lines) line.statements = statements_of(line.text, uses);
  mark_blocks(lines, true);
  for (std::size_t i = lines.size(); i-- > 1;)
    if (lines[i - 1].text.find("#pragma") != std::string::npos) lines[i - 1].statements = lines[i].statements;
  return lines;
}

std::vector<MarkedLine> marked_names(const std::string& text,
                                     const std::map<std::string, std::set<std::string>>& for_which) {
  auto lines = unmarked_lines(text);
  for (auto& line : lines)
    for (const auto& word : words(line.text))
      if (const auto found = for_which.find(word.name); found != for_which.end())
        line.statements.insert(found->second.begin(), found->second.end());
  mark_blocks(lines, false);
  return lines;
}

}  // namespace tc::engine
