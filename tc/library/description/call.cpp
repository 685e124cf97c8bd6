#include "tc/library/description/call.h"

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::library {
namespace {

/// The strides of \p operand in words, "16@784+1" for blocks of 16 adjacent elements that begin 784 elements apart.
std::vector<std::string> strides_of(const Operand& operand) {
  std::vector<std::string> result;
  for (std::size_t d = 0; d < operand.strides.size(); ++d) {
    const auto block = operand.block(d);
    result.push_back(block.size == 0 ? str(operand.strides[d])
                                     : str(block.size, "@", block.stride, "+", operand.strides[d]));
  }
  return result;
}

std::string in_words(const PostOp& op) {
  switch (op.kind) {
    case PostOp::Kind::Add:
      return "add";
    case PostOp::Kind::Relu:
      return "relu";
    case PostOp::Kind::Gelu:
      return "gelu";
    case PostOp::Kind::AtMost:
      return str("at most ", op.limit);
  }
  throw InternalError("a post-op of no kind");
}

}  // namespace

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
        str(operand.constant ? "constant " : "", name(operand.type), " strides (", join(strides_of(operand)), ")"));
  TextStream out;
  out << call.routine << " of " << call.library << " " << call.version << ": " << join(sizes, " ") << "; "
      << join(operands);
  for (const auto& op : call.post_ops) out << ", then " << in_words(op);
  if (!call.loops.empty()) out << "; " << join(call.loops, " x ") << " times";
  return out.str();
}

}  // namespace tc::library
