#pragma once

#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/generate/generate.h"

/// The laws of an AST, which say that generate_ast made what its scop says. Expressions, bounds and conditions of the AST
/// are read back as functions of its iterators and compared by isl, so that a law holds for all instances or is broken:
/// InternalError names the law, the site and an instance.
///
///  - ast instances: the nodes of the AST run each instance of each statement exactly once; the iterators of a site are
///    those of the instance that its node runs
///  - ast accesses: the address that an access of a site computes is that of the element which the scop's access, under
///    its guard, touches for the instance. An index may leave the tensor where the address does not (generate.cpp joins
///    digits); dimensions of one element count for nothing
///  - ast order: every validity dependence goes forward in the order of the nodes, where one thread runs them
namespace tc::polyhedral {

/// One law each, told above; they throw InternalError where it is broken.
void verify_ast_instances(const Ast& ast, const Scop& scop);
void verify_ast_accesses(const Ast& ast, const Scop& scop);
/// Of a scop without parameters.
void verify_ast_order(const Ast& ast, const Scop& scop, const Dependences& dependences);

/// The first two.
void verify_ast(const Ast& ast, const Scop& scop);

}  // namespace tc::polyhedral
