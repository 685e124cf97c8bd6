#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tc/cache/derivation_prices.h"
#include "tc/cache/entry.h"
#include "tc/cache/file_io.h"

/// Where the entries of a cache folder are:
///
///   options/ab/cd/<family>-<key>-<content>.options     the portable part: any number of files for a key, named by content
///   derivations/<key>.derivation                       measured prices of derived programs, portable: one file for a key
///   code/ab/<identity>.code                            the executable part: of one user, folders 0700, files 0600
///
/// ab are the first two digits of the name, cd those of the key. Files named by their content are never changed and
/// never in conflict, so nobody reads, changes and writes, and merging folders is the union of their files. Whatever
/// has another name, or is elsewhere, is not the cache's: it is neither read nor counted nor removed.
namespace tc::cache {

constexpr std::uint64_t options_limit = 1 << 20;  ///< bytes of a file that are read at most
constexpr std::uint64_t derivation_limit = 16 << 20;
constexpr std::uint64_t code_limit = 256 << 20;
constexpr std::string_view derivation_suffix = ".derivation";

enum class Part : std::uint8_t { Options, Derivations, Code };

/// The folder of a part.
std::string options_root(const std::string& folder);
std::string code_root(const std::string& folder);

/// A file of a cache folder.
struct Place {
  std::string root;  ///< the cache folder
  Part part = Part::Options;
  std::string below;  ///< its folder in that of the part: "ab/cd", "ab", or none
  std::string name;

  /// Where it lies, relative to the root of the cache.
  std::string folder() const;
  std::string path() const { return folder() + "/" + name; }
};

/// Where the cache folder \p folder has the options, prices and the code called \p name.
Place options_place(const std::string& folder, const std::string& name);
Place derivation_place(const std::string& folder, const std::string& name);
Place code_place(const std::string& folder, const std::string& name);

/// What a folder is opened for. Own folders of code that others may read are taken from them unless it is only read; a
/// cache folder that is a link is only read, and only its options are.
enum class Purpose : std::uint8_t {
  Read,
  Change,  ///< of what is there
  Make,    ///< what is missing too
};
/// The folder of \p place.
OpenedFolder open_place(const Place& place, Purpose purpose);
/// The cache folder \p folder, to be changed.
OpenedFolder open_cache(const std::string& folder, Part part, Purpose purpose);

/// Places of files, and why there may be more; "" where there are not.
struct Places {
  std::vector<Place> all;
  std::string problem;
};
/// The options in \p folder for \p key, and for all keys of its family.
Places options_for(const std::string& folder, const Key& key);
Places options_for_family(const std::string& folder, const Key& key);

/// The first part of the names of all options for \p key.
std::string key_prefix(const Key& key);
/// The name of \p entry, whose file has \p bytes.
std::string options_name(const OptionsEntry& entry, std::string_view bytes);
std::string code_name(const Key& key, const std::string& options, const std::string& source, const std::string& build);

/// The files of a part of \p folder, unfinished ones too, in order of their names. Throws ResourceError where the process
/// has no file descriptor or memory left to look everywhere.
struct Found {
  Place place;
  Listed file;
};
std::vector<Found> find_options(const std::string& folder);
std::vector<Found> find_derivations(const std::string& folder);
std::vector<Found> find_code(const std::string& folder);

/// An entry of the options in \p place, or why there is none.
struct LoadedOptions {
  Fault fault = Fault::None;
  std::string problem;  ///< for a warning; empty where the file is absent or foreign
  OptionsEntry entry;
  std::string bytes;
};
LoadedOptions load_options(const Place& place);
/// The options that the file \p name holds by \p bytes. Those whose name is not their own are damaged.
Fault read_options(const std::string& name, std::string_view bytes, OptionsEntry& entry);

struct LoadedDerivation {
  Fault fault = Fault::None;
  std::string problem;  ///< as of LoadedOptions
  MeasuredDerivation entry;
};
/// The prices in \p place; those whose name is not that of their key are damaged.
LoadedDerivation load_derivation(const Place& place);

struct LoadedCode {
  Fault fault = Fault::None;
  std::string problem;
  CodeEntry entry;
};
/// The code in \p place. Where it is not only read, the time of a file last used \p stamp_age seconds ago is set; 0:
/// none.
LoadedCode load_code(const Place& place, Purpose purpose = Purpose::Read, std::int64_t stamp_age = 0);

/// Is the file that \p folder holds at \p place called \p name damaged, and by its first bytes, or by its being cut
/// short before them, the cache's?
bool is_damaged(const Folder& folder, const Place& place, const std::string& name);
/// Removes the file \p name from \p folder if its first bytes, or its being cut short before them, say that it is the
/// cache's; true if it is gone.
bool remove_own(const Folder& folder, const std::string& name);

/// Writes \p bytes at \p place in its cache folder, which is made, of this user, where it is missing. Returns "" or
/// what failed.
std::string keep(const Place& place, std::string_view bytes);

}  // namespace tc::cache
