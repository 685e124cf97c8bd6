#include "tc/layout/rewrite/reindex.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"
#include "tc/lang/syntax/lexer.h"

namespace tc::layout {

using namespace lang;

namespace {

bool is_identifier(const std::string& name) {
  Diagnostics none(name, "");
  const auto tokens = tokenize(name, none);
  return tokens.front().kind == TokenKind::Identifier && !find_builtin(name);
}

class Reindexer {
 public:
  Reindexer(const SizedStatement& statement, const PlacedTensors& tensors, std::set<std::string> taken)
      : statement_(statement), target_(tensors.at(statement.assignment.target)), tensors_(tensors), taken_(taken) {}

  Reindexing run() {
    const auto left = left_iterators(statement_.assignment);
    for (const auto& [name, range] : statement_.ranges)
      if (!contains_name(left, name)) taken_.insert(name);
    reindex_left(left);
    for (const auto& name : statement_.assignment.reduction_iterators) reindex_reduced(name);
    return result_;
  }

 private:
  static bool contains_name(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  /// An iterator called \p base or nearly so, for values in \p range.
  std::string make_iterator(const std::string& base, const IntegerRange& range) {
    std::string name = base;
    for (int i = 1; taken_.count(name) || !is_identifier(name); ++i) name = str(base, "_", i);
    taken_.insert(name);
    result_.ranges[name] = range;
    return name;
  }

  void keep(const std::string& name, std::vector<std::string>& list) {
    result_.ranges[name] = statement_.ranges.at(name);
    result_.values[name] = index_of(name);
    list.push_back(name);
    taken_.insert(name);
  }

  void reindex_left(const std::vector<std::string>& left);
  void reindex_reduced(const std::string& name);
  std::vector<std::int64_t> blocks_of(const std::string& name) const;
  void collect_blocks(const ExprPtr& expr, const std::string& name, std::set<std::int64_t>& sizes) const;

  const SizedStatement& statement_;
  const PlacedTensor& target_;
  const PlacedTensors& tensors_;
  std::set<std::string> taken_;
  Reindexing result_;
};

void Reindexer::reindex_left(const std::vector<std::string>& left) {
  for (std::size_t d = 0; d < left.size(); ++d)
    result_.whole = result_.whole && statement_.ranges.at(left[d]) == target_.box[d];
  if (!target_.map) {
    for (const auto& name : left) keep(name, result_.left);
    return;
  }
  const auto names = target_.map->names(left);
  std::vector<Index> places;
  for (std::size_t d = 0; d < names.size(); ++d) {
    result_.left.push_back(make_iterator(names[d], {0, target_.map->physical()[d]}));
    places.push_back(index_of(result_.left.back()));
  }
  Origin origin = target_.map->origin(places, result_.ranges);
  result_.outside = std::move(origin.conditions);
  for (std::size_t d = 0; d < left.size(); ++d) {
    Index value = origin.indices[d];
    value.constant += target_.box[d].min;
    const IntegerRange range = statement_.ranges.at(left[d]);
    if (!(range == target_.box[d])) result_.outside.push_back({value, range.min, range.min + range.extent});
    result_.values[left[d]] = value;
  }
}

/// Adds the sizes of the blocks of each dimension in \p expr whose subscript is \p name, counted from the first element.
void Reindexer::collect_blocks(const ExprPtr& expr, const std::string& name, std::set<std::int64_t>& sizes) const {
  for_each_expr(expr, [&](const ExprPtr& part) {
    const auto* access = std::get_if<Access>(&part->node);
    const auto tensor = access ? tensors_.find(access->tensor) : tensors_.end();
    if (tensor == tensors_.end() || !tensor->second.map) return;
    for (std::size_t d = 0; d < access->subscripts.size(); ++d) {
      const auto* alone = std::get_if<Name>(&access->subscripts[d]->node);
      if (!alone || alone->id != name || tensor->second.box[d].min != 0) continue;
      for (const auto size : tensor->second.map->blocks(d)) sizes.insert(size);
    }
  });
}

/// Sizes of blocks in which \p name is cut, each a multiple of the next. None where it runs over nothing: blocks would reduce, and
/// initialise, what it does not.
std::vector<std::int64_t> Reindexer::blocks_of(const std::string& name) const {
  std::set<std::int64_t> sizes;
  collect_blocks(statement_.assignment.rhs, name, sizes);
  const IntegerRange range = statement_.ranges.at(name);
  std::vector<std::int64_t> chain;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size)
    if (*size < range.min + range.extent && (chain.empty() || chain.back() % *size == 0)) chain.push_back(*size);
  const bool partial = !chain.empty() && (range.min % chain[0] != 0 || (range.min + range.extent) % chain[0] != 0);
  const auto op = statement_.assignment.reduction;
  if (range.extent <= 0 || range.min < 0 || (partial && (op == ReductionOp::Min || op == ReductionOp::Max)))
    chain.clear();
  return chain;
}

void Reindexer::reindex_reduced(const std::string& name) {
  const auto chain = blocks_of(name);
  if (chain.empty()) return keep(name, result_.reduced);
  const IntegerRange range = statement_.ranges.at(name);
  const std::int64_t end = range.min + range.extent;
  Index value;
  std::int64_t below = 0;
  for (std::size_t level = 0; level <= chain.size(); ++level) {
    const std::int64_t unit = level < chain.size() ? chain[level] : 1;
    const std::int64_t first = level == 0 ? range.min / unit : 0;
    const IntegerRange digit{first, level == 0 ? ceil_div(end, unit) - first : below / unit};
    const bool two = chain.size() == 1;
    const std::string base = two ? name + (level == 0 ? "o" : "i") : str(name, level);
    result_.reduced.push_back(make_iterator(base, digit));
    value.add(index_of(result_.reduced.back()), unit);
    below = unit;
  }
  result_.values[name] = value;
  if (range.min % chain[0] != 0 || end % chain[0] != 0) result_.beyond.push_back({value, range.min, end});
}

}  // namespace

Reindexing reindex(const SizedStatement& statement, const PlacedTensors& tensors, const std::set<std::string>& taken) {
  return Reindexer(statement, tensors, taken).run();
}

ExprPtr value_of(const Index& index) {
  const ExprPtr made = to_expr(index);
  return index.terms.empty() ? make_expr(Cast{DType::Int64, made, false}) : made;
}

}  // namespace tc::layout
