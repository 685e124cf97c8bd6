#include <algorithm>
#include <set>

#include "test/support/random/random_program.h"
#include "test/support/random/random_value.h"

namespace tc::test {

using namespace lang;

namespace {

int count_nodes(const ExprPtr& expr) {
  int count = 0;
  for_each_expr(expr, [&](const ExprPtr&) { ++count; });
  return count;
}

bool is_literal(const ExprPtr& expr) {
  return std::holds_alternative<IntLiteral>(expr->node) || std::holds_alternative<BoolLiteral>(expr->node) ||
         std::holds_alternative<FloatLiteral>(expr->node);
}

/// The node \p index of \p expr in preorder.
ExprPtr nth(const ExprPtr& expr, int index) {
  ExprPtr found;
  for_each_expr(expr, [&](const ExprPtr& e) {
    if (index-- == 0) found = e;
  });
  return found;
}

/// \p expr with its node \p index in preorder replaced; counts \p index down.
ExprPtr replace_nth(const ExprPtr& expr, int& index, const ExprPtr& replacement) {
  if (index-- == 0) return replacement;
  auto parts = children(expr);
  for (auto& part : parts) part = replace_nth(part, index, replacement);
  return with_children(expr, parts);
}

/// Applies one change after another and keeps those after which the program still fails.
class Reducer {
 public:
  Reducer(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails, int trials)
      : program_(std::move(program)), fails_(fails), trials_(trials) {}

  RandomProgram run() {
    bool progress = true;
    while (progress && trials_ > 0) {
      progress = drop_statements();
      progress = drop_declarations() || progress;
      progress = shrink_sizes() || progress;
      for (std::size_t d = 0; d < program_.file.defs.size(); ++d)
        for (std::size_t s = 0; s < program_.file.defs[d].statements.size(); ++s) {
          progress = drop_clauses(d, s) || progress;
          progress = shrink_value(d, s) || progress;
        }
    }
    return program_;
  }

 private:
  bool keep_if_failing(const RandomProgram& candidate) {
    if (trials_-- <= 0 || !fails_(candidate)) return false;
    program_ = candidate;
    return true;
  }

  /// Drops returns that nothing assigns any more; the last assigned tensor is returned if none is left.
  static void prune_returns(Def& def) {
    std::set<std::string> assigned;
    for (const auto& statement : def.statements) {
      if (auto* assignment = std::get_if<Assignment>(&statement.node)) assigned.insert(assignment->target);
      if (auto* call = std::get_if<CallStatement>(&statement.node))
        assigned.insert(call->results.begin(), call->results.end());
    }
    std::erase_if(def.returns, [&](const TensorDecl& decl) { return !assigned.count(decl.name); });
    if (!def.returns.empty() || def.statements.empty()) return;
    auto* last = std::get_if<Assignment>(&def.statements.back().node);
    auto* call = std::get_if<CallStatement>(&def.statements.back().node);
    def.returns.push_back({last ? last->target : call->results.at(0), {}, {}, {}});
  }

  bool drop_statements() {
    bool progress = false;
    for (std::size_t d = 0; d < program_.file.defs.size(); ++d)
      for (std::size_t s = program_.file.defs[d].statements.size(); s-- > 0;) {
        RandomProgram candidate = program_;
        Def& def = candidate.file.defs[d];
        def.statements.erase(def.statements.begin() + static_cast<std::ptrdiff_t>(s));
        prune_returns(def);
        if (!def.returns.empty()) progress = keep_if_failing(candidate) || progress;
      }
    return progress;
  }

  /// Whole callees, parameters, returns.
  bool drop_declarations() {
    bool progress = false;
    for (std::size_t d = 0; d < program_.file.defs.size() && program_.file.defs.size() > 1; ++d) {
      RandomProgram candidate = program_;
      candidate.file.defs.erase(candidate.file.defs.begin() + static_cast<std::ptrdiff_t>(d));
      progress = keep_if_failing(candidate) || progress;
    }
    auto drop = [&](std::vector<TensorDecl> Def::* list) {
      for (std::size_t p = (program_.def().*list).size(); p-- > 0;) {
        RandomProgram candidate = program_;
        auto& decls = candidate.file.defs.back().*list;
        if (decls.size() < 2) return;
        decls.erase(decls.begin() + static_cast<std::ptrdiff_t>(p));
        progress = keep_if_failing(candidate) || progress;
      }
    };
    drop(&Def::params);
    drop(&Def::returns);
    return progress;
  }

  bool shrink_sizes() {
    bool progress = false;
    const SizeMap sizes = program_.sizes;
    for (const auto& [id, value] : sizes)
      for (std::int64_t smaller : {0, 1, 2, 3, 5, 7, 16, 17, 31, 33, 64}) {
        if (smaller >= program_.sizes.at(id)) break;
        RandomProgram candidate = program_;
        candidate.sizes[id] = smaller;
        if (keep_if_failing(candidate)) {
          progress = true;
          break;
        }
      }
    return progress;
  }

  static Assignment* assignment_of(RandomProgram& program, std::size_t d, std::size_t s) {
    return std::get_if<Assignment>(&program.file.defs[d].statements[s].node);
  }

  bool drop_clauses(std::size_t d, std::size_t s) {
    bool progress = false;
    auto* assignment = assignment_of(program_, d, s);
    for (std::size_t c = assignment ? assignment->clauses.size() : 0; c-- > 0;) {
      RandomProgram candidate = program_;
      auto& clauses = assignment_of(candidate, d, s)->clauses;
      if (c >= clauses.size()) continue;
      clauses.erase(clauses.begin() + static_cast<std::ptrdiff_t>(c));
      progress = keep_if_failing(candidate) || progress;
    }
    return progress;
  }

  /// Nodes of the right-hand side become one of their parts or a constant.
  bool shrink_value(std::size_t d, std::size_t s) {
    if (!assignment_of(program_, d, s)) return false;
    bool progress = false;
    for (int n = 0; n < count_nodes(assignment_of(program_, d, s)->rhs); ++n) {
      const ExprPtr rhs = assignment_of(program_, d, s)->rhs;
      const ExprPtr node = nth(rhs, n);
      std::vector<ExprPtr> replacements = children(node);
      if (!is_literal(node)) {
        replacements.push_back(integer(1));
        replacements.push_back(make_expr(BoolLiteral{true}));
      }
      for (const auto& replacement : replacements) {
        RandomProgram candidate = program_;
        int index = n;
        assignment_of(candidate, d, s)->rhs = replace_nth(rhs, index, replacement);
        if (!keep_if_failing(candidate)) continue;
        progress = true;
        break;
      }
    }
    return progress;
  }

  RandomProgram program_;
  const std::function<bool(const RandomProgram&)>& fails_;
  int trials_;
};

}  // namespace

RandomProgram reduce_program(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails,
                             int max_trials) {
  return Reducer(std::move(program), fails, max_trials).run();
}

}  // namespace tc::test
