#include "tc/lang/generic/instance.h"

#include <algorithm>
#include <tuple>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/leading.h"

namespace tc::lang {
namespace {

std::size_t named_dimensions(const TensorDecl& decl) {
  return decl.dims ? decl.dims->size() - (has_leading(decl) ? 1 : 0) : 0;
}

std::string dimensions(int count, const char* kind = "") {
  return str(count, " ", kind, count == 1 ? "dimension" : "dimensions");
}

}  // namespace

bool Instance::operator<(const Instance& other) const {
  return std::tie(types, leading) < std::tie(other.types, other.leading);
}

std::string print(const Instance& instance) {
  std::vector<std::string> parts;
  for (const auto& [name, type] : instance.types) parts.push_back(str(name, " = ", type));
  parts.push_back(dimensions(instance.leading, "leading "));
  return join(parts);
}

bool has_leading(const TensorDecl& decl) { return decl.dims && !decl.dims->empty() && is_leading(decl.dims->front()); }

bool is_generic(const Def& def) {
  return std::any_of(def.params.begin(), def.params.end(),
                     [](const TensorDecl& decl) { return !decl.type_name.empty() || has_leading(decl); });
}

Instance usual_instance(const Def& def) {
  Instance result;
  for (const auto& decl : def.params) {
    if (!decl.type_name.empty()) result.types[decl.type_name] = DType::Float32;
    if (has_leading(decl)) result.leading = 1;
  }
  return result;
}

Instance instance_for(const Def& def, const std::vector<Operand>& operands) {
  if (operands.size() != def.params.size())
    throw ArgumentError(
        str("'", def.name, "' takes ", def.params.size(), " tensors, ", operands.size(), " were given"));
  Instance result = usual_instance(def);
  std::map<std::string, const TensorDecl*> typed_by;
  const TensorDecl* ranked_by = nullptr;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto& decl = def.params[i];
    if (!decl.type_name.empty() && operands[i].type) {
      const auto [known, is_first] = typed_by.emplace(decl.type_name, &decl);
      auto& type = result.types[decl.type_name];
      if (is_first) type = *operands[i].type;
      if (type != *operands[i].type)
        throw ArgumentError(str("'", decl.name, "' of '", def.name, "' is ", *operands[i].type, " and '",
                                known->second->name, "' is ", type, ", and both have the type ", decl.type_name,
                                ": convert one of them"));
    }
    if (!has_leading(decl)) continue;
    const int leading = operands[i].rank - static_cast<int>(named_dimensions(decl));
    if (leading < 0)
      throw ArgumentError(str("'", decl.name, "' of '", def.name, "' has ", dimensions(operands[i].rank), ", at least ",
                              named_dimensions(decl), " are needed"));
    if (ranked_by && leading != result.leading)
      throw ArgumentError(str("'", decl.name, "' of '", def.name, "' has ", dimensions(leading, "leading "), " and '",
                              ranked_by->name, "' has ", result.leading,
                              ": '...' stands for the same dimensions in all"));
    ranked_by = &decl;
    result.leading = leading;
  }
  return result;
}

}  // namespace tc::lang
