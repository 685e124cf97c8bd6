#include "tc/halide_bridge/lower/variable_names.h"

namespace tc::halide_bridge {
namespace {

class VariableNames : public Halide::Internal::IRVisitor {
 public:
  std::set<std::string> names;

 protected:
  using Halide::Internal::IRVisitor::visit;
  void visit(const Halide::Internal::Variable* op) override { names.insert(op->name); }
};

}  // namespace

std::set<std::string> variable_names(const std::vector<Halide::Expr>& exprs) {
  VariableNames found;
  for (const auto& expr : exprs) expr.accept(&found);
  return std::move(found.names);
}

}  // namespace tc::halide_bridge
