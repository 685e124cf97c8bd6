#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// One place of the AST where a statement instance runs; everything is in terms of the AST's iterators.
struct Site {
  std::string statement;
  std::vector<isl::ast_expr> iterators;  ///< of the statement's domain, in order
  Nullable<isl::ast_expr>
      write;  ///< an access expression: tensor(y, ...); null for what is_synchronisation (barriers.h)
  std::vector<Nullable<isl::ast_expr>> reads;  ///< as Statement::reads; null where the access is not exact
};

/// The loop nest of a schedule. The annotation of a user node is the decimal index of its site; that of a mark is the
/// depth of the band below it. Loops that run once may be missing from the nest.
struct Ast {
  isl::ast_node root;
  std::vector<Site> sites;
};

/// Generates the AST of scop.schedule with isl; accesses are functions pulled back at each domain.
///
///   before  band [m/8, m%8]: S[m] reads acc[m%8]      after  for (c0) for (c1) S(8*c0 + c1)  reads acc[c1]
Ast generate_ast(const Scop& scop);

/// The decimal number that annotates \p node.
int annotation(const isl::ast_node& node);
/// The number of band members around the member that became \p loop.
int depth(const isl::ast_node_for& loop);

/// The loop nest as C, with the accesses of every site after it; for dumps and tests.
std::string print(const Ast& ast);

}  // namespace tc::polyhedral
