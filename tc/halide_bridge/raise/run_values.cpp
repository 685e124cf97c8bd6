#include "tc/halide_bridge/raise/run_values.h"

#include <algorithm>
#include <map>

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;

/// The types of the variables in a statement, by name.
class VariableTypes : public ir::IRVisitor {
 public:
  std::map<std::string, Halide::Type> types;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Variable* op) override { types.emplace(op->name, op->type); }
};

}  // namespace

ir::Stmt with_run_values(const ir::Stmt& body, const std::vector<std::string>& names) {
  VariableTypes used;
  body.accept(&used);
  ir::Stmt result = body;
  for (std::size_t i = names.size(); i-- > 0;) {
    const auto found = used.types.find(names[i]);
    if (found == used.types.end()) continue;
    const Halide::Expr told =
        ir::Load::make(Halide::Int(64), run_values_buffer, static_cast<int>(i), Halide::Buffer<>(), ir::Parameter(),
                       ir::const_true(), ir::ModulusRemainder());
    result = ir::LetStmt::make(names[i], ir::Cast::make(found->second, told), result);
  }
  return result;
}

}  // namespace tc::halide_bridge
