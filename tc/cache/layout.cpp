#include "tc/cache/layout.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "tc/base/str.h"

namespace tc::cache {
namespace {

constexpr std::size_t id_bytes = 16;                   ///< of a digest, in names of files
constexpr std::size_t family_size = 2 * id_bytes + 1;  ///< of the prefix that a family has in common
constexpr std::string_view options_suffix = ".options", code_suffix = ".code";

std::string damage(const Place& place, Fault fault) {
  return fault == Fault::Damaged ? str("'", place.path(), "' is damaged") : std::string();
}

std::string family_prefix(const Key& key) { return hex(family(key), id_bytes) + "-"; }

/// Adds the files in \p folder whose names begin with \p prefix.
void add_files(const std::string& folder, const std::string& prefix, std::vector<Place>& places) {
  for (auto& file : list_files(folder, false))
    if (file.name.compare(0, prefix.size(), prefix) == 0) places.push_back({folder, std::move(file.name)});
}

}  // namespace

std::string options_root(const std::string& folder) { return folder + "/options"; }
std::string code_root(const std::string& folder) { return folder + "/code"; }

Place options_place(const std::string& folder, const std::string& name) {
  return {str(options_root(folder), "/", name.substr(0, 2), "/", name.substr(family_size, 2)), name};
}

Place code_place(const std::string& folder, const std::string& name) {
  return {str(code_root(folder), "/", name.substr(0, 2)), name};
}

std::string key_prefix(const Key& key) { return family_prefix(key) + hex(digest(key), id_bytes) + "-"; }

std::vector<Place> options_for(const std::string& folder, const Key& key) {
  std::vector<Place> places;
  const auto prefix = key_prefix(key);
  add_files(options_place(folder, prefix).folder, prefix, places);
  return places;
}

std::vector<Place> options_for_family(const std::string& folder, const Key& key) {
  std::vector<Place> places;
  const auto prefix = family_prefix(key);
  std::error_code error;
  std::filesystem::directory_iterator keys(str(options_root(folder), "/", prefix.substr(0, 2)), error), end;
  for (; !error && keys != end; keys.increment(error)) add_files(keys->path().string(), prefix, places);
  return places;
}

std::string options_name(const OptionsEntry& entry, std::string_view bytes) {
  return str(key_prefix(entry.key), hex(sha256(bytes), id_bytes), options_suffix);
}

std::string code_name(const Key& key, const std::string& options, const std::string& source, const std::string& build) {
  return str(hex(code_digest(key, options, source, build)), code_suffix);
}

std::vector<Found> find_files(const std::string& root) {
  std::vector<Found> found;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entries(root, error), end;
  std::vector<std::string> folders;
  for (; !error && entries != end; entries.increment(error))
    if (entries->is_directory(error) && !entries->is_symlink(error)) folders.push_back(entries->path().string());
  for (const auto& folder : folders)
    for (auto& file : list_files(folder, true)) found.push_back({{folder, file.name}, file});
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.place.name < b.place.name; });
  return found;
}

Fault read_entry(const std::string& name, std::string_view bytes, OptionsEntry& entry) {
  auto fault = parse(bytes, entry);
  return fault == Fault::None && options_name(entry, bytes) != name ? Fault::Damaged : fault;
}

Fault read_entry(const std::string& name, std::string_view bytes, CodeEntry& entry) {
  auto fault = parse(bytes, entry);
  bool own = fault != Fault::None || code_name(entry.key, entry.options, entry.source, entry.build) == name;
  return own ? fault : Fault::Damaged;
}

LoadedOptions load_options(const Place& place) {
  LoadedOptions loaded;
  auto file = read_file(place.path(), {options_limit, false});
  loaded.fault = file.fault;
  loaded.problem = file.problem;
  if (file.fault != Fault::None) return loaded;
  loaded.fault = read_entry(place.name, file.bytes, loaded.entry);
  loaded.problem = damage(place, loaded.fault);
  loaded.bytes = std::move(file.bytes);
  return loaded;
}

LoadedCode load_code(const Place& place) {
  LoadedCode loaded;
  auto file = read_file(place.path(), {code_limit, true});
  loaded.fault = file.fault;
  loaded.problem = file.problem;
  loaded.modified_at = file.modified_at;
  if (file.fault != Fault::None) return loaded;
  loaded.fault = read_entry(place.name, file.bytes, loaded.entry);
  loaded.problem = damage(place, loaded.fault);
  return loaded;
}

std::string keep(const std::string& folder, const Place& place, std::string_view bytes, const WriteRules& rules) {
  if (bytes.size() > (rules.owner_only ? code_limit : options_limit))
    return str("an entry of ", bytes.size(), " bytes is too large to keep");
  auto problem = make_folder(folder, 0755);
  return problem.empty() ? write_file(place.folder, place.name, bytes, rules) : problem;
}

std::string untrusted_code(const std::string& folder) {
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0) return "";
  std::error_code error;
  auto resolved = std::filesystem::canonical(folder, error).string();
  if (auto problem = untrusted(resolved); !problem.empty()) return problem;
  if (::lstat(code_root(folder).c_str(), &info) != 0) return "";
  return untrusted(code_root(folder));
}

}  // namespace tc::cache
