#include "tc/derive/rules/fuse.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/proof/flatten.h"

namespace tc::derive {

namespace {

bool reads(const Scope& scope, const std::string& tensor) {
  for (const auto& part : scope.cases)
    for (const auto k : reads_in(part.body))
      if (part.reads[k].tensor == tensor) return true;
  return false;
}

/// A case written out, and how its instances are those of the flat one.
struct Written {
  Case part;
  isl::multi_aff flat_to_own;
};

/// \p flat without the dimensions that the elements of \p tensor determine, which has \p left of them; \p own are those
/// of the scope itself.
Written without_left(const FlatCase& flat, const Case& before, const std::string& tensor, int own, int left) {
  const isl::ctx ctx = flat.domain.ctx();
  const int all = polyhedral::dimensions(flat.domain);
  std::vector<int> kept;
  for (int d = 0; d < own; ++d) kept.push_back(d);
  for (std::size_t s = 1; s < flat.segments.size(); ++s)
    for (int d = left; d < flat.segments[s].count; ++d) kept.push_back(flat.segments[s].first + d);
  const int count = static_cast<int>(kept.size());
  std::vector<int> own_part;
  for (int d = 0; d < own; ++d) own_part.push_back(d);
  const auto to_scope = projection(ctx, count, own_part);
  isl::multi_aff back = to_scope;
  std::size_t segment = 1;
  int next = own;
  for (const auto k : reads_in(before.body)) {
    if (before.reads[k].tensor != tensor || segment >= flat.segments.size()) continue;
    back = back.flat_range_product(before.reads[k].at.pullback(to_scope));
    std::vector<int> inner;
    for (int d = left; d < flat.segments[segment].count; ++d) inner.push_back(next++);
    back = back.flat_range_product(projection(ctx, count, inner));
    ++segment;
  }
  if (static_cast<int>(back.size()) != all) throw Refusal{"a definition written out has other reads than thought"};
  Written result{{flat.domain.preimage(back), flat.body, {}}, projection(ctx, all, kept)};
  std::map<std::size_t, std::size_t> numbers;
  result.part.body = with_reads(flat.body, [&](std::size_t k) {
    if (numbers.emplace(k, numbers.size()).second)
      result.part.reads.push_back({flat.reads[k].tensor, flat.reads[k].at.pullback(back).gist(result.part.domain)});
    return lang::make_expr(lang::Name{read_name(numbers.at(k))});
  });
  return result;
}

/// The case of \p scope of which \p flat is one: whose domain holds it.
const Case& origin(const Scope& scope, const FlatCase& flat) {
  std::vector<int> own;
  for (int d = 0; d < scope.dimensions(); ++d) own.push_back(d);
  const auto back = projection(flat.domain.ctx(), polyhedral::dimensions(flat.domain), own);
  const auto instances = flat.domain.apply(back.as_map());
  for (const auto& part : scope.cases)
    if (instances.is_subset(part.domain)) return part;
  throw Refusal{"a definition written out is of no case"};
}

}  // namespace

Step write_out(const Program& program, const std::string& tensor, const std::string& rule) {
  const auto& source = changeable(program, tensor);
  if (program.is_output(tensor)) throw Refusal{str("'", tensor, "' is an output")};
  std::set<std::string> atoms;
  for (const auto& scope : program.scopes)
    if (scope->tensor != tensor) atoms.insert(scope->tensor);
  Step step{rule, tensor, program, {}};
  std::erase_if(step.after.scopes, [&](const ScopePtr& scope) { return scope->tensor == tensor; });
  bool read = false;
  for (auto& place : step.after.scopes) {
    if (!reads(*place, tensor)) continue;
    read = true;
    const auto flat = flatten(program, place->tensor, atoms);
    Scope scope = *place;
    scope.op = flat.op;
    if (flat.op) scope.fill = neutral(*flat.op);
    scope.cases.clear();
    std::vector<isl::multi_aff> functions;
    for (const auto& part : flat.cases) {
      auto written = without_left(part, origin(*place, part), tensor, place->dimensions(), source.left());
      scope.cases.push_back(std::move(written.part));
      functions.push_back(written.flat_to_own);
    }
    if (source.op)
      for (int d = source.left(); d < source.dimensions(); ++d)
        scope.iterators.push_back(
            fresh_iterator(program, scope.iterators, source.iterators[static_cast<std::size_t>(d)]));
    for (const auto& part : scope.cases)
      if (polyhedral::dimensions(part.domain) != scope.dimensions())
        throw Refusal{"cases would have different iterators"};
    if (scope.cases.empty()) throw Refusal{str("'", place->tensor, "' would be constant")};
    const auto one = by_cases(place->tensor, functions);
    step.certificate.maps.insert(one.maps.begin(), one.maps.end());
    place = std::make_shared<const Scope>(std::move(scope));
  }
  if (!read) throw Refusal{str("nothing reads '", tensor, "'")};
  return step;
}

Step fuse(const Program& program, const std::string& tensor) {
  if (changeable(program, tensor).op) throw Refusal{str("'", tensor, "' is a reduction")};
  return write_out(program, tensor, "fuse");
}

namespace {

bool is_copy(const Scope& scope) {
  return !scope.op && scope.uniform && std::all_of(scope.cases.begin(), scope.cases.end(), [](const Case& part) {
    return read_number(part.body).has_value();
  });
}

/// The tensor that the output \p scope copies, and nothing else reads; "" where there is none.
std::string copied_alone(const Program& program, const Scope& scope) {
  if (scope.cases.size() != 1) return "";
  const auto& source = scope.cases[0].reads.at(*read_number(scope.cases[0].body)).tensor;
  int readers = 0;
  for (const auto& other : program.scopes) readers += reads(*other, source);
  return readers == 1 && program.find(source) && !program.is_output(source) ? source : "";
}

/// One step, or none.
std::optional<Step> fuse_a_copy(const Program& program) {
  for (const auto& scope : program.scopes) {
    if (!is_copy(*scope)) continue;
    const auto source = program.is_output(scope->tensor) ? copied_alone(program, *scope) : scope->tensor;
    try {
      if (!source.empty()) return write_out(program, source, "fuse");
    } catch (const Refusal&) {
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Step> fuse_copies(const Program& program) {
  std::vector<Step> steps;
  for (;;) {
    auto step = fuse_a_copy(steps.empty() ? program : steps.back().after);
    if (!step) return steps;
    steps.push_back(std::move(*step));
  }
}

}  // namespace tc::derive
