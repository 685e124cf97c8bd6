#include "tc/engine/run/index_outside.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/define/function.h"
#include "tc/lang/syntax/operators.h"

namespace tc::engine {
namespace {

using lang::ExprPtr;

ExprPtr without_casts(ExprPtr expr) {
  while (auto* cast = std::get_if<lang::Cast>(&expr->node)) expr = cast->value;
  return expr;
}

template <typename T>
std::int64_t load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<std::int64_t>(value);
}

/// Element \p offset as int64; uint64 beyond it as the largest.
std::int64_t element(DType type, const void* data, std::int64_t offset) {
  const char* at = static_cast<const char*>(data) + offset * byte_size(type);
  switch (type) {
    case DType::Int8:
      return load<std::int8_t>(at);
    case DType::Int16:
      return load<std::int16_t>(at);
    case DType::Int32:
      return load<std::int32_t>(at);
    case DType::UInt8:
      return load<std::uint8_t>(at);
    case DType::UInt16:
      return load<std::uint16_t>(at);
    case DType::UInt32:
      return load<std::uint32_t>(at);
    case DType::UInt64:
      return static_cast<std::int64_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(load<std::uint64_t>(at)),
                                                               std::numeric_limits<std::int64_t>::max()));
    default:
      return load<std::int64_t>(at);
  }
}

class Search {
 public:
  /// \p pointers are those of \p arguments.
  Search(const Function& function, const std::vector<Argument>& arguments, const std::vector<void*>& pointers)
      : function_(function), arguments_(arguments), pointers_(pointers) {
    std::vector<TensorSpec> inputs;
    for (const auto& argument : arguments)
      if (!argument.output) inputs.push_back(argument.spec);
    sizes_ = bind_inputs(function, inputs);
  }

  std::string run() {
    const auto& statements = function_.def.statements;
    for (std::size_t s = 0; s < statements.size() && found_.empty(); ++s) {
      ranges_ = &function_.ranges.statements[s];
      look(std::get<lang::Assignment>(statements[s].node).rhs);
    }
    return found_;
  }

 private:
  /// Goes through what is evaluated whatever the data are.
  void look(const ExprPtr& expr) {
    if (auto* select = std::get_if<lang::Select>(&expr->node)) return look(select->condition);
    auto* binary = std::get_if<lang::Binary>(&expr->node);
    if (binary && is_logical(binary->op)) return look(binary->left);
    for (const auto& child : lang::children(expr)) look(child);
    auto* access = std::get_if<lang::Access>(&expr->node);
    for (std::size_t d = 0; access && d < access->subscripts.size() && found_.empty(); ++d) {
      auto* index = std::get_if<lang::Access>(&without_casts(access->subscripts[d])->node);
      if (index) scan(*index, lang::evaluate_box(function_.ranges.tensors.at(access->tensor), sizes_)[d]);
    }
  }

  /// Looks for an element of \p index outside \p allowed.
  void scan(const lang::Access& index, const lang::IntegerRange& allowed) {
    const auto argument = std::find_if(arguments_.begin(), arguments_.end(),
                                       [&](const auto& a) { return a.name == index.tensor && !a.output; });
    if (argument == arguments_.end()) return;
    lang::Box box;
    for (const auto& subscript : index.subscripts) {
      auto* name = std::get_if<lang::Name>(&subscript->node);
      if (!name || !ranges_->count(name->id)) return;
      box.push_back(lang::evaluate_box({ranges_->at(name->id)}, sizes_)[0]);
      if (box.back().extent <= 0) return;
    }
    const void* data = pointers_[static_cast<std::size_t>(argument - arguments_.begin())];
    std::vector<std::int64_t> at;
    for (const auto& interval : box) at.push_back(interval.min);
    do {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < at.size(); ++d) offset += at[d] * argument->spec.strides[d];
      const auto value = element(argument->spec.dtype, data, offset);
      if (value >= allowed.min && value < allowed.min + allowed.extent) continue;
      found_ = str("; ", index.tensor, index.bare ? "" : str("(", join(at), ")"), " is ", value);
      return;
    } while (next(at, box));
  }

  /// Moves \p at to the next place of \p box; false behind the last.
  static bool next(std::vector<std::int64_t>& at, const lang::Box& box) {
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < box[d].min + box[d].extent) return true;
      at[d] = box[d].min;
    }
    return false;
  }

  const Function& function_;
  const std::vector<Argument>& arguments_;
  const std::vector<void*>& pointers_;
  lang::SizeMap sizes_;
  const std::map<std::string, lang::Range>* ranges_ = nullptr;
  std::string found_;
};

/// The pointers of all_arguments() for those of the arguments.
std::vector<void*> all_pointers(const Image& image, void* const* arguments) {
  std::vector<void*> result(arguments, arguments + image.arguments.size());
  for (const auto& constant : image.constants)
    if (constant.parameter)
      result.insert(result.begin() + static_cast<std::ptrdiff_t>(*constant.parameter), constant.data.get());
  return result;
}

}  // namespace

std::string first_index_outside(const Image& image, void* const* arguments) {
  try {
    const auto module = define(image.source);
    return Search(*inlined(module.functions.back()), image.all_arguments(), all_pointers(image, arguments)).run();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace tc::engine
