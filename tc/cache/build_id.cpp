#include "tc/cache/build_id.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "tc/cache/key.h"
#include "tc/cache/source_digest.h"

namespace tc::cache {
namespace {

/// The build id in the notes [\p at, \p end) of a library, "" if there is none.
std::string build_id_note(const char* at, const char* end) {
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t(3); };
    const char* name = at + sizeof note;
    const char* content = name + padded(note.n_namesz);
    at = content + padded(note.n_descsz);
    if (at > end) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
      return std::string(content, note.n_descsz);
  }
  return "";
}

/// Adds name and build id of a library that makes code to the vector \p data.
int add_library(dl_phdr_info* info, std::size_t, void* data) {
  std::string_view path(info->dlpi_name ? info->dlpi_name : "");
  auto name = path.substr(path.rfind('/') + 1);
  if (name.rfind("libHalide", 0) != 0 && name.rfind("libLLVM", 0) != 0) return 0;
  std::string id(name);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* begin = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    id += build_id_note(begin, begin + header.p_memsz);
  }
  static_cast<std::vector<std::string>*>(data)->push_back(std::move(id));
  return 0;
}

std::string sources() { return std::string(source_digest).substr(0, 16); }

std::string compute() {
  std::vector<std::string> libraries;
  dl_iterate_phdr(add_library, &libraries);
  std::sort(libraries.begin(), libraries.end());
  Encoder out("tc-build-1");
  for (const auto& library : libraries) out.put(library);
  return sources() + "-" + hex(sha256(out.bytes()), 8);
}

}  // namespace

const std::string& compiler_build_id() {
  static const auto& id = *new std::string(compute());
  return id;
}

bool is_of_these_sources(const std::string& build) { return build.substr(0, build.find('-')) == sources(); }

}  // namespace tc::cache
