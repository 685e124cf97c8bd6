#include "tc/engine/persistent.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "tc/base/str.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

using Names = std::map<std::string, std::vector<std::string>>;

/// Each name of the option called \p option replaced by those \p names gives for it, each once.
options::MappingOptions renamed(const options::MappingOptions& options, const char* option, const Names& names) {
  std::vector<std::string> result;
  const auto given = std::get<std::vector<std::string>>(options.value(option));
  for (const auto& old : given) {
    auto known = names.find(old);
    for (const auto& name : known == names.end() ? std::vector<std::string>{old} : known->second)
      if (std::find(result.begin(), result.end(), name) == result.end()) result.push_back(name);
  }
  return options.with(option, result);
}

options::MappingOptions renamed(const options::MappingOptions& options, const Names& names) {
  return renamed(renamed(options, "parallel_along", names), "vector_along", names);
}

bool names_iterators(const options::MappingOptions& options) {
  return !options.values().parallel_along.empty() || !options.values().vector_along.empty();
}

/// May the code of a compile like this be one that another process made?
bool may_keep(const CompileOptions& options) {
  return options.cache && !options.interpret && options.stages.replace.empty() && !options.stages.mutate;
}

/// May it be read instead of made? Not where the stages are asked for their texts.
bool may_load(const CompileOptions& options) {
  return may_keep(options) && !options.stages.keep_text && options.stages.dump_directory.empty();
}

/// The sizes of \p key as an image has them.
lang::SizeRanges ranges_of(const cache::Key& key) {
  lang::SizeRanges result;
  for (const auto& size : key.sizes) result[size.name] = {size.least, size.most};
  return result;
}

/// Is \p image of \p source for \p arguments and the sizes of \p key?
bool is_for(const Image& image, const cache::Key& key, const std::vector<Argument>& arguments,
            const std::string& source) {
  auto same = [](const Argument& a, const Argument& b) {
    return a.name == b.name && a.spec == b.spec && a.output == b.output && a.read == b.read && a.mins == b.mins &&
           a.aligned == b.aligned;
  };
  const auto telling = key.sizes.empty() ? 0 : 1;  // the last argument of code for ranges tells values of a run
  return image.source == source && image.symbolic == ranges_of(key) && !image.told &&
         std::equal(image.arguments.begin(), image.arguments.end() - telling, arguments.begin(), arguments.end(), same);
}

/// The executable in the cache, null for none.
std::shared_ptr<const Executable> load(const cache::Key& key, const std::string& source,
                                       const std::vector<Argument>& arguments, const CompileOptions& options) {
  auto start = std::chrono::steady_clock::now();
  auto entry = options.cache->find_code(key, options.mapping.to_text(), source);
  if (!entry || (options.stages.verify && entry->verified_stages.empty())) return nullptr;
  try {
    auto image = Image::deserialise(entry->image);
    if (!is_for(image, key, arguments, source)) return nullptr;
    CompileStats stats;
    stats.from_cache = true;
    stats.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    stats.records.push_back({"load", stats.milliseconds, {}});
    return std::make_shared<Executable>(std::move(image), std::move(stats));
  } catch (const Error& error) {
    options.cache->warn(str("machine code of the cache cannot be used: ", error.what()));
    return nullptr;
  }
}

/// The stage whose text is the loop nest of a processor: the last before passes for machines and LLVM.
constexpr const char* loop_nest_stage = "unswitch_guards";

/// The text that became machine code: CUDA C++, or the loop nests.
std::string generated_source(const Executable& executable) {
  if (executable.image().is_for_gpu()) return executable.image().modules.front().text;
  std::vector<std::string> texts;
  for (const auto& record : executable.stats().records)
    if (record.step == loop_nest_stage) texts.push_back(record.text);
  return join(texts, "\n");
}

cache::CodeEntry make_entry(const cache::Key& key, const std::string& source, const Executable& executable,
                            const CompileOptions& options) {
  cache::CodeEntry entry;
  entry.key = key;
  entry.options = options.mapping.to_text();
  entry.source = source;
  entry.generated = generated_source(executable);
  entry.image = executable.image().serialise();
  entry.compile_milliseconds = executable.stats().milliseconds;
  if (options.stages.verify)
    for (const auto& record : executable.stats().records) entry.verified_stages.push_back(record.name);
  return entry;
}

}  // namespace

cache::Key code_key(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options) {
  auto key = persistent_key(function, arguments, options.target);
  key.tools = machine_kind_of(options.target).code_tools();
  for (std::size_t i = 0; i < arguments.size(); ++i) key.tensors[i].aligned = arguments[i].aligned;
  const auto sizes = options.symbolic.empty() ? lang::SizeMap() : bind_inputs(function, specs(arguments, false));
  for (const auto& [name, least] : options.symbolic)
    if (const auto most = sizes.find(name); most != sizes.end()) key.sizes.push_back({name, least, most->second});
  return key;
}

cache::Circumstances circumstances_here(const Target& target) { return machine_kind_of(target).circumstances(target); }

options::MappingOptions canonical(const options::MappingOptions& options, const Function& function) {
  return names_iterators(options) ? renamed(options, lang::canonical_names(function.def)) : options;
}

options::MappingOptions with_names_of(const Function& function, const options::MappingOptions& options) {
  if (!names_iterators(options)) return options;
  Names inverse;
  for (const auto& [name, given] : lang::canonical_names(function.def))
    for (const auto& canonical : given) inverse[canonical].push_back(name);
  return renamed(options, inverse);
}

cache::OptionsEntry options_entry(const Function& function, const std::vector<Argument>& arguments,
                                  const Target& target, const options::MappingOptions& options) {
  cache::OptionsEntry entry;
  entry.key = persistent_key(function, arguments, target);
  entry.options = canonical(options, function);
  return entry;
}

std::optional<cache::OptionsEntry> entry_in_use(const cache::Cache& cache, const cache::Key& key, const Target& target,
                                                const cache::Circumstances& here) {
  auto best = cache.best(key, here);
  return best || !machine_kind_of(target).shares_options ? best : cache.best_of_architecture(key, here);
}

std::optional<options::MappingOptions> find_mapping(const Function& function, const std::vector<Argument>& arguments,
                                                    const CompileOptions& options) {
  if (options.mapping_from == MappingFrom::Given) return std::nullopt;
  auto key = persistent_key(function, arguments, options.target);
  if (options.cache)
    if (auto best = entry_in_use(*options.cache, key, options.target, circumstances_here(options.target)))
      return with_names_of(function, best->options);
  if (options.mapping_from == MappingFrom::Tuned)
    throw OptionsError(str(options.cache ? "the cache has" : "there is no cache, so there are",
                           " no tuned options for '", function.name(), "' with ", cache::tensors_text(key), " on ",
                           key.target,
                           ": tune it first, or ask for cached options, which fall back to the default ones"));
  return std::nullopt;
}

std::optional<options::MappingOptions> find_whole_mapping(const Function& function,
                                                          const std::vector<Argument>& arguments,
                                                          const CompileOptions& options) {
  auto how = options;
  if (how.mapping_from == MappingFrom::Tuned) how.mapping_from = MappingFrom::Cached;
  return find_mapping(function, arguments, how);
}

std::shared_ptr<const Executable> load_kept(const Function& function, const std::vector<Argument>& arguments,
                                            const CompileOptions& options) {
  if (!may_load(options)) return nullptr;
  return load(code_key(function, arguments, options), lang::print(function.def), arguments, options);
}

void keep_code(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options,
               const Executable& executable) {
  if (!may_keep(options) || !options.cache->settings().writable || executable.image().parts > 1) return;
  if (!executable.image().calls.empty()) return;
  auto key = code_key(function, arguments, options);
  options.cache->put(make_entry(key, lang::print(function.def), executable, options));
}

std::shared_ptr<const Executable> load_or_compile(const std::shared_ptr<const Function>& function,
                                                  const std::vector<Argument>& arguments,
                                                  const CompileOptions& options) {
  const bool is_call =
      options.symbolic.empty() && choose_library_call(*inlined(function), arguments, options).call.has_value();
  if (!is_call)
    if (auto loaded = load_kept(*function, arguments, options)) return loaded;
  auto how = options;
  if (may_keep(options) && options.cache->settings().writable) how.stages.keep_text_of.insert(loop_nest_stage);
  how.unaligned = unaligned_names(arguments);
  how.partition = graph::Partition::One;
  auto executable = compile(function, specs(arguments, false), specs(arguments, true), how);
  keep_code(*function, arguments, options, *executable);
  return executable;
}

}  // namespace tc::engine
