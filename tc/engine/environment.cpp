#include "tc/engine/environment.h"

#include <cstdlib>
#include <string_view>

#include "tc/cache/environment.h"
#include "tc/cpu/thread_pool.h"

namespace tc::engine {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_set(const char* name) { return !variable(name).empty() && variable(name) != "0"; }

}  // namespace

CompileOptions options_from_environment() {
  cpu::thread_choice();
  CompileOptions options;
  options.interpret = is_set("TC_INTERPRET");
  options.stages.verify = is_set("TC_VERIFY");
  options.stages.dump_directory = std::string(variable("TC_DUMP"));
  options.cache = cache::from_environment();
  if (variable("TC_OPTIONS").empty())
    options.mapping_from = MappingFrom::Cached;
  else
    options.mapping = options::MappingOptions::parse(variable("TC_OPTIONS"));
  return options;
}

}  // namespace tc::engine
