#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tc/cache/entry.h"
#include "tc/cache/file_io.h"

/// Where the entries of a cache folder are:
///
///   options/ab/cd/<family>-<key>-<content>.options     the portable part: any number of files for a key, named by content
///   code/ab/<identity>.code                            the executable part: mode 0700, of one user
///
/// ab are the first two digits of the name, cd those of the key. Files named by their content are never changed and
/// never in conflict, so nobody reads, changes and writes, and merging folders is the union of their files.
namespace tc::cache {

constexpr std::uint64_t options_limit = 1 << 20;  ///< bytes of a file that are read at most
constexpr std::uint64_t code_limit = 256 << 20;

std::string options_root(const std::string& folder);
std::string code_root(const std::string& folder);

/// A file and the folder it is in.
struct Place {
  std::string folder, name;

  std::string path() const { return folder + "/" + name; }
};

/// Where the cache folder \p folder has the options and the code called \p name.
Place options_place(const std::string& folder, const std::string& name);
Place code_place(const std::string& folder, const std::string& name);

/// The options in \p folder for \p key, and for all keys of its family.
std::vector<Place> options_for(const std::string& folder, const Key& key);
std::vector<Place> options_for_family(const std::string& folder, const Key& key);

/// The first part of the names of all options for \p key.
std::string key_prefix(const Key& key);
/// The name of \p entry, whose file has \p bytes.
std::string options_name(const OptionsEntry& entry, std::string_view bytes);
std::string code_name(const Key& key, const std::string& options, const std::string& source, const std::string& build);

/// The files below \p root, in order of their names.
struct Found {
  Place place;
  Listed file;
};
std::vector<Found> find_files(const std::string& root);

/// The entry that the file \p name holds by \p bytes. One whose name is not its own is damaged.
Fault read_entry(const std::string& name, std::string_view bytes, OptionsEntry& entry);
Fault read_entry(const std::string& name, std::string_view bytes, CodeEntry& entry);

/// An entry of the options in \p place, or why there is none.
struct LoadedOptions {
  Fault fault = Fault::None;
  std::string problem;  ///< for a warning; empty where the file is absent or foreign
  OptionsEntry entry;
  std::string bytes;
};
LoadedOptions load_options(const Place& place);

struct LoadedCode {
  Fault fault = Fault::None;
  std::string problem;
  CodeEntry entry;
  std::int64_t modified_at = 0;
};
LoadedCode load_code(const Place& place);

/// Writes \p bytes at \p place in the cache folder \p folder, which is made, of this user, where it is missing.
/// Returns "" or what failed.
std::string keep(const std::string& folder, const Place& place, std::string_view bytes, const WriteRules& rules);

/// Why the code in the cache folder \p folder is not to be loaded, "" if it may be. A folder that does not exist may.
std::string untrusted_code(const std::string& folder);

}  // namespace tc::cache
