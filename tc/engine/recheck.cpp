#include "tc/engine/recheck.h"

#include "tc/base/str.h"
#include "tc/cache/build_id.h"
#include "tc/engine/graph/compile.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/engine/persistent.h"

namespace tc::engine {
namespace {

std::shared_ptr<const Executable> compile_again(const cache::CodeEntry& entry) {
  auto module = define(entry.source);
  if (module.functions.size() != 1) throw ArgumentError("its source is not one def");
  std::vector<TensorSpec> inputs, outputs;
  for (const auto& tensor : entry.key.tensors) (tensor.output ? outputs : inputs).push_back(tensor.spec);
  const auto& function = module.functions.front();
  CompileOptions options;
  auto arguments = make_arguments(*function, inputs, outputs);
  for (std::size_t i = 0; i < std::min(arguments.size(), entry.key.tensors.size()); ++i)
    if (!(arguments[i].aligned = entry.key.tensors[i].aligned)) options.unaligned.insert(arguments[i].name);
  options.target = Target::parse(entry.key.target);
  options.mapping = options::MappingOptions::parse(entry.options);
  options.stages.verify = true;
  options.partition = graph::Partition::One;
  for (const auto& size : entry.key.sizes) options.symbolic[size.name] = size.least;
  if (!(code_key(*function, arguments, options) == entry.key)) throw ArgumentError("its source is not that of its key");
  return compile(function, inputs, outputs, options);
}

/// The bytes of \p image without its evidence: equal sets of isl have several texts.
std::string code_of(Image image) {
  image.evidence.clear();
  return image.serialise();
}

}  // namespace

std::string recheck(const cache::CodeEntry& entry) {
  if (entry.build != cache::compiler_build_id()) return "it is of another build of the compiler";
  try {
    if (auto tools = machine_kind_of(Target::parse(entry.key.target)).code_tools(); tools != entry.key.tools)
      return str("it was made with ", entry.key.tools, ", here is ", tools.empty() ? "neither" : tools);
    const bool same = code_of(compile_again(entry)->image()) == code_of(Image::deserialise(entry.image));
    const bool is_fixed = !begins_at_nearest(options::MappingOptions::parse(entry.options));
    return same || !is_fixed ? "" : "it is not the machine code that its source compiles to";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace tc::engine
