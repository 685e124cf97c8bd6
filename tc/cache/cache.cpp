#include "tc/cache/cache.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "tc/base/error.h"
#include "tc/base/log.h"
#include "tc/base/str.h"
#include "tc/cache/build_id.h"
#include "tc/cache/file_io.h"
#include "tc/cache/layout.h"
#include "tc/cache/maintain.h"

namespace tc::cache {
namespace {

constexpr std::int64_t stamp_age = 3600;    ///< seconds after which a use is recorded again
constexpr std::uint64_t puts_a_check = 64;  ///< of code, between two looks at the size of the folder
constexpr std::size_t most_warnings = 64;

std::atomic<std::uint64_t> changes_of_options{0};

/// Why nobody would read the entry \p bytes, for example for a time that no clock gives; "" for nothing.
std::string unreadable(const std::string& bytes) {
  OptionsEntry entry;
  if (parse(bytes, entry) == Fault::None) return "";
  return "options are not kept that no reader would take: is their time that of a clock, and their note plain text "
         "(UTF-8, without control characters)?";
}

std::string not_kept(const std::string& problem) { return str("machine code is not kept: ", problem); }

}  // namespace

Cache::Cache(CacheSettings settings) : settings_(std::move(settings)) {}

std::uint64_t Cache::generation() { return changes_of_options; }

void Cache::options_changed() { ++changes_of_options; }

std::vector<std::string> Cache::folders() const {
  std::vector<std::string> result;
  if (!settings_.override_folder.empty()) result.push_back(settings_.override_folder);
  if (!settings_.folder.empty()) result.push_back(settings_.folder);
  result.insert(result.end(), settings_.shared.begin(), settings_.shared.end());
  return result;
}

void Cache::warn(const std::string& warning) const {
  {
    std::lock_guard lock(mutex_);
    if (warned_.size() >= most_warnings || !warned_.insert(warning).second) return;
    warnings_.push_back(warning);
  }
  log(LogLevel::Warning, str("cache: ", warning));
}

std::vector<std::string> Cache::take_warnings() {
  std::lock_guard lock(mutex_);
  return std::exchange(warnings_, {});
}

std::optional<OptionsEntry> Cache::load(const Place& place) const {
  auto loaded = load_options(place);
  if (!loaded.problem.empty()) warn(loaded.problem);
  if (loaded.fault != Fault::None) return std::nullopt;
  return std::move(loaded.entry);
}

std::vector<Place> Cache::places_in(Places found) const {
  if (!found.problem.empty()) warn(found.problem);
  return std::move(found.all);
}

std::vector<OptionsEntry> Cache::find(const Key& key, const Circumstances& here) const {
  std::vector<OptionsEntry> found;
  for (const auto& folder : folders()) {
    for (const auto& place : places_in(options_for(folder, key)))
      if (auto entry = load(place); entry && entry->key == key) found.push_back(std::move(*entry));
    if (!found.empty()) break;
  }
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return better(a, b, here); });
  return found;
}

std::optional<OptionsEntry> Cache::best(const Key& key, const Circumstances& here) const {
  auto found = find(key, here);
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::optional<OptionsEntry> Cache::best_of_architecture(const Key& key, const Circumstances& here) const {
  std::optional<OptionsEntry> result;
  for (const auto& folder : folders()) {
    for (const auto& place : places_in(options_for_family(folder, key))) {
      auto entry = load(place);
      if (!entry || family(entry->key) != family(key) || entry->key.tensors != key.tensors) continue;
      auto nearness = [&](const OptionsEntry& e) { return machine_distance(e.key, key); };
      bool nearer = !result || nearness(*entry) < nearness(*result);
      if (nearer || (nearness(*entry) == nearness(*result) && better(*entry, *result, here))) result = std::move(entry);
    }
    if (result) break;
  }
  return result;
}

std::optional<Nearest> Cache::nearest(const Key& key, const Circumstances& here) const {
  std::optional<Nearest> result;
  const auto wanted = family(key);
  for (const auto& folder : folders()) {
    for (const auto& place : places_in(options_for_family(folder, key))) {
      auto entry = load(place);
      if (!entry || family(entry->key) != wanted) continue;
      Nearest candidate{std::move(*entry), 0};
      candidate.distance = distance(candidate.entry.key, key);
      bool nearer = !result || candidate.distance < result->distance;
      bool as_near = result && candidate.distance == result->distance && better(candidate.entry, result->entry, here);
      if (nearer || as_near) result = std::move(candidate);
    }
    if (result && result->distance == 0) break;
  }
  return result;
}

bool Cache::put(OptionsEntry entry) {
  if (!settings_.writable || settings_.folder.empty()) return false;
  if (entry.created_at == 0) entry.created_at = seconds_since_1970();
  auto bytes = to_bytes(entry);
  auto problem = unreadable(bytes);
  if (problem.empty()) {
    problem = keep(options_place(settings_.folder, options_name(entry, bytes)), bytes);
  }
  if (!problem.empty()) warn(problem);
  options_changed();
  return problem.empty();
}

std::optional<CodeEntry> Cache::find_code(const Key& key, const std::string& options, const std::string& source) const {
  if (settings_.folder.empty()) return std::nullopt;
  const auto& build = compiler_build_id();
  auto where = code_place(settings_.folder, code_name(key, options, source, build));
  auto purpose = settings_.writable ? Purpose::Change : Purpose::Read;
  auto loaded = load_code(where, purpose, settings_.writable ? stamp_age : 0);
  if (!loaded.problem.empty()) warn(loaded.problem);
  auto& entry = loaded.entry;
  if (loaded.fault != Fault::None || !(entry.key == key) || entry.options != options || entry.source != source ||
      entry.build != build)
    return std::nullopt;
  return std::move(entry);
}

bool Cache::put(CodeEntry entry) {
  if (!settings_.writable || settings_.folder.empty()) return false;
  entry.build = compiler_build_id();
  if (entry.created_at == 0) entry.created_at = seconds_since_1970();
  auto where = code_place(settings_.folder, code_name(entry.key, entry.options, entry.source, entry.build));
  auto [secret, problem] = user_secret(true);
  if (secret) problem = keep(where, to_bytes(entry, *secret));
  if (!problem.empty()) warn(not_kept(problem));
  if (problem.empty() && code_puts_++ % puts_a_check == 0) keep_size();
  return problem.empty();
}

void Cache::keep_size() {
  GcRules rules;
  rules.max_bytes = settings_.max_bytes;
  rules.only_when_full = true;
  try {
    gc(settings_.folder, rules);
  } catch (const Error& error) {
    warn(error.what());
  }
}

}  // namespace tc::cache
