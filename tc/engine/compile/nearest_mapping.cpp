#include "tc/engine/compile/nearest_mapping.h"

#include <string>

#include "tc/engine/compile/search_of.h"
#include "tc/engine/define/late_inlining.h"
#include "tc/engine/machine/machine_kind.h"

namespace tc::engine {

cache::Key persistent_key(const Function& function, const std::vector<Argument>& arguments, const Target& target) {
  cache::Key key;
  key.program = program_key(function);
  key.target = to_string(target);
  for (const auto& argument : arguments) key.tensors.push_back({argument.spec, argument.output});
  return key;
}

bool begins_at_nearest(const options::MappingOptions& mapping) {
  const auto search = search_of(mapping.construct());
  return search && search->policy != strategy::ConstructionPolicy::Descent && !search->alone;
}

std::optional<options::MappingOptions> nearest_mapping(const Function& function, const std::vector<Argument>& arguments,
                                                       const CompileOptions& options) {
  if (!begins_at_nearest(options.mapping) || !options.cache) return std::nullopt;
  const auto key = persistent_key(function, arguments, options.target);
  const auto nearest = options.cache->nearest(key, machine_kind_of(options.target).circumstances(options.target));
  if (!nearest) return std::nullopt;
  const std::vector<std::string> none;
  return nearest->entry.options.with("parallel_along", none).with("vector_along", none).with_nest("");
}

}  // namespace tc::engine
