#include "tc/library/description/call.h"

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::library {

std::int64_t Call::number(const std::string& name) const {
  const auto found = numbers.find(name);
  if (found == numbers.end()) throw InternalError(str("a call of ", routine, " has no number ", name));
  return found->second;
}

std::int64_t Call::times() const {
  std::int64_t result = 1;
  for (auto extent : loops) result *= extent;
  return result;
}

Call Call::with_constants(const std::function<bool(std::size_t argument)>& is_constant) const {
  auto result = *this;
  for (auto& operand : result.operands) operand.constant = is_constant(operand.argument);
  for (auto& op : result.post_ops)
    if (op.operand) op.operand->constant = is_constant(op.operand->argument);
  return result;
}

std::string to_string(const Call& call) {
  std::vector<std::string> sizes, operands;
  for (const auto& [name, value] : call.numbers) sizes.push_back(str(name, "=", value));
  for (const auto& operand : call.operands)
    operands.push_back(
        str(operand.constant ? "constant " : "", name(operand.type), " strides (", join(operand.strides), ")"));
  TextStream out;
  out << call.routine << " of " << call.library << " " << call.version << ": " << join(sizes, " ") << "; "
      << join(operands);
  for (const auto& op : call.post_ops)
    out << (op.kind == PostOp::Kind::Relu   ? ", then relu"
            : op.kind == PostOp::Kind::Gelu ? ", then gelu"
                                            : ", then add");
  if (!call.loops.empty()) out << "; " << join(call.loops, " x ") << " times";
  return out.str();
}

}  // namespace tc::library
