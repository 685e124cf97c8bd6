#include "tc/engine/compile/bind_constants.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tc/base/check_tensor.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/back_end.h"
#include "tc/engine/run/overlap.h"
#include "tc/engine/run/pointer_table.h"

namespace tc::engine {
namespace {

/// What the arguments of an image become: constants, or arguments at another place.
std::vector<Slot> new_slots(const Image& image, const std::vector<Constant>& constants) {
  std::map<std::size_t, std::size_t> bound;
  for (std::size_t c = 0; c < constants.size(); ++c) bound[*constants[c].parameter] = image.constants.size() + c;
  std::vector<Slot> slots;
  std::size_t left = 0;
  for (std::size_t i = 0; i < image.arguments.size(); ++i)
    if (auto found = bound.find(i); found != bound.end())
      slots.push_back(ConstantSlot{found->second});
    else
      slots.push_back(ArgumentSlot{left++});
  return slots;
}

/// The place of argument \p index; none of a constant.
std::optional<std::size_t> place_of(const std::vector<Slot>& slots, std::size_t index) {
  const auto* argument = std::get_if<ArgumentSlot>(&slots[index]);
  return argument ? std::optional(argument->index) : std::nullopt;
}

std::vector<InPlace> placed(const std::vector<InPlace>& pairs, const std::vector<Slot>& slots) {
  std::vector<InPlace> result;
  for (const auto& pair : pairs) {
    const auto input = place_of(slots, static_cast<std::size_t>(pair.input));
    const auto output = place_of(slots, static_cast<std::size_t>(pair.output));
    if (input && output) result.push_back({static_cast<int>(*input), static_cast<int>(*output)});
  }
  return result;
}

Image bound_image(Image image, const std::vector<Constant>& constants) {
  const auto slots = new_slots(image, constants);
  for (auto& launch : image.launches)
    for (auto& slot : launch.slots)
      if (const auto* argument = std::get_if<ArgumentSlot>(&slot)) slot = Slot(slots[argument->index]);
  image.in_place = placed(image.in_place, slots);
  std::vector<Argument> left;
  for (std::size_t i = 0; i < image.arguments.size(); ++i)
    if (place_of(slots, i)) left.push_back(std::move(image.arguments[i]));
  image.arguments = std::move(left);
  image.constants.insert(image.constants.end(), constants.begin(), constants.end());
  return image;
}

/// Runs \p whole, an interpreted def, with the pointers of \p constants at their places.
Executable::Interpreter bound_interpreter(std::shared_ptr<const Executable> whole, std::vector<Constant> constants) {
  auto slots = new_slots(whole->image(), constants);
  return [whole = std::move(whole), constants = std::move(constants), slots = std::move(slots)](void* const* given) {
    PointerTable table(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i)
      table[i] = std::visit(overloaded{[&](const ArgumentSlot& x) { return given[x.index]; },
                                       [&](const ConstantSlot& x) { return constants[x.index].data.get(); },
                                       [](const WorkspaceSlot&) -> void* { return nullptr; }},
                            slots[i]);
    whole->run_unchecked(table.data());
  };
}

}  // namespace

std::vector<Constant> check_constants(const Function& function, const std::vector<TensorSpec>& inputs,
                                      const CompileOptions& options) {
  if (!options.constants.empty() && !back_end_of(options.target).binds_constants)
    throw OptionsError(str("constants are bound on targets of CPUs only, '", options.target, "' is none"));
  auto result = options.constants;
  const auto& params = function.def.params;
  for (auto& constant : result) {
    auto is_named = [&](const auto& other) { return other.name == constant.name; };
    const auto param = std::find_if(params.begin(), params.end(), is_named);
    if (param == params.end())
      throw ArgumentError(str("'", function.name(), "' has no parameter '", constant.name, "' to bind a constant to"));
    if (std::count_if(result.begin(), result.end(), is_named) > 1)
      throw ArgumentError(str("two constants are given for the parameter '", constant.name, "'"));
    constant.parameter = static_cast<std::size_t>(param - params.begin());
    check_tensor(constant.view(), str("the constant '", constant.name, "' of '", function.name(), "'"));
    if (*constant.parameter >= inputs.size() || normalised(constant.spec) != normalised(inputs[*constant.parameter]))
      throw ArgumentError(str("the constant '", constant.name, "' is ", constant.spec,
                              ", and the input is compiled for ",
                              *constant.parameter < inputs.size() ? str(inputs[*constant.parameter]) : "nothing"));
    constant.spec = normalised(constant.spec);
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return *a.parameter < *b.parameter; });
  return result;
}

std::set<std::string> names_of(const std::vector<Constant>& constants) {
  std::set<std::string> names;
  for (const auto& constant : constants) names.insert(constant.name);
  return names;
}

std::shared_ptr<const Executable> bind_constants(const std::shared_ptr<const Executable>& whole,
                                                 const std::vector<Constant>& constants) {
  auto image = bound_image(whole->image(), constants);
  if (whole->interpreted())
    return std::make_shared<Executable>(std::move(image), whole->stats(), bound_interpreter(whole, constants));
  return std::make_shared<Executable>(std::move(image), whole->stats(), whole->loaded());
}

}  // namespace tc::engine
