#include "tc/polyhedral/schedule/isl_scheduler.h"

#include <algorithm>

#include "tc/base/ceil_div.h"

namespace tc::polyhedral {
namespace {

/// The part of the quota that one schedule may take. The quota counts operations, not how long their numbers are, and a
/// schedule that takes many works on ever longer ones: 20 000 operations end within a second, 100 000 may take minutes.
/// Schedules that are of use take fewer.
constexpr unsigned long share_of_quota = 100;

/// The relations of \p all among the instances of \p domain.
isl::union_map among(const isl::union_map& all, const isl::union_set& domain) {
  return all.intersect_domain(domain).intersect_range(domain);
}

/// The functions of a band member, one for each statement.
std::vector<isl::pw_aff> pieces(const isl::union_pw_aff& member) {
  return elements(call(member.ctx(), isl_union_pw_aff_get_pw_aff_list, member.get()));
}

/// sign * iterator + shift of an affine function of one statement, if it has that form.
std::optional<Row::Term> as_term(const isl::aff& function) {
  auto coefficient = [&](int d) {
    return call(function.ctx(), isl_aff_get_coefficient_val, function.get(), isl_dim_in, d);
  };
  auto constant = function.constant_val();
  if (isl_aff_dim(function.get(), isl_dim_div) > 0 || !constant.is_int()) return std::nullopt;
  std::optional<Row::Term> term;
  for (int d = 0, size = isl_aff_dim(function.get(), isl_dim_in); d < size; ++d) {
    auto value = coefficient(d);
    if (value.is_zero()) continue;
    if (term || !(value.is_one() || value.is_negone())) return std::nullopt;
    term = Row::Term{d, value.is_one() ? 1 : -1, constant.get_num_si()};
  }
  return term;
}

/// The single affine function that \p member is on \p domain, if it is one.
std::optional<isl::aff> function_on(const isl::union_pw_aff& member, const isl::set& domain) {
  for (const auto& function : pieces(member)) {
    if (tuple_name(function.domain()) != tuple_name(domain)) continue;
    if (function.n_piece() != 1) return std::nullopt;
    return function.as_aff();
  }
  return std::nullopt;
}

/// The row of one band member; empty when some statement has another form.
std::optional<Row> as_row(const isl::union_pw_aff& member, const StatementGraph& graph,
                          const std::vector<int>& statements, bool positive) {
  Row row;
  for (int statement : statements) {
    auto function = function_on(member, graph.nodes[statement].domain);
    auto term = function ? as_term(*function) : std::nullopt;
    if (!term || (positive && term->sign < 0)) return std::nullopt;
    row.terms[statement] = *term;
  }
  return row;
}

bool has_negative_coefficient(const isl::multi_union_pw_aff& band) {
  bool negative = false;
  for (unsigned i = 0; i < band.size(); ++i)
    for (const auto& function : pieces(band.at(i)))
      function.foreach_piece([&](isl::set, isl::multi_aff part) {
        auto piece = part.at(0);
        for (int d = 0, size = isl_aff_dim(piece.get(), isl_dim_in); d < size; ++d)
          negative |= call(piece.ctx(), isl_aff_get_coefficient_val, piece.get(), isl_dim_in, d).is_neg();
      });
  return negative;
}

}  // namespace

std::optional<isl::schedule> schedule_with_isl(const StatementGraph& graph, const std::vector<int>& statements,
                                               const Dependences& dependences, const MappingOptions& options) {
  auto domain = isl::union_set::empty(dependences.validity.ctx());
  for (int statement : statements) domain = domain.unite(graph.nodes[statement].domain.to_union_set());
  OperationQuota quota(domain.ctx(), ceil_div(options.quota, share_of_quota));
  try {
    return isl::schedule_constraints::on_domain(domain)
        .set_validity(among(dependences.validity, domain))
        .set_coincidence(among(dependences.coincidence, domain))
        .set_proximity(among(dependences.flow, domain))
        .compute_schedule();
  } catch (const isl::exception& error) {
    if (!quota.caused(error)) throw;
    return std::nullopt;
  }
}

Rows coincident_rows(const isl::schedule& schedule, const StatementGraph& graph, const std::vector<int>& statements,
                     const MappingOptions& options) {
  Rows rows;
  auto node = schedule.root().child(0);
  if (!node.isa<isl::schedule_node_band>()) return rows;
  auto band = node.as<isl::schedule_node_band>();
  std::map<int, std::vector<int>> used;
  for (unsigned i = 0; i < band.n_member() && band.member_get_coincident(i); ++i) {
    auto row = as_row(band.partial_schedule().at(i), graph, statements, options.positive_orthant);
    if (!row) break;
    for (const auto& [statement, term] : row->terms) {
      auto& taken = used[statement];
      if (std::find(taken.begin(), taken.end(), term.iterator) != taken.end()) return rows;
      taken.push_back(term.iterator);
    }
    rows.push_back(std::move(*row));
  }
  return rows;
}

bool in_positive_orthant(const isl::schedule& schedule) {
  bool positive = true;
  schedule.root().foreach_descendant_top_down([&](isl::schedule_node node) {
    if (node.isa<isl::schedule_node_band>())
      positive = positive && !has_negative_coefficient(node.as<isl::schedule_node_band>().partial_schedule());
    return positive;
  });
  return positive;
}

}  // namespace tc::polyhedral
