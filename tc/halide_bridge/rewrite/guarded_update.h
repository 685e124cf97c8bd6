#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// The value of an update that changes nothing but where all conditions hold: if_then_else(all_of(conditions), value,
/// identity), the identity that of the operator.
struct GuardedUpdate {
  std::vector<Halide::Expr> conditions;  ///< in order: one may be evaluated only where those before hold
  Halide::Expr value, identity;
};

/// Is \p expr what a reduction by \p op begins with?
bool is_identity(const Halide::Expr& expr, ReductionOp op);

/// The value of \p statement in its parts; nothing for another one.
std::optional<GuardedUpdate> guarded_update(const ProgramStatement& statement);

/// Do all of \p conditions, one or more, hold, each evaluated only where those before do?
Halide::Expr all_of(const std::vector<Halide::Expr>& conditions);

/// Does \p expr read an element?
bool reads_tensor(const Halide::Expr& expr);

/// \p expr with \p values in the places of variables, and \p reads, as they are, for reads of tensors.
Halide::Expr replaced(const Halide::Expr& expr, const std::map<std::string, Halide::Expr>& values,
                      const std::map<std::string, Halide::Expr>& reads = {});

/// Is \p expr the variable \p name?
bool is_iterator(const Halide::Expr& expr, const std::string& name);

}  // namespace tc::halide_bridge
