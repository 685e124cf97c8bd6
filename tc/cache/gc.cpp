#include <algorithm>
#include <map>
#include <utility>

#include "tc/base/error.h"
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
        options_(find_options(folder)),
        derivations_(find_derivations(folder)),
        code_(find_code(folder)) {
    for (const auto* files : {&options_, &derivations_, &code_})
      for (const auto& found : *files) report_.bytes_left += found.file.size;
  }

  GcReport run() {
    for (auto* files : {&options_, &derivations_, &code_}) remove_temporary(*files);
    if (rules_.only_when_full) {
      if (report_.bytes_left > rules_.max_bytes) remove_least_used(rules_.max_bytes - rules_.max_bytes / 8);
      return report_;
    }
    for (auto* files : {&options_, &derivations_, &code_})
      std::erase_if(*files, [&](const Found& found) { return remove_if_damaged(found); });
    remove_worse();
    remove_least_used(rules_.max_bytes);
    return report_;
  }

 private:
  void remove(const Found& found) { remove(found.place, found.file.size); }

  void remove(const Place& place, std::uint64_t size) {
    auto opened = open_place(place, Purpose::Change);
    if (opened.folder && remove_own(opened.folder, place.name)) count(size);
  }

  void count(std::uint64_t size) {
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

  /// A writer may put a whole file in the place of a damaged one at any moment, so the file is moved away, looked at
  /// again, and put back if it is whole.
  bool remove_if_damaged(const Found& found) {
    const auto& place = found.place;
    auto opened = open_place(place, Purpose::Change);
    if (!opened.folder || !is_damaged(opened.folder, place, place.name)) return false;
    auto aside = move_aside(opened.folder, place.name);
    if (aside.empty()) return false;
    if (!is_damaged(opened.folder, place, aside)) return rename_file(opened.folder, aside, place.name), false;
    if (remove_file(opened.folder, aside)) count(found.file.size);
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
  std::vector<Found> options_, derivations_, code_;
  GcReport report_;
};

}  // namespace

GcReport gc(const std::string& folder, const GcRules& rules) {
  const auto opened = open_cache(folder, Part::Options, Purpose::Change);
  const auto text = str("nothing is removed: ", opened.problem);
  if (opened.fault == Fault::OutOfResources) throw ResourceError(text);
  if (!opened.problem.empty()) throw ArgumentError(text);
  return Collector(folder, rules).run();
}

}  // namespace tc::cache
