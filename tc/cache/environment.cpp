#include "tc/cache/environment.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"

namespace tc::cache {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = std::min(text.find(':', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

CacheSettings settings_from_environment(const std::string& mode) {
  CacheSettings settings;
  settings.folder = default_folder();
  settings.writable = mode.empty() || parse_mode(mode);
  settings.override_folder = variable("TC_CACHE_OVERRIDE");
  settings.shared = split(variable("TC_CACHE_PATH"));
  if (auto size = variable("TC_CACHE_MAX_SIZE"); !size.empty()) settings.max_bytes = parse_size(size);
  return settings;
}

}  // namespace

std::string default_folder() {
  if (auto folder = variable("TC_CACHE_DIR"); !folder.empty()) return folder;
  if (auto folder = variable("XDG_CACHE_HOME"); !folder.empty()) return folder + "/tensor_comprehensions";
  if (auto folder = variable("HOME"); !folder.empty()) return folder + "/.cache/tensor_comprehensions";
  return "";
}

bool parse_mode(std::string_view text) {
  if (text == "rw") return true;
  if (text == "ro") return false;
  throw OptionsError(str("cache mode '", text, "': must be rw (read and write), ro (only read) or off"));
}

std::uint64_t parse_size(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  int shift = unit == "k" ? 10 : unit == "m" ? 20 : unit == "g" ? 30 : unit.empty() ? 0 : -1;
  if (error != std::errc() || shift < 0 || value > (std::uint64_t(1) << 62) >> shift)
    throw OptionsError(str("cache size '", text, "': must be a number of bytes, for example 500m or 2g"));
  return value << shift;
}

std::shared_ptr<Cache> from_environment() {
  static auto& mutex = *new ForkMutex;
  static auto& known = *new std::map<std::string, std::shared_ptr<Cache>>();
  auto mode = variable("TC_CACHE_MODE");
  if (mode == "off") return nullptr;
  auto settings = settings_from_environment(mode);
  if (settings.folder.empty() && settings.override_folder.empty() && settings.shared.empty()) return nullptr;
  auto id = str(settings.folder, '\0', settings.writable, '\0', settings.override_folder, '\0',
                join(settings.shared, ":"), '\0', settings.max_bytes);
  std::lock_guard lock(mutex);
  auto& cache = known[id];
  if (!cache) cache = std::make_shared<Cache>(std::move(settings));
  return cache;
}

}  // namespace tc::cache
