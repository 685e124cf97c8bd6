#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/base/fork.h"
#include "tc/cache/entry.h"

namespace tc::cache {

struct Place;
struct Places;

/// Where a cache looks.
struct CacheSettings {
  std::string folder;  ///< its own: of both parts
  bool writable = true;
  std::string override_folder;                       ///< options in it go before those of all others; "": none
  std::vector<std::string> shared;                   ///< folders of options, read after its own, in order
  std::uint64_t max_bytes = std::uint64_t(1) << 30;  ///< of its own folder; what is least used goes
};

/// Options for other shapes.
struct Nearest {
  OptionsEntry entry;
  double distance = 0;  ///< see distance()
};

/// The compilation cache: what was learnt about kernels, kept between processes. Any number of processes and threads
/// may read and write one folder at once. Whatever is wrong with a file or a folder is a miss and one warning, never an
/// exception; what put() has acknowledged is found until gc() removes it.
class Cache {
 public:
  explicit Cache(CacheSettings settings);

  const CacheSettings& settings() const { return settings_; }
  /// Where it looks for what travels, in order: override, own, shared ones.
  std::vector<std::string> folders() const;

  /// The options for \p key in the first folder that has any (override, own, shared ones in order), those best for use
  /// in \p here first.
  std::vector<OptionsEntry> find(const Key& key, const Circumstances& here = {}) const;
  /// The first of find().
  std::optional<OptionsEntry> best(const Key& key, const Circumstances& here = {}) const;
  /// The best options on the nearest machine of the architecture, see machine_distance(), for keys that are \p key but
  /// for the limits of their target: of the first folder that has any.
  std::optional<OptionsEntry> best_of_architecture(const Key& key, const Circumstances& here = {}) const;
  /// The best options for the nearest shapes of the same program, types, ranks and target, \p key itself included.
  /// They are legal for \p key, as all options are, and may be slower than none.
  std::optional<Nearest> nearest(const Key& key, const Circumstances& here = {}) const;
  /// Keeps \p entry in the folder of its own; created_at is set where it is 0. False, and a warning, if it could not,
  /// or if find() would refuse it, for example for a note that is not plain text.
  bool put(OptionsEntry entry);

  /// The code that this build of the compiler made for this user, whose key signs it, from the folder of its own only.
  std::optional<CodeEntry> find_code(const Key& key, const std::string& options, const std::string& source) const;
  /// Keeps \p entry, as made by this build, signed with the user's key. False, and a warning, if it could not.
  bool put(CodeEntry entry);

  /// Grows when this process changes the options of any cache: tells holders of a choice to choose anew.
  static std::uint64_t generation();
  static void options_changed();
  /// Warnings since the last call, each of which is given once in a process.
  std::vector<std::string> take_warnings();
  void warn(const std::string& warning) const;

 private:
  std::optional<OptionsEntry> load(const Place& place) const;
  std::vector<Place> places_in(Places found) const;
  void keep_size();

  CacheSettings settings_;
  std::atomic<std::uint64_t> code_puts_{0};
  mutable ForkMutex mutex_;
  mutable std::set<std::string> warned_;
  mutable std::vector<std::string> warnings_;
};

}  // namespace tc::cache
