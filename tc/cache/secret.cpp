#include "tc/cache/secret.h"

#include <openssl/rand.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/cache/file_io.h"

/// The key's file: 8 bytes of magic, then those of the key.
namespace tc::cache {
namespace {

constexpr std::string_view magic = "TCKEY1\n\n";
constexpr std::size_t block_size = 64;  ///< of SHA-256

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string hint(const std::string& problem) { return str(problem, "; TC_CACHE_KEY names another file for the key"); }

/// The folder and the name of the key's file.
struct KeyPlace {
  Folder folder;
  std::string name;
  std::string problem;
};

KeyPlace open_place(const std::string& file, bool make) {
  auto slash = file.rfind('/');
  auto above = slash == std::string::npos ? std::string(".") : file.substr(0, std::max<std::size_t>(slash, 1));
  FolderRules rules{Access::OwnWrites, true};
  rules.make = make;
  auto opened = open_folder(above, rules);
  return {std::move(opened.folder), file.substr(slash + 1), opened.problem};
}

LoadedSecret read_secret(const KeyPlace& place) {
  LoadedSecret result;
  auto read = read_file(place.folder, place.name, {magic.size() + sizeof(Secret), true});
  if (read.fault == Fault::Absent) return result;
  bool whole = read.bytes.size() == magic.size() + sizeof(Secret) && read.bytes.starts_with(magic);
  if (read.fault != Fault::None) {
    result.problem = hint(read.problem);
  } else if (!whole) {
    result.problem = str("'", place.folder.path(), "/", place.name, "' is no key of a cache: remove it");
  } else {
    std::copy(read.bytes.begin() + magic.size(), read.bytes.end(), result.secret.emplace().begin());
  }
  return result;
}

/// A new key in a file that no other process has made meanwhile; "" or what failed.
std::string make_secret(const KeyPlace& place) {
  Secret secret;
  if (RAND_bytes(secret.data(), static_cast<int>(secret.size())) != 1) return "there are no random numbers for a key";
  std::string bytes(magic);
  bytes.append(reinterpret_cast<const char*>(secret.data()), secret.size());
  return write_file(place.folder, place.name, bytes, {true, true, true});
}

LoadedSecret load_secret(const std::string& file, bool make) {
  auto place = open_place(file, make);
  if (!place.folder) return {std::nullopt, place.problem.empty() ? "" : hint(place.problem)};
  auto loaded = read_secret(place);
  if (loaded.secret || !loaded.problem.empty() || !make) return loaded;
  auto problem = make_secret(place);
  loaded = read_secret(place);
  if (!loaded.secret && loaded.problem.empty()) loaded.problem = hint(problem.empty() ? "the key vanishes" : problem);
  return loaded;
}

}  // namespace

std::string secret_file() {
  if (auto file = variable("TC_CACHE_KEY"); !file.empty()) return file;
  constexpr const char* below = "/tensor_comprehensions/cache_key";
  if (auto state = variable("XDG_STATE_HOME"); state.starts_with('/')) return state + below;
  if (auto home = variable("HOME"); !home.empty()) return str(home, "/.local/state", below);
  return "";
}

LoadedSecret user_secret(bool make) {
  static auto& mutex = *new ForkMutex;
  static auto& known = *new std::map<std::string, Secret>();
  auto file = secret_file();
  if (file.empty())
    return {std::nullopt, "there is no home for the key that signs it; TC_CACHE_KEY names a file for it"};
  std::lock_guard lock(mutex);
  if (auto found = known.find(file); found != known.end()) return {found->second, ""};
  auto loaded = load_secret(file, make);
  if (loaded.secret) known[file] = *loaded.secret;
  return loaded;
}

Digest hmac_sha256(const Secret& secret, std::string_view bytes) {
  auto padded = [&](std::uint8_t pad) {
    std::string block(block_size, static_cast<char>(pad));
    for (std::size_t i = 0; i < secret.size(); ++i) block[i] = static_cast<char>(secret[i] ^ pad);
    return block;
  };
  auto inner = sha256(padded(0x36).append(bytes));
  return sha256(padded(0x5c).append(reinterpret_cast<const char*>(inner.data()), inner.size()));
}

bool equal_digests(const Digest& a, const Digest& b) {
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned>(a[i] ^ b[i]);
  return different == 0;
}

}  // namespace tc::cache
