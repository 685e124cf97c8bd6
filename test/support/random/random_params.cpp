#include "test/support/random/random_params.h"

#include <algorithm>
#include <cmath>

#include "tc/base/str.h"
#include "tc/lang/interpret/arithmetic.h"

namespace tc::test {

using namespace lang;

namespace {

constexpr std::int64_t max_elements = 20000;

/// How many elements a tensor over \p box has, empty dimensions counted as 1.
std::int64_t elements(const Box& box) {
  std::int64_t product = 1;
  for (const auto& interval : box) product *= std::max<std::int64_t>(interval.extent, 1);
  return product;
}

class ParamGenerator {
 public:
  ParamGenerator(Random& random, const SizeMap& sizes, std::string prefix)
      : random_(random), sizes_(sizes), prefix_(std::move(prefix)) {}

  Params run(const std::vector<KnownDef>& callees) {
    std::vector<std::string> names;
    for (const auto& [id, value] : sizes_) names.push_back(id);
    for (const auto& callee : callees)
      for (const auto& param : callee.params) {
        add_param(param.type, param.box);
        if (!param.index_values) continue;
        result_.tensors.back().index_values = param.index_values;
        result_.inputs[result_.tensors.back().name] = {0, param.index_values->extent, false};
      }
    std::int64_t count = random_.between(1, 4);
    for (std::int64_t p = 0; p < count; ++p) {
      Box box;
      std::int64_t rank = p == 0 ? random_.between(1, 3) : random_.between(0, 3);
      for (std::int64_t d = 0; d < rank; ++d) {
        std::int64_t extent = random_.chance(85) ? sizes_.at(random_.pick(names)) : random_.between(1, 4);
        if (random_.chance(10)) extent = 1;
        if (elements(box) * std::max<std::int64_t>(extent, 1) <= max_elements) box.push_back({0, extent});
      }
      add_param(random_.pick(value_types), box);
    }
    if (random_.chance(50)) add_index_param();
    return result_;
  }

 private:
  std::string new_tensor() const { return str(prefix_, result_.tensors.size()); }

  void add_param(DType type, const Box& box) {
    KnownTensor tensor{new_tensor(), type, box, {}, {4, 0, true, true}, {}};
    declare(tensor);
    InputRule rule;
    if (is_unsigned_integer(type)) rule.low = 0;
    if (type == DType::Bool) rule = {0, 2, false};
    Random extremes = random_;  // draws of its own: the programs of seeds stay what they are
    if (is_float(type) && random_.chance(7)) rule.special = true;
    tensor.knowledge.finite = !rule.special;
    if (is_integer(type) && extremes.chance(15)) {
      rule.special = true;
      tensor.knowledge.magnitude =
          std::max(std::fabs(to_double(type, lowest_integer(type))), std::fabs(to_double(type, highest_integer(type))));
    }
    result_.inputs[tensor.name] = rule;
    result_.tensors.push_back(tensor);
  }

  /// An integer parameter whose values subscript one of the others.
  void add_index_param() {
    std::vector<IntegerRange> targets;
    for (const auto& tensor : result_.tensors)
      for (const auto& interval : tensor.box)
        if (interval.extent > 0) targets.push_back(interval);
    if (targets.empty()) return;
    const IntegerRange target = random_.pick(targets);
    KnownTensor tensor;
    tensor.name = new_tensor();
    tensor.type = random_.chance(50) ? DType::Int32 : DType::Int64;
    std::int64_t rank = random_.between(0, 2);
    for (std::int64_t d = 0; d < rank; ++d) tensor.box.push_back({0, random_.pick(targets).extent});
    tensor.knowledge = {127, 0, true, true};
    tensor.index_values = target;
    declare(tensor);
    result_.inputs[tensor.name] = {0, target.extent, false};
    result_.tensors.push_back(tensor);
  }

  /// Adds the parameter \p tensor to the def, its extents as sizes where it may.
  void declare(KnownTensor& tensor) {
    TensorDecl decl{tensor.name, tensor.type, {}, {}};
    std::vector<ExprPtr> dims;
    for (const auto& interval : tensor.box) {
      std::vector<std::string> fitting;
      for (const auto& [id, value] : sizes_)
        if (value == interval.extent) fitting.push_back(id);
      if (fitting.empty()) {
        dims.push_back(size_expr(random_, sizes_, {result_.bound.begin(), result_.bound.end()}, interval.extent));
      } else {
        dims.push_back(name(random_.pick(fitting)));
        result_.bound.insert(std::get<Name>(dims.back()->node).id);
      }
    }
    if (!dims.empty()) decl.dims = dims;
    tensor.extents = dims;
    result_.decls.push_back(decl);
  }

  Random& random_;
  const SizeMap& sizes_;
  std::string prefix_;
  Params result_;
};

}  // namespace

ExprPtr size_expr(Random& random, const SizeMap& sizes, const std::vector<std::string>& bound, std::int64_t value) {
  for (const auto& id : bound) {
    if (!random.chance(60)) continue;
    std::int64_t size = sizes.at(id), difference = value - size;
    if (difference == 0) return name(id);
    if (std::abs(difference) <= 3)
      return binary(difference > 0 ? BinaryOp::Add : BinaryOp::Sub, name(id), integer(std::abs(difference)));
    if (size / 2 == value && random.chance(50)) return binary(BinaryOp::Div, name(id), integer(2));
    if (size * 2 == value && random.chance(50)) return binary(BinaryOp::Mul, integer(2), name(id));
  }
  return integer(value);
}

Params random_params(Random& random, const SizeMap& sizes, const std::string& prefix,
                     const std::vector<KnownDef>& callees) {
  return ParamGenerator(random, sizes, prefix).run(callees);
}

}  // namespace tc::test
