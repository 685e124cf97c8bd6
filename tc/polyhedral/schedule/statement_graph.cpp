#include "tc/polyhedral/schedule/statement_graph.h"

#include <algorithm>
#include <memory>
#include <numeric>

namespace tc::polyhedral {
namespace {

using Vector = std::vector<std::int64_t>;

/// An equation's row divided by its greatest common divisor.
void normalise(Vector& row) {
  std::int64_t divisor = 0;
  for (auto value : row) divisor = std::gcd(divisor, value);
  if (divisor > 1)
    for (auto& value : row) value /= divisor;
}

/// row := row - multiple of \p pivot such that the entry at \p column vanishes. False on overflow.
bool eliminate(Vector& row, const Vector& pivot, std::size_t column) {
  auto a = pivot[column], b = row[column];
  if (b == 0) return true;
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::int64_t left, right;
    if (__builtin_mul_overflow(row[i], a, &left) || __builtin_mul_overflow(pivot[i], b, &right) ||
        __builtin_sub_overflow(left, right, &row[i]))
      return false;
  }
  normalise(row);
  return true;
}

/// The equations that hold on a map, { S[x] -> T[y] }: columns existentials, x, y, constant; in echelon form.
class Equations {
 public:
  explicit Equations(const isl::map& pairs)
      : inputs_(isl_map_dim(pairs.get(), isl_dim_in)), outputs_(isl_map_dim(pairs.get(), isl_dim_out)) {
    auto hull = call(pairs.ctx(), isl_map_affine_hull, pairs.copy());
    auto ctx = pairs.ctx();
    std::unique_ptr<isl_mat, decltype(&isl_mat_free)> matrix(
        isl_basic_map_equalities_matrix(hull.get(), isl_dim_div, isl_dim_param, isl_dim_in, isl_dim_out, isl_dim_cst),
        isl_mat_free);
    if (!matrix) isl::exception::throw_last_error(ctx);
    auto columns = isl_mat_cols(matrix.get());
    first_ = columns - inputs_ - outputs_ - 1;
    for (int row = 0; row < isl_mat_rows(matrix.get()); ++row) {
      Vector values;
      for (int column = 0; column < columns; ++column)
        values.push_back(call(ctx, isl_mat_get_element_val, matrix.get(), row, column).get_num_si());
      add(std::move(values));
    }
  }

  /// The constant \p shift with y_e = x_d + shift on the whole map, if there is one.
  std::optional<std::int64_t> shift(int d, int e) const {
    Vector difference(first_ + inputs_ + outputs_ + 1);
    difference[first_ + inputs_ + e] = 1;
    difference[first_ + d] = -1;
    std::int64_t factor = 1;
    for (const auto& [column, row] : rows_) {
      if (difference[column] == 0) continue;
      difference.push_back(factor);
      auto pivot = row;
      pivot.push_back(0);
      if (!eliminate(difference, pivot, column)) return std::nullopt;
      factor = difference.back();
      difference.pop_back();
    }
    for (std::size_t i = 0; i + 1 < difference.size(); ++i)
      if (difference[i] != 0) return std::nullopt;
    if (factor == 0 || difference.back() % factor != 0) return std::nullopt;
    return difference.back() / factor;
  }

 private:
  void add(Vector row) {
    for (const auto& [column, pivot] : rows_)
      if (!eliminate(row, pivot, column)) return;
    auto lead = std::find_if(row.begin(), row.end() - 1, [](std::int64_t value) { return value != 0; });
    if (lead != row.end() - 1) rows_.emplace_back(lead - row.begin(), std::move(row));
  }

  int inputs_, outputs_, first_;
  std::vector<std::pair<std::size_t, Vector>> rows_;  ///< leading column and equation
};

/// The iterators of the write's subscripts in their order, then the others in theirs.
std::vector<int> left_hand_order(const Statement& statement) {
  int size = dimensions(statement.domain);
  std::vector<int> order;
  Equations equations(statement.write.relation);
  int rank = isl_map_dim(statement.write.relation.get(), isl_dim_out);
  auto missing = [&](int d) { return std::find(order.begin(), order.end(), d) == order.end(); };
  for (int subscript = 0; subscript < rank; ++subscript)
    for (int d = 0; d < size; ++d)
      if (missing(d) && equations.shift(d, subscript)) {
        order.push_back(d);
        break;
      }
  for (int d = 0; d < size; ++d)
    if (missing(d)) order.push_back(d);
  return order;
}

/// Whether some pair of \p pairs goes backward in iterator \p d.
bool goes_backward(const isl::map& pairs, int d) {
  auto backward = call(pairs.ctx(), isl_map_order_gt, pairs.copy(), isl_dim_in, d, isl_dim_out, d);
  return !backward.is_empty();
}

StatementGraph::Node make_node(const Statement& statement) {
  StatementGraph::Node node;
  node.id = statement.id;
  node.domain = statement.domain;
  node.accumulates = statement.accumulates;
  node.padded = statement.padded;
  node.loops = statement.loops;
  for (const auto& read : statement.reads) node.reads.insert(range_name(read.relation));
  node.order = left_hand_order(statement);
  node.coincident.assign(node.order.size(), true);
  node.forward = node.coincident;
  for (int d = 0; d < node.size(); ++d) {
    auto value = [&](auto bound) { return call(node.domain.ctx(), bound, node.domain.copy(), d).get_num_si(); };
    auto empty = node.domain.is_empty();
    node.min.push_back(empty ? 0 : value(isl_set_dim_min_val));
    node.extent.push_back(empty ? 0 : value(isl_set_dim_max_val) - node.min.back() + 1);
  }
  return node;
}

/// An attempt to give every statement of a cluster an iterator for one member.
class Assignment {
 public:
  Assignment(const StatementGraph& graph, const std::vector<int>& statements, const Free& free)
      : graph_(graph), statements_(statements), free_(free) {}

  /// Starts from iterator \p d of \p anchor and follows the dependences.
  std::optional<Row> from(int anchor, int d) {
    row_.terms = {{anchor, {d}}};
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& edge : graph_.edges)
        if (member(edge.source) && member(edge.sink) && !follow(edge, changed)) return std::nullopt;
      if (!changed && !place_unconnected(anchor, d, changed)) return std::nullopt;
    }
    return row_;
  }

 private:
  const StatementGraph& graph_;
  const std::vector<int>& statements_;
  const Free& free_;
  Row row_;

  bool member(int statement) const {
    return std::find(statements_.begin(), statements_.end(), statement) != statements_.end();
  }

  /// Checks or assigns the other end of \p edge; false: no iterator fits.
  bool follow(const StatementGraph::Edge& edge, bool& changed) {
    auto source = row_.terms.find(edge.source), sink = row_.terms.find(edge.sink);
    bool has_source = source != row_.terms.end(), has_sink = sink != row_.terms.end();
    if (!has_source && !has_sink) return true;
    if (has_source && has_sink) return edge.shift[source->second.iterator][sink->second.iterator] == 0;
    changed = true;
    if (has_source)
      return assign(edge.sink, edge.source, [&](int e) { return edge.shift[source->second.iterator][e] == 0; });
    return assign(edge.source, edge.sink, [&](int d) { return edge.shift[d][sink->second.iterator] == 0; });
  }

  /// Gives \p statement the free coincident iterator for which \p fits, preferably at the position that the iterator of
  /// \p other has.
  template <typename Fits>
  bool assign(int statement, int other, const Fits& fits) {
    const auto& order = graph_.nodes[statement].order;
    int position = position_of(other, row_.terms.at(other).iterator);
    auto usable = [&](int d) { return free_[statement][d] && graph_.nodes[statement].coincident[d] && fits(d); };
    std::optional<int> chosen;
    for (int d : order)
      if (usable(d) && (!chosen || position_of(statement, d) == position)) chosen = d;
    if (chosen) row_.terms[statement] = {*chosen};
    return chosen.has_value();
  }

  int position_of(int statement, int iterator) const {
    const auto& order = graph_.nodes[statement].order;
    return static_cast<int>(std::find(order.begin(), order.end(), iterator) - order.begin());
  }

  /// Assigns one statement that no dependence reaches, by position; sets \p changed if there was one.
  bool place_unconnected(int anchor, int d, bool& changed) {
    int position = position_of(anchor, d);
    const auto& first = graph_.nodes[anchor];
    for (int statement : statements_) {
      if (row_.terms.count(statement)) continue;
      const auto& node = graph_.nodes[statement];
      if (position >= node.size()) return false;
      int e = node.order[position];
      if (!free_[statement][e] || !node.coincident[e] || node.min[e] != first.min[d] ||
          node.extent[e] != first.extent[d])
        return false;
      row_.terms[statement] = {e};
      changed = true;
      return true;
    }
    return true;
  }
};

/// The free coincident iterators of \p statement in left-hand order.
std::vector<int> candidates(const StatementGraph& graph, int statement, const Free& free) {
  std::vector<int> result;
  for (int d : graph.nodes[statement].order)
    if (free[statement][d] && graph.nodes[statement].coincident[d]) result.push_back(d);
  return result;
}

}  // namespace

StatementGraph::StatementGraph(const Scop& scop, const Dependences& dependences) {
  std::map<std::string, int> index;
  for (const auto& statement : scop.statements) {
    index[statement.id] = static_cast<int>(nodes.size());
    nodes.push_back(make_node(statement));
  }
  auto visit = [&](const isl::union_map& relations, bool validity) {
    for (const auto& pairs : elements(relations.map_list())) {
      auto source = index.find(domain_name(pairs)), sink = index.find(range_name(pairs));
      if (source == index.end() || sink == index.end()) continue;
      if (source == sink) add_self_dependence(nodes[source->second], pairs, validity);
      if (source == sink || !validity) continue;
      Equations equations(pairs);
      Edge edge{source->second, sink->second, {}};
      edge.shift.resize(nodes[edge.source].size());
      for (int d = 0; d < nodes[edge.source].size(); ++d)
        for (int e = 0; e < nodes[edge.sink].size(); ++e) edge.shift[d].push_back(equations.shift(d, e));
      edges.push_back(std::move(edge));
    }
  };
  visit(dependences.validity, true);
  visit(dependences.coincidence, false);
}

void StatementGraph::add_self_dependence(Node& node, const isl::map& pairs, bool validity) {
  Equations equations(pairs);
  for (int d = 0; d < node.size(); ++d) {
    bool equal = equations.shift(d, d) == 0;
    if (!equal) node.coincident[d] = false;
    if (!equal && validity && goes_backward(pairs, d)) node.forward[d] = false;
  }
}

Rows align(const StatementGraph& graph, const std::vector<int>& statements, const Free& free) {
  Rows rows;
  int anchor = *std::min_element(statements.begin(), statements.end(), [&](int a, int b) {
    return candidates(graph, a, free).size() < candidates(graph, b, free).size();
  });
  Free left = free;
  for (int d : candidates(graph, anchor, free)) {
    auto row = Assignment(graph, statements, left).from(anchor, d);
    if (!row) continue;
    for (const auto& [statement, term] : row->terms) left[statement][term.iterator] = false;
    rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace tc::polyhedral
