#include "tc/derive/rules/rewrite.h"

#include <algorithm>
#include <map>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/lang/syntax/builtins.h"

namespace tc::derive {

namespace {

bool is_tensor(const Program& program, const std::string& name) {
  return program.find(name) || std::any_of(program.inputs.begin(), program.inputs.end(),
                                           [&](const Input& input) { return input.tensor == name; });
}

bool is_iterator(const Program& program, const std::string& name) {
  return std::any_of(program.scopes.begin(), program.scopes.end(), [&](const ScopePtr& scope) {
    return std::find(scope->iterators.begin(), scope->iterators.end(), name) != scope->iterators.end();
  });
}

template <typename F>
std::string first_free(const std::string& wish, F&& taken) {
  if (!taken(wish)) return wish;
  for (int n = 1;; ++n)
    if (const auto name = str(wish, n); !taken(name)) return name;
}

}  // namespace

std::string fresh_tensor(const Program& program, const std::string& wish) {
  return first_free(wish, [&](const std::string& name) {
    return is_tensor(program, name) || is_iterator(program, name) || name == program.name || lang::find_builtin(name);
  });
}

std::string fresh_iterator(const Program& program, const std::vector<std::string>& taken, const std::string& wish) {
  return first_free(wish, [&](const std::string& name) {
    return std::find(taken.begin(), taken.end(), name) != taken.end() || is_tensor(program, name) ||
           name == program.name || lang::find_builtin(name);
  });
}

Program with_scopes(const Program& program, const std::string& tensor, std::vector<Scope> scopes) {
  Program result = program;
  const auto found = std::find_if(result.scopes.begin(), result.scopes.end(),
                                  [&](const ScopePtr& scope) { return scope->tensor == tensor; });
  const auto place = result.scopes.erase(found);
  std::vector<ScopePtr> made;
  for (auto& scope : scopes) made.push_back(std::make_shared<const Scope>(std::move(scope)));
  result.scopes.insert(place, made.begin(), made.end());
  return result;
}

const Scope& changeable(const Program& program, const std::string& tensor) {
  const auto scope = program.find(tensor);
  if (!scope) throw Refusal{str("no scope defines '", tensor, "'")};
  if (!scope->uniform) throw Refusal{str("'", tensor, "' converts between types")};
  return *scope;
}

lang::ExprPtr only_read() { return lang::make_expr(lang::Name{read_name(0)}); }

Case with_used_reads(const Case& part) {
  Case result{part.domain, nullptr, {}};
  std::map<std::size_t, std::size_t> numbers;
  result.body = with_reads(part.body, [&](std::size_t k) {
    if (numbers.emplace(k, numbers.size()).second) result.reads.push_back(part.reads[k]);
    return lang::make_expr(lang::Name{read_name(numbers.at(k))});
  });
  return result;
}

Scope copy_of(const Scope& like, const std::string& source, const isl::multi_aff& at, const isl::set& domain) {
  Scope copy;
  copy.tensor = like.tensor;
  copy.type = like.type;
  copy.box = like.box;
  copy.iterators.assign(like.iterators.begin(), like.iterators.begin() + like.left());
  copy.fill = like.fill;
  copy.cases.push_back({domain, only_read(), {{source, at}}});
  return copy;
}

lang::Box iterator_box(const Scope& scope) {
  lang::Box box = scope.box;
  if (scope.dimensions() == scope.left()) return box;
  isl::set all = scope.cases.front().domain;
  for (std::size_t i = 1; i < scope.cases.size(); ++i) all = all.unite(scope.cases[i].domain);
  const auto summed = stated_box(all, static_cast<std::size_t>(scope.left()));
  box.insert(box.end(), summed.begin(), summed.end());
  return box;
}

isl::set written_cells(const Scope& scope) {
  const auto ctx = scope.cases.front().domain.ctx();
  const auto writes = projection(ctx, scope.dimensions(), left_dimensions(scope)).as_map();
  isl::set cells = scope.cases.front().domain.apply(writes);
  for (std::size_t i = 1; i < scope.cases.size(); ++i) cells = cells.unite(scope.cases[i].domain.apply(writes));
  return cells.coalesce();
}

isl::set reads_inside(const Program& program, const Case& part) {
  isl::set inside = isl::set::universe(part.domain.space());
  for (const auto& read : part.reads)
    if (!read.tensor.empty())
      inside = inside.intersect(box_set(*program.context, program.box(read.tensor)).preimage(read.at));
  return inside;
}

std::vector<std::string> names_of(const Scope& scope, const std::vector<int>& dimensions) {
  std::vector<std::string> names;
  for (int d : dimensions) names.push_back(scope.iterators[static_cast<std::size_t>(d)]);
  return names;
}

std::vector<int> left_dimensions(const Scope& scope) {
  std::vector<int> result;
  for (int d = 0; d < scope.left(); ++d) result.push_back(d);
  return result;
}

std::vector<int> summed_dimensions(const Scope& scope) {
  std::vector<int> result;
  for (int d = scope.left(); d < scope.dimensions(); ++d) result.push_back(d);
  return result;
}

namespace {

/// For each subscript of \p read that holds \p dimension its factor, and those of the other ones of \p dimensions in it.
std::vector<std::vector<std::int64_t>> factors_in(const Read& read, int dimension, int dimensions) {
  std::vector<std::vector<std::int64_t>> result;
  for (int o = 0; o < static_cast<int>(read.at.size()); ++o) {
    if (!depends(read.at, o, dimension)) continue;
    result.push_back({factor(read.at, o, dimension)});
    for (int d = 0; d < dimensions; ++d)
      if (d != dimension && depends(read.at, o, d)) result.back().push_back(factor(read.at, o, d));
  }
  return result;
}

bool share_a_subscript(const Read& read, int a, int b) {
  for (int o = 0; o < static_cast<int>(read.at.size()); ++o)
    if (depends(read.at, o, a) && depends(read.at, o, b)) return true;
  return false;
}

}  // namespace

std::vector<int> alike_dimensions(const Scope& scope, int dimension, const lang::Box& ranges) {
  std::vector<int> result;
  const bool left = dimension < scope.left();
  for (int d : left ? left_dimensions(scope) : summed_dimensions(scope)) {
    const auto& reads = scope.cases[0].reads;
    const bool alike = (left || ranges[static_cast<std::size_t>(d)] == ranges[static_cast<std::size_t>(dimension)]) &&
                       std::all_of(reads.begin(), reads.end(), [&](const Read& read) {
                         const int count = scope.dimensions();
                         return factors_in(read, d, count) == factors_in(read, dimension, count) &&
                                !share_a_subscript(read, d, dimension);
                       });
    if (d == dimension || alike) result.push_back(d);
  }
  return result;
}

isl::union_map link(std::size_t from, std::size_t to, const isl::multi_aff& function,
                    std::string (*name)(std::size_t)) {
  const auto map = function.as_map();
  const auto half = polyhedral::call(map.ctx(), isl_map_set_tuple_name, map.copy(), isl_dim_in, name(from).c_str());
  return isl::union_map(
      isl::map(polyhedral::call(map.ctx(), isl_map_set_tuple_name, half.copy(), isl_dim_out, name(to).c_str())));
}

Certificate by_cases(const std::string& tensor, const std::vector<isl::multi_aff>& functions) {
  auto all = link(0, 0, functions.at(0));
  for (std::size_t k = 1; k < functions.size(); ++k) all = all.unite(link(k, k, functions[k]));
  Certificate result;
  result.maps.emplace(tensor, all);
  return result;
}

Certificate by_cases(const std::string& tensor, std::size_t cases, const isl::multi_aff& function) {
  return by_cases(tensor, std::vector<isl::multi_aff>(cases, function));
}

}  // namespace tc::derive
