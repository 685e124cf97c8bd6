#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tc/base/str.h"
#include "tc/cache/maintain.h"

namespace tc::cache {
namespace {

/// Collects the garbage of one folder.
class Collector {
 public:
  Collector(const std::string& folder, const GcRules& rules)
      : folder_(folder),
        rules_(rules),
        options_(find_files(options_root(folder))),
        code_(find_files(code_root(folder))) {
    for (const auto* files : {&options_, &code_})
      for (const auto& found : *files) report_.bytes_left += found.file.size;
  }

  GcReport run() {
    for (auto* files : {&options_, &code_}) remove_temporary(*files);
    if (rules_.only_when_full) {
      if (report_.bytes_left > rules_.max_bytes) remove_least_used(rules_.max_bytes - rules_.max_bytes / 8);
      return report_;
    }
    std::erase_if(options_, [&](const Found& found) { return remove_if_damaged<OptionsEntry>(found, options_limit); });
    std::erase_if(code_, [&](const Found& found) { return remove_if_damaged<CodeEntry>(found, code_limit); });
    remove_worse();
    remove_least_used(rules_.max_bytes);
    return report_;
  }

 private:
  void remove(const Found& found) { remove(found.place, found.file.size); }

  void remove(const Place& place, std::uint64_t size) {
    if (::unlink(place.path().c_str()) != 0) return;
    ++report_.removed.files;
    report_.removed.bytes += size;
    report_.bytes_left -= std::min(report_.bytes_left, size);
  }

  /// Unfinished files are no entries; those of dead processes go.
  void remove_temporary(std::vector<Found>& files) {
    auto now = seconds_since_1970();
    std::erase_if(files, [&](const Found& found) {
      if (!is_temporary(found.file.name)) return false;
      if (now - found.file.modified_at > rules_.temporary_age) remove(found);
      return true;
    });
  }

  template <typename Entry>
  static bool is_damaged(const Place& place, const std::string& name, std::uint64_t limit) {
    Entry entry;
    auto file = read_file(place.path(), {limit, false});
    return file.fault == Fault::None && read_entry(name, file.bytes, entry) == Fault::Damaged;
  }

  /// A writer may put a whole file in the place of a damaged one at any moment, so the file is moved away, looked at
  /// again, and put back if it is whole.
  template <typename Entry>
  bool remove_if_damaged(const Found& found, std::uint64_t limit) {
    const auto& name = found.place.name;
    if (!is_damaged<Entry>(found.place, name, limit)) return false;
    Place aside{found.place.folder, str(".tmp-bad-", ::getpid(), "-", name)};
    if (::rename(found.place.path().c_str(), aside.path().c_str()) != 0) return false;
    if (!is_damaged<Entry>(aside, name, limit)) ::rename(aside.path().c_str(), found.place.path().c_str());
    remove(aside, found.file.size);
    return true;
  }

  /// Of each key and the circumstances of measurements, the best stay, and all that are injected.
  void remove_worse() {
    std::map<std::pair<std::string, Circumstances>, std::size_t> kept;
    for (const auto& stored : list_options(folder_)) {
      auto& count = kept[{key_prefix(stored.entry.key), circumstances_of(stored.entry)}];
      if (stored.entry.origin != Origin::Injected && ++count > rules_.results_a_key)
        remove(stored.place, stored.bytes.size());
    }
  }

  void remove_least_used(std::uint64_t most) {
    std::stable_sort(code_.begin(), code_.end(),
                     [](const Found& a, const Found& b) { return a.file.modified_at < b.file.modified_at; });
    for (const auto& found : code_) {
      if (report_.bytes_left <= most) break;
      remove(found);
    }
  }

  std::string folder_;
  GcRules rules_;
  std::vector<Found> options_, code_;
  GcReport report_;
};

}  // namespace

GcReport gc(const std::string& folder, const GcRules& rules) { return Collector(folder, rules).run(); }

}  // namespace tc::cache
