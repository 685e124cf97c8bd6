#include "tc/engine/recheck.h"

#include "tc/base/str.h"
#include "tc/cache/build_id.h"
#include "tc/engine/persistent.h"

namespace tc::engine {
namespace {

std::shared_ptr<const Executable> compile_again(const cache::CodeEntry& entry) {
  auto module = define(entry.source);
  if (module.functions.size() != 1) throw ArgumentError("its source is not one def");
  std::vector<TensorSpec> inputs, outputs;
  for (const auto& tensor : entry.key.tensors) (tensor.output ? outputs : inputs).push_back(tensor.spec);
  CompileOptions options;
  options.target = Target::parse(entry.key.target);
  options.mapping = options::MappingOptions::parse(entry.options);
  options.stages.verify = true;
  const auto& function = module.functions.front();
  if (!(persistent_key(*function, make_arguments(*function, inputs, outputs), options.target) == entry.key))
    throw ArgumentError("its source is not that of its key");
  return compile(function, inputs, outputs, options);
}

}  // namespace

std::string recheck(const cache::CodeEntry& entry) {
  if (entry.build != cache::compiler_build_id()) return "it is of another build of the compiler";
  try {
    bool same = compile_again(entry)->image().serialise() == entry.image;
    return same ? "" : "it is not the machine code that its source compiles to";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace tc::engine
