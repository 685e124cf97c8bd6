#include "tc/cpu/marked/buffer_uses.h"

#include <algorithm>
#include <cctype>

namespace tc::cpu {
namespace {

/// How well \p use fits code that loads \p loaded: 3 just these, 2 all of them and more, 1 some, 0 none.
int fit(const BufferUse& use, const std::string& written, std::set<std::string> loaded) {
  auto read = use.read;
  if (!written.empty() && loaded.count(written) == 0) read.erase(written);
  if (written.empty()) read.erase(use.written);
  if (read == loaded) return 3;
  if (std::includes(read.begin(), read.end(), loaded.begin(), loaded.end())) return loaded.empty() ? 1 : 2;
  return std::any_of(loaded.begin(), loaded.end(), [&](const auto& name) { return read.count(name) > 0; }) ? 1 : 0;
}

}  // namespace

std::set<std::string> owners(const std::vector<BufferUse>& uses, const std::string& written,
                             const std::set<std::string>& loaded) {
  std::set<std::string> result;
  if (written.empty() && loaded.empty()) return result;
  int best = written.empty() ? 1 : 0;
  for (const auto& use : uses) {
    if (!written.empty() && use.written != written) continue;
    const int fits = fit(use, written, loaded);
    if (fits < best) continue;
    if (fits > best) result.clear();
    best = fits;
    result.insert(use.statements.begin(), use.statements.end());
  }
  return result;
}

std::string buffer_named(const std::vector<BufferUse>& uses, const std::string& name) {
  std::string found;
  const auto consider = [&](const std::string& buffer) {
    const bool means =
        name == buffer || (name.starts_with(buffer) && !std::isalnum(static_cast<unsigned char>(name[buffer.size()])) &&
                           name[buffer.size()] != '_');
    if (means && buffer.size() > found.size()) found = buffer;
  };
  for (const auto& use : uses) {
    consider(use.written);
    for (const auto& buffer : use.read) consider(buffer);
  }
  return found;
}

}  // namespace tc::cpu
