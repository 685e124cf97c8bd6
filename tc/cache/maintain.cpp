#include "tc/cache/maintain.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cache/build_id.h"
#include "tc/cache/cache.h"

namespace tc::cache {
namespace {

void add(Count& count, std::uint64_t bytes) {
  ++count.files;
  count.bytes += bytes;
}

/// The part of \p name after its last '-' and before its suffix.
std::string last_part(const std::string& name) {
  auto begin = name.rfind('-');
  begin = begin == std::string::npos ? 0 : begin + 1;
  return name.substr(begin, name.rfind('.') - begin);
}

std::string problem_of(const Place& place, Fault fault, const std::string& problem) {
  if (!problem.empty()) return problem;
  return str("'", place.path(), fault == Fault::Foreign ? "' is of another version or kind" : "' is no entry");
}

/// \p loaded, unless the process has no file descriptor or memory left to say: then throws ResourceError.
template <typename Loaded>
Loaded known(Loaded loaded) {
  if (loaded.fault == Fault::OutOfResources) throw ResourceError(loaded.problem);
  return loaded;
}

}  // namespace

std::string StoredOptions::id() const { return last_part(place.name); }
std::string StoredDerivation::id() const { return last_part(place.name); }
std::string StoredCode::id() const { return last_part(place.name); }

Stat stat(const std::string& folder) {
  Stat result;
  std::set<std::string> keys;
  for (const auto& [place, file] : find_options(folder)) {
    add(is_temporary(file.name) ? result.temporary : result.options, file.size);
    if (!is_temporary(file.name)) keys.insert(file.name.substr(0, file.name.rfind('-')));
  }
  result.keys = keys.size();
  for (const auto& [place, file] : find_derivations(folder))
    add(is_temporary(file.name) ? result.temporary : result.derivations, file.size);
  for (const auto& [place, file] : find_code(folder)) {
    if (is_temporary(file.name)) {
      add(result.temporary, file.size);
      continue;
    }
    auto loaded = known(load_code(place));
    bool other = loaded.fault == Fault::None && !is_of_these_sources(loaded.entry.build);
    add(other ? result.code_of_other_builds : result.code, file.size);
  }
  return result;
}

std::vector<StoredOptions> list_options(const std::string& folder) {
  std::vector<StoredOptions> result;
  for (const auto& [place, file] : find_options(folder)) {
    auto loaded = known(load_options(place));
    if (loaded.fault == Fault::None) result.push_back({place, std::move(loaded.entry), std::move(loaded.bytes)});
  }
  auto key = [](const StoredOptions& stored) { return stored.place.name.substr(0, stored.place.name.rfind('-')); };
  std::stable_sort(result.begin(), result.end(), [&](const auto& a, const auto& b) {
    auto x = key(a), y = key(b);
    return x != y ? x < y : better(a.entry, b.entry);
  });
  return result;
}

std::vector<StoredDerivation> list_derivations(const std::string& folder) {
  std::vector<StoredDerivation> result;
  for (const auto& [place, file] : find_derivations(folder)) {
    auto loaded = known(load_derivation(place));
    if (loaded.fault == Fault::None) result.push_back({place, std::move(loaded.entry)});
  }
  return result;
}

std::vector<StoredCode> list_code(const std::string& folder) {
  std::vector<StoredCode> result;
  for (const auto& [place, file] : find_code(folder)) {
    auto loaded = known(load_code(place));
    if (loaded.fault == Fault::None) result.push_back({place, std::move(loaded.entry), file.size});
  }
  return result;
}

std::vector<Finding> verify(const std::string& folder) {
  std::vector<Finding> findings;
  auto note = [&](const Place& place, Fault fault, const std::string& problem) {
    if (fault != Fault::None && fault != Fault::Absent)
      findings.push_back({place, fault, problem_of(place, fault, problem)});
  };
  for (const auto& [place, file] : find_options(folder)) {
    if (is_temporary(file.name)) continue;
    auto loaded = known(load_options(place));
    note(place, loaded.fault, loaded.problem);
  }
  for (const auto& [place, file] : find_derivations(folder)) {
    if (is_temporary(file.name)) continue;
    auto loaded = known(load_derivation(place));
    note(place, loaded.fault, loaded.problem);
  }
  for (const auto& [place, file] : find_code(folder)) {
    if (is_temporary(file.name)) continue;
    auto loaded = known(load_code(place));
    note(place, loaded.fault, loaded.problem);
  }
  return findings;
}

void add_entry(const std::string& folder, std::string_view bytes, Transfer& transfer) {
  OptionsEntry options;
  MeasuredDerivation derivation;
  Place where;
  bool present = false;
  if (parse(bytes, options) == Fault::None) {
    where = options_place(folder, options_name(options, bytes));
    present = load_options(where).bytes == bytes;
  } else if (parse(bytes, derivation) == Fault::None) {
    where = derivation_place(folder, derivation_name(derivation.key));
    const auto loaded = load_derivation(where);
    present = loaded.fault == Fault::None && !better(derivation, loaded.entry);
  } else {
    ++transfer.refused;
    return;
  }
  if (present) {
    ++transfer.present;
    return;
  }
  auto problem = keep(where, bytes);
  if (!problem.empty()) throw ResourceError(problem);
  ++transfer.taken;
  Cache::options_changed();
}

std::size_t remove(const std::string& folder, const std::string& id) {
  if (id.size() < 8) throw ArgumentError(str("'", id, "' is too short to say which entry to remove: give 8 digits"));
  std::vector<Place> places;
  for (const auto& stored : list_options(folder))
    if (stored.id().rfind(id, 0) == 0) places.push_back(stored.place);
  for (const auto& stored : list_derivations(folder))
    if (stored.id().rfind(id, 0) == 0) places.push_back(stored.place);
  for (const auto& stored : list_code(folder))
    if (stored.id().rfind(id, 0) == 0) places.push_back(stored.place);
  for (const auto& place : places) {
    auto opened = open_place(place, Purpose::Change);
    if (!opened.folder || !remove_own(opened.folder, place.name))
      throw ResourceError(
          str("cannot remove '", place.path(), "'", opened.problem.empty() ? "" : ": ", opened.problem));
  }
  Cache::options_changed();
  return places.size();
}

Transfer merge(const std::string& into, const std::string& from) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(from, unknown))
    throw ArgumentError(str("there is no folder '", from, "' to merge"));
  Transfer transfer;
  for (const auto& [place, file] : find_options(from))
    if (!is_temporary(file.name)) add_entry(into, known(load_options(place)).bytes, transfer);
  for (const auto& [place, file] : find_derivations(from)) {
    if (is_temporary(file.name)) continue;
    const auto loaded = known(load_derivation(place));
    add_entry(into, loaded.fault == Fault::None ? to_bytes(loaded.entry) : "", transfer);
  }
  return transfer;
}

}  // namespace tc::cache
