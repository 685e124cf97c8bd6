#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/scop.h"

namespace tc::polyhedral {

/// One place of the AST where a statement instance runs; everything is in terms of the AST's iterators.
struct Site {
  std::string statement;
  std::vector<isl::ast_expr> iterators;  ///< of the statement's domain, in order
  isl::ast_expr write;                   ///< an access expression: tensor(y, ...)
  std::vector<isl::ast_expr> reads;      ///< as Statement::reads; null where the access is not exact
};

/// The loop nest of a schedule. The annotation of a user node is the decimal index of its site.
struct Ast {
  isl::ast_node root;
  std::vector<Site> sites;
};

/// Generates the AST of scop.schedule with isl; accesses are functions pulled back at each domain.
Ast generate_ast(const Scop& scop);

}  // namespace tc::polyhedral
