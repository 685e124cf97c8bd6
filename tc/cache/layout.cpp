#include "tc/cache/layout.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "tc/base/str.h"

namespace tc::cache {
namespace {

constexpr std::size_t id_bytes = 16;  ///< of a digest, in names of files
constexpr std::string_view options_suffix = ".options", code_suffix = ".code";

std::string damage(const Place& place, Fault fault) {
  return fault == Fault::Damaged ? str("'", place.path(), "' is damaged") : std::string();
}

}  // namespace

std::string options_root(const std::string& folder) {
  return folder + "/options";
}
std::string code_root(const std::string& folder) {
  return folder + "/code";
}

Place place(const std::string& root, const std::string& name) {
  return {root + "/" + name.substr(0, 2), name};
}

std::string family_prefix(const Key& key) {
  return hex(family(key), id_bytes) + "-";
}

std::string key_prefix(const Key& key) {
  return family_prefix(key) + hex(digest(key), id_bytes) + "-";
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
  std::filesystem::directory_iterator folders(root, error), end;
  for (; !error && folders != end; folders.increment(error)) {
    auto folder = folders->path().string();
    for (auto& file : list_files(folder, true)) found.push_back({{folder, file.name}, file});
  }
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
