#include <map>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cache/little_endian.h"
#include "tc/cache/maintain.h"

/// Exports: the files of entries one after another, each after its length, in order of their names, sealed as one.
namespace tc::cache {
namespace {

constexpr std::uint64_t export_limit = std::uint64_t(1) << 30;
constexpr int length_bytes = 8;

std::string damaged(const std::string& file) { return str("'", file, "' is not, whole, an export of a cache"); }

/// Do the first bytes of a file say that it is an export?
constexpr std::size_t export_head = 16;
bool is_export(std::string_view head) {
  return head.size() == export_head && is_of_a_cache(head) &&
         get_bytes(head, 12, 4) == static_cast<std::uint64_t>(Kind::Export);
}

/// Takes the next entry from the front of \p payload. Throws ArgumentError.
std::string_view next_entry(std::string_view& payload, const std::string& file) {
  if (payload.size() < length_bytes) throw ArgumentError(damaged(file));
  auto size = get_bytes(payload, 0, length_bytes);
  payload.remove_prefix(length_bytes);
  if (size > payload.size()) throw ArgumentError(damaged(file));
  auto entry = payload.substr(0, size);
  payload.remove_prefix(size);
  return entry;
}

}  // namespace

std::size_t export_entries(const std::string& folder, const std::string& file, bool best_only) {
  std::map<std::string, std::string> entries;
  std::string last_key;
  for (const auto& stored : list_options(folder)) {
    auto key = key_prefix(stored.entry.key);
    if (best_only && key == last_key) continue;
    last_key = key;
    entries[stored.place.name] = stored.bytes;
  }
  for (const auto& stored : list_derivations(folder)) entries[stored.place.name] = to_bytes(stored.entry);
  std::string payload;
  for (const auto& [name, bytes] : entries) {
    put_bytes(payload, bytes.size(), length_bytes);
    payload += bytes;
  }
  auto problem = replace_file(file, seal(Kind::Export, payload), export_head, is_export);
  if (!problem.empty()) throw ResourceError(problem);
  return entries.size();
}

Transfer import_entries(const std::string& folder, const std::string& file) {
  auto read = read_file(file, {export_limit});
  if (read.fault == Fault::Absent) throw ArgumentError(str("there is no file '", file, "'"));
  if (read.fault == Fault::OutOfResources) throw ResourceError(read.problem);
  if (read.fault != Fault::None) throw ArgumentError(read.problem);
  auto unsealed = unseal(Kind::Export, read.bytes);
  if (unsealed.fault != Fault::None) throw ArgumentError(damaged(file));
  std::vector<std::string_view> entries;
  for (auto payload = unsealed.payload; !payload.empty();) entries.push_back(next_entry(payload, file));
  Transfer transfer;
  for (auto bytes : entries) add_entry(folder, bytes, transfer);
  return transfer;
}

}  // namespace tc::cache
