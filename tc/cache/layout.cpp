#include "tc/cache/layout.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::cache {
namespace {

constexpr std::size_t id_bytes = 16;                ///< of a digest, in names of files
constexpr std::size_t id_digits = 2 * id_bytes;     ///< of such an id
constexpr std::size_t family_size = id_digits + 1;  ///< of the prefix that a family has in common
constexpr std::size_t key_size = 2 * family_size;   ///< of that of a key
constexpr std::size_t digest_digits = 2 * sizeof(Digest);
constexpr std::string_view options_suffix = ".options", code_suffix = ".code";

const char* name_of(Part part) {
  return part == Part::Options ? "options" : part == Part::Derivations ? "derivations" : "code";
}

std::uint64_t limit_of(Part part) {
  return part == Part::Options ? options_limit : part == Part::Derivations ? derivation_limit : code_limit;
}

bool is_hex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

bool is_folder_name(const std::string& name) { return name.size() == 2 && is_hex(name); }

bool is_options_name(std::string_view name) {
  if (name.size() != key_size + id_digits + options_suffix.size() || !name.ends_with(options_suffix)) return false;
  auto id = [&](std::size_t at) { return is_hex(name.substr(at, id_digits)); };
  return id(0) && name[id_digits] == '-' && id(family_size) && name[family_size + id_digits] == '-' && id(key_size);
}

/// Is \p name the digits of a digest and \p suffix?
bool is_digest_name(std::string_view name, std::string_view suffix) {
  return name.size() == digest_digits + suffix.size() && name.ends_with(suffix) &&
         is_hex(name.substr(0, digest_digits));
}

/// Is there a file of the cache's name in its place?
bool is_own(const Place& place) {
  if (is_temporary(place.name)) return true;
  if (place.part == Part::Derivations) return is_digest_name(place.name, derivation_suffix);
  if (place.part == Part::Code)
    return is_digest_name(place.name, code_suffix) && code_place(place.root, place.name).below == place.below;
  return is_options_name(place.name) && options_place(place.root, place.name).below == place.below;
}

std::string damage(const Place& place, Fault fault) {
  if (fault == Fault::Damaged) return str("'", place.path(), "' is damaged");
  if (fault == Fault::Unauthentic)
    return str("'", place.path(), "' is not used: it is not signed with the key in '", secret_file(), "'");
  return "";
}

std::string family_prefix(const Key& key) { return hex(family(key), id_bytes) + "-"; }

FolderRules root_rules(Part part, Purpose purpose) {
  FolderRules rules;
  rules.access = part == Part::Code ? Access::OwnWrites : Access::Any;
  rules.follow = part != Part::Code && purpose == Purpose::Read;
  rules.make = purpose == Purpose::Make;
  return rules;
}

FolderRules rules_below(Part part, Purpose purpose) {
  FolderRules rules;
  rules.access = part == Part::Code ? Access::Private : Access::Any;
  rules.make = purpose == Purpose::Make;
  rules.tighten = purpose != Purpose::Read;
  return rules;
}

/// The folder of \p part in the cache folder \p root.
OpenedFolder open_part(const std::string& root, Part part, Purpose purpose) {
  auto opened = open_folder(root, root_rules(part, purpose));
  return opened.folder ? open_folder(opened.folder, name_of(part), rules_below(part, purpose)) : std::move(opened);
}

/// Calls \p visit with the files of the cache that are \p levels folders of two digits below \p opened, which is that of
/// \p place, and their sizes and times if \p stat. Of each level one folder is open at a time. Returns why there may be
/// more; "" where there are not.
template <typename Visit>
std::string visit_files(const OpenedFolder& opened, Place place, int levels, const FolderRules& rules, bool stat,
                        const Visit& visit) {
  if (!opened.folder) return opened.fault == Fault::OutOfResources ? opened.problem : "";
  const auto listing = list(opened.folder, stat && levels == 0);
  auto problem = listing.problem;
  const auto above = place.below;
  for (const auto& name : listing.folders) {
    if (levels == 0 || !is_folder_name(name)) continue;
    place.below = str(above, above.empty() ? "" : "/", name);
    auto below = visit_files(open_folder(opened.folder, name, rules), place, levels - 1, rules, stat, visit);
    if (problem.empty()) problem = std::move(below);
  }
  for (const auto& file : listing.files) {
    place.name = file.name;
    if (levels == 0 && is_own(place)) visit(place, file);
  }
  return problem;
}

std::vector<Found> sorted(std::vector<Found> found) {
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.place.name < b.place.name; });
  return found;
}

/// The files \p levels folders below \p opened, by name.
std::vector<Found> find_files(const OpenedFolder& opened, const Place& place, int levels, const FolderRules& rules) {
  std::vector<Found> found;
  const auto problem = visit_files(opened, place, levels, rules, true,
                                   [&](const Place& at, const Listed& file) { found.push_back({at, file}); });
  if (!problem.empty()) throw ResourceError(str("the cache '", place.root, "' cannot be looked through: ", problem));
  return sorted(std::move(found));
}

/// The options in \p place, and \p levels folders below it, whose names begin with \p prefix.
Places options_that_begin(const std::string& prefix, const Place& place, int levels) {
  Places result;
  result.problem =
      visit_files(open_place(place, Purpose::Read), place, levels, rules_below(Part::Options, Purpose::Read), false,
                  [&](const Place& at, const Listed& file) {
                    if (file.name.starts_with(prefix)) result.all.push_back(at);
                  });
  return result;
}

}  // namespace

std::string options_root(const std::string& folder) { return folder + "/options"; }
std::string code_root(const std::string& folder) { return folder + "/code"; }

std::string Place::folder() const { return str(root, "/", name_of(part), below.empty() ? "" : "/", below); }

Place options_place(const std::string& folder, const std::string& name) {
  return {folder, Part::Options, str(name.substr(0, 2), "/", name.substr(family_size, 2)), name};
}

Place derivation_place(const std::string& folder, const std::string& name) {
  return {folder, Part::Derivations, "", name};
}

Place code_place(const std::string& folder, const std::string& name) {
  return {folder, Part::Code, name.substr(0, 2), name};
}

OpenedFolder open_place(const Place& place, Purpose purpose) {
  auto opened = open_part(place.root, place.part, purpose);
  const auto rules = rules_below(place.part, purpose);
  for (std::size_t begin = 0; opened.folder && begin < place.below.size(); begin += 3)
    opened = open_folder(opened.folder, place.below.substr(begin, 2), rules);
  return opened;
}

OpenedFolder open_cache(const std::string& folder, Part part, Purpose purpose) {
  return open_folder(folder, root_rules(part, purpose));
}

std::string key_prefix(const Key& key) { return family_prefix(key) + hex(digest(key), id_bytes) + "-"; }

Places options_for(const std::string& folder, const Key& key) {
  const auto prefix = key_prefix(key);
  return options_that_begin(prefix, options_place(folder, prefix), 0);
}

Places options_for_family(const std::string& folder, const Key& key) {
  const auto prefix = family_prefix(key);
  return options_that_begin(prefix, {folder, Part::Options, prefix.substr(0, 2), ""}, 1);
}

std::string options_name(const OptionsEntry& entry, std::string_view bytes) {
  return str(key_prefix(entry.key), hex(sha256(bytes), id_bytes), options_suffix);
}

std::string code_name(const Key& key, const std::string& options, const std::string& source, const std::string& build) {
  return str(hex(code_digest(key, options, source, build)), code_suffix);
}

std::vector<Found> find_options(const std::string& folder) {
  return find_files(open_part(folder, Part::Options, Purpose::Read), {folder, Part::Options, "", ""}, 2,
                    rules_below(Part::Options, Purpose::Read));
}

std::vector<Found> find_derivations(const std::string& folder) {
  return find_files(open_part(folder, Part::Derivations, Purpose::Read), derivation_place(folder, ""), 0, {});
}

std::vector<Found> find_code(const std::string& folder) {
  auto opened = open_folder(folder, FolderRules());
  if (opened.folder) opened = open_folder(opened.folder, name_of(Part::Code), FolderRules());
  return find_files(opened, {folder, Part::Code, "", ""}, 1, {});
}

namespace {

/// The prices that the file \p name holds by \p bytes.
Fault read_derivation(const std::string& name, std::string_view bytes, MeasuredDerivation& entry) {
  auto fault = parse(bytes, entry);
  return fault == Fault::None && derivation_name(entry.key) != name ? Fault::Damaged : fault;
}

}  // namespace

Fault read_options(const std::string& name, std::string_view bytes, OptionsEntry& entry) {
  auto fault = parse(bytes, entry);
  return fault == Fault::None && options_name(entry, bytes) != name ? Fault::Damaged : fault;
}

LoadedOptions load_options(const Place& place) {
  LoadedOptions loaded;
  auto opened = open_place(place, Purpose::Read);
  loaded.fault = opened.fault;
  loaded.problem = opened.problem;
  if (!opened.folder) return loaded;
  auto file = read_file(opened.folder, place.name, {options_limit});
  loaded.fault = file.fault;
  loaded.problem = file.problem;
  if (file.fault != Fault::None) return loaded;
  loaded.fault = read_options(place.name, file.bytes, loaded.entry);
  loaded.problem = damage(place, loaded.fault);
  loaded.bytes = std::move(file.bytes);
  return loaded;
}

LoadedDerivation load_derivation(const Place& place) {
  LoadedDerivation loaded;
  auto opened = open_place(place, Purpose::Read);
  loaded.fault = opened.fault;
  loaded.problem = opened.problem;
  if (!opened.folder) return loaded;
  auto file = read_file(opened.folder, place.name, {derivation_limit});
  loaded.fault = file.fault;
  loaded.problem = file.problem;
  if (file.fault != Fault::None) return loaded;
  loaded.fault = read_derivation(place.name, file.bytes, loaded.entry);
  loaded.problem = damage(place, loaded.fault);
  return loaded;
}

LoadedCode load_code(const Place& place, Purpose purpose, std::int64_t stamp_age) {
  LoadedCode loaded;
  auto fail = [&](Fault fault, const std::string& problem) {
    loaded.fault = fault;
    loaded.problem = problem;
    return loaded;
  };
  auto opened = open_place(place, purpose);
  if (!opened.folder)
    return fail(opened.fault, opened.problem.empty() ? "" : str("machine code is not kept: ", opened.problem));
  auto file = read_file(opened.folder, place.name, {code_limit, true, true, stamp_age});
  if (file.fault != Fault::None) return fail(file.fault, file.problem);
  auto [secret, problem] = user_secret(false);
  if (!secret && !problem.empty()) return fail(Fault::Unreadable, str("machine code is not kept: ", problem));
  auto fault = secret ? parse(file.bytes, *secret, loaded.entry) : Fault::Unauthentic;
  const auto& entry = loaded.entry;
  bool own = fault != Fault::None || code_name(entry.key, entry.options, entry.source, entry.build) == place.name;
  if (!own) fault = Fault::Damaged;
  return fail(fault, damage(place, fault));
}

bool is_damaged(const Folder& folder, const Place& place, const std::string& name) {
  auto file = read_file(folder, name, {limit_of(place.part)});
  if (file.fault != Fault::None || !is_of_a_cache(file.bytes)) return false;
  OptionsEntry options;
  MeasuredDerivation derivation;
  auto fault = place.part == Part::Code      ? unseal(Kind::Code, file.bytes).fault
               : place.part == Part::Options ? read_options(place.name, file.bytes, options)
                                             : read_derivation(place.name, file.bytes, derivation);
  return fault == Fault::Damaged;
}

bool remove_own(const Folder& folder, const std::string& name) {
  auto head = read_head(folder, name, magic_size);
  return head && is_of_a_cache(*head) && remove_file(folder, name);
}

std::string keep(const Place& place, std::string_view bytes) {
  bool code = place.part == Part::Code;
  if (bytes.size() > limit_of(place.part)) return str("an entry of ", bytes.size(), " bytes is too large to keep");
  auto opened = open_place(place, Purpose::Make);
  if (!opened.folder) return opened.problem;
  return write_file(opened.folder, place.name, bytes, {code, !code});
}

}  // namespace tc::cache
