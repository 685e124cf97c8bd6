#include "tc/engine/layouts/measured_alternatives.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/engine/graph/graph_layouts.h"
#include "tc/layout/map/names.h"

namespace tc::engine {
namespace {

using Operands = std::vector<Layout>;

VirtualTensor zeros(const VirtualTensor& tensor, const Layout& layout) {
  auto result = allocate(tensor, layout);
  const auto elements = tensor.spec_in(layout).element_count();
  std::memset(result.data(), 0, static_cast<std::size_t>(elements * byte_size(tensor.type)));
  return result;
}

/// The least seconds of five runs, or of as many as take two milliseconds.
double seconds_of(const Kernel& kernel, const std::vector<VirtualTensor>& tensors) {
  std::vector<void*> operands;
  for (const auto& tensor : tensors) operands.push_back(tensor.data());
  double best = std::numeric_limits<double>::infinity(), all = 0;
  for (int i = 0; i < 5 || all < 2e-3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    kernel.run(operands.data());
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::min(best, took);
    all += took;
  }
  return best;
}

/// Layouts that all images of a call may be in.
Operands of_images(const OperatorProgram& program, const OperatorCall& call, std::int64_t block) {
  Operands result{Layout()};
  auto all = call.inputs;
  all.insert(all.end(), call.outputs.begin(), call.outputs.end());
  const auto& image = program.tensors.at(call.inputs.front());
  const bool whole = std::all_of(all.begin(), all.end(), [&](std::size_t t) {
    const auto& tensor = program.tensors[t];
    return tensor.constant || tensor.dims != image.dims || tensor.size('C') % block == 0;
  });
  if (image.dims.find('C') == std::string::npos) return result;
  result.push_back(channels_last(image));
  if (whole && image.dims.size() > 2) result.push_back(layout::named_layout(str(image.dims, block, "c"), image.dims));
  return result;
}

/// What the alternatives of a call are measured with.
class Measurement {
 public:
  Measurement(const OperatorProgram& program, const OperatorCall& call, OperatorKernels& kernels)
      : program_(program), call_(call), kernels_(kernels), block_(block_of(kernels.target())) {}

  Invocation invocation(Invocation::AtTag at_tag) const {
    Invocation result(call_, std::move(at_tag));
    for (const auto t : call_.inputs) result.inputs.emplace_back(program_.tensors[t]);
    for (const auto t : call_.outputs) result.outputs.emplace_back(program_.tensors[t]);
    return result;
  }

  /// Adds what \p routine of \p library takes.
  void add(const Routine& routine, const OperatorLibrary& library) {
    std::vector<Operands> tried;
    for (const auto& operands : wishes(routine, library)) {
      if (contains(tried, operands)) continue;
      tried.push_back(operands);
      measure(routine, library, operands);
    }
  }

  std::vector<CallAlternative> found;

 private:
  bool counted(std::size_t operand) const { return operand >= call_.inputs.size() || counts(program_, call_, operand); }

  /// The layouts of all operands that \p routine is tried in.
  std::vector<Operands> wishes(const Routine& routine, const OperatorLibrary& library) const {
    auto asked = invocation([](Invocation&) { throw EndAtTag{}; });
    try {
      routine.invoke(asked, library);
    } catch (const EndAtTag&) {
    }
    std::vector<Operands> result;
    const auto images = of_images(program_, call_, block_);
    for (const auto& image : images) {  // of the operands that it takes in any layout
      Operands layouts;
      for (const auto* tensor : asked.operands()) {
        const bool is_image = tensor->tensor().dims == asked.inputs.front().tensor().dims && !tensor->tensor().constant;
        layouts.push_back(tensor->required().value_or(is_image ? simplest(image, tensor->tensor().extents) : Layout()));
      }
      result.push_back(std::move(layouts));
    }
    if (library.name != own_code)
      for (auto& layouts : kernels_.alternatives(asked, block_)) {
        bool known = true;
        for (std::size_t i = 0; i < layouts.size(); ++i) {
          layouts[i] = simplest(layouts[i], asked.operands()[i]->tensor().extents);
          known = known && (!counted(i) || contains(images, layouts[i]));
        }
        if (known) result.push_back(std::move(layouts));
      }
    return result;
  }

  void measure(const Routine& routine, const OperatorLibrary& library, const Operands& layouts) {
    std::vector<VirtualTensor> placed;
    auto call = invocation([&](Invocation& now) {
      const auto operands = now.operands();
      for (std::size_t i = 0; i < operands.size(); ++i) {
        placed.push_back(zeros(operands[i]->tensor(), layouts[i]));
        operands[i]->place(placed.back());
      }
    });
    Kernel kernel;
    try {
      kernel = routine.invoke(call, library);
    } catch (const OptionsError&) {
      return;  // it cannot take these layouts
    }
    const bool leaves_it = library.name != own_code && kernel.runs == "own code";
    const bool is_slowest = kernel.runs == "interpreter" && !found.empty();
    if (leaves_it || is_slowest) return;
    keep({library.name, layouts, seconds_of(kernel, placed)});
  }

  void keep(CallAlternative made) {
    for (auto& known : found) {
      bool same = true;
      for (std::size_t i = 0; i < made.operands.size(); ++i)
        same = same && (!counted(i) || known.operands[i] == made.operands[i]);
      if (!same) continue;
      if (made.seconds < known.seconds) known = std::move(made);
      return;
    }
    found.push_back(std::move(made));
  }

  const OperatorProgram& program_;
  const OperatorCall& call_;
  OperatorKernels& kernels_;
  std::int64_t block_;
};

std::string key_of(const OperatorProgram& program, const OperatorCall& call) {
  TextStream key;
  key << call.op;
  for (const auto& [name, value] : call.attributes) key << " " << name << "=" << value;
  for (const auto t : call.inputs) key << "; " << join(program.tensors[t].extents) << program.tensors[t].constant;
  return key.str();
}

}  // namespace

std::vector<CallAlternative> measured_alternatives(const OperatorProgram& program, const OperatorCall& call,
                                                   const Dispatcher& dispatcher, OperatorKernels& kernels) {
  Measurement measurement(program, call, kernels);
  for (const auto* routine : dispatcher.all("cpu", measurement.invocation({})))
    measurement.add(*routine, dispatcher.library(routine->library));
  return std::move(measurement.found);
}

double measured_conversion(const VirtualTensor& tensor, OperatorKernels& kernels) {
  const auto last = simplest(channels_last(tensor), tensor.extents);
  if (last.is_identity()) return 0;
  const auto from = zeros(tensor, Layout());
  return seconds_of(kernels.of_conversion(from, last), {from, zeros(tensor, last)});
}

EvaluatedProgram evaluate_by_measuring(const OperatorProgram& program, const Dispatcher& dispatcher,
                                       OperatorKernels& kernels) {
  std::map<std::string, std::vector<CallAlternative>> known;
  const auto alternatives_of = [&](const OperatorCall& call) {
    if (call.element_wise || !call.candidates.empty()) return std::vector<CallAlternative>();
    const auto [found, is_new] = known.try_emplace(key_of(program, call));
    if (is_new) found->second = measured_alternatives(program, call, dispatcher, kernels);
    return found->second;
  };
  auto result = evaluate_partially(program, dispatcher, "cpu", false, alternatives_of);
  std::map<std::string, double> seconds;
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    const auto& tensor = program.tensors[t];
    if (tensor.constant) continue;
    const auto [found, is_new] = seconds.try_emplace(str(tensor.dims, join(tensor.extents)));
    if (is_new) found->second = measured_conversion(tensor, kernels);
    result.graph.tensors[t].weight = found->second;
  }
  return result;
}

}  // namespace tc::engine
