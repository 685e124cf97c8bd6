#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/cache/layout.h"

/// What people do with cache folders. Functions that make something throw ResourceError when they cannot, and all do where the
/// process has no file descriptor or memory left to look at a file or folder.
namespace tc::cache {

struct Count {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

/// What a folder holds; only code is told by builds.
struct Stat {
  Count options, derivations, code, code_of_other_builds, temporary;
  std::size_t keys = 0;  ///< with options
};
Stat stat(const std::string& folder);

/// The options of a folder, by key, best first. Faulty files are left out.
struct StoredOptions {
  Place place;
  OptionsEntry entry;
  std::string bytes;  ///< of the file

  std::string id() const;  ///< the digits of its content in the name
};
std::vector<StoredOptions> list_options(const std::string& folder);

/// The measured prices of derived programs of a folder, in order of names. Faulty files are left out.
struct StoredDerivation {
  Place place;
  MeasuredDerivation entry;

  std::string id() const;  ///< the digits of its key in the name
};
std::vector<StoredDerivation> list_derivations(const std::string& folder);

/// The code of a folder that this user's key signs, of all builds, in order of names. Nothing of it is loaded.
struct StoredCode {
  Place place;
  CodeEntry entry;
  std::uint64_t bytes = 0;

  std::string id() const;
};
std::vector<StoredCode> list_code(const std::string& folder);

/// A file that is no entry: damaged, unreadable, foreign, or code without the signature of this user's key.
struct Finding {
  Place place;
  Fault fault = Fault::None;
  std::string problem;
};
/// All of a folder, whose files are read whole.
std::vector<Finding> verify(const std::string& folder);

struct Transfer {
  std::size_t taken = 0;    ///< new
  std::size_t present = 0;  ///< already there
  std::size_t refused = 0;  ///< damaged or foreign
};
/// Adds the options and prices of the folder \p from to those of \p into. Commutative and idempotent: the result is the union, of
/// prices of one key the better. Code is never taken from elsewhere.
Transfer merge(const std::string& into, const std::string& from);

/// Adds the entry \p bytes, whole or refused, to the options or prices of \p folder.
void add_entry(const std::string& folder, std::string_view bytes, Transfer& transfer);

/// All options of \p folder, only the best of each key, wherever measured, if \p best_only, and all prices of derived programs,
/// as one file: equal bytes for equal content.
/// Returns how many. A file that is there is replaced only if it is empty or an export.
std::size_t export_entries(const std::string& folder, const std::string& file, bool best_only = false);
/// The inverse: adds what is in \p file to \p folder. Throws ArgumentError for a file that is not, whole, an
/// export.
Transfer import_entries(const std::string& folder, const std::string& file);

/// Removes the entries whose id begins with \p id, of all parts; how many. Throws ArgumentError for an id of less than
/// 8 digits, ResourceError for a file that stays.
std::size_t remove(const std::string& folder, const std::string& id);

struct GcRules {
  std::uint64_t max_bytes = std::uint64_t(1) << 30;
  std::size_t results_a_key = 16;     ///< of a machine and a number of threads: the best stay, and all injected ones
  std::int64_t temporary_age = 3600;  ///< seconds after which an unfinished file is a dead process's
  bool only_when_full = false;  ///< unfinished files; of a folder larger than max_bytes the least used code too, and an
                                ///< eighth more; nothing is read
};
struct GcReport {
  Count removed;
  std::uint64_t bytes_left = 0;
};
/// Removes unfinished and damaged files, options that are not among the best of their key, machine and number of
/// threads, then the code least recently used until the folder has max_bytes at most. Options that stay, and prices, are never
/// removed for their size. Nothing is touched but files that have, by place, name and first bytes, those of the cache;
/// no link is followed, and ArgumentError thrown where the folder itself is one.
GcReport gc(const std::string& folder, const GcRules& rules = {});

}  // namespace tc::cache
