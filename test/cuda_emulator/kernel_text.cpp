#include "test/cuda_emulator/kernel_text.h"

#include <cctype>
#include <regex>

#include "tc/base/str.h"

namespace tc::emulator {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Skips white space from \p at.
std::size_t skip_space(const std::string& text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

/// Behind the parenthesis that closes the one at \p at.
std::size_t close(const std::string& text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += (text[at] == '(') - (text[at] == ')');
    if (depth == 0) return at + 1;
  }
  return at;
}

/// The signature behind `__global__`: attributes and the result type, then the word before the parameters.
KernelSignature signature(const std::string& text, std::size_t at) {
  KernelSignature result;
  while (at < text.size()) {
    at = skip_space(text, at);
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) break;
    std::string word = text.substr(at, end - at);
    at = skip_space(text, end);
    if (at >= text.size() || text[at] != '(') continue;
    std::size_t behind = close(text, at);
    if (word.rfind("__", 0) != 0) {
      result.name = word;
      break;
    }
    if (word == "__launch_bounds__") result.launch_bounds = text.substr(at + 1, behind - at - 2);
    at = behind;
  }
  return result;
}

std::string without_comments(const std::string& text) {
  static const std::regex comment(R"(//[^\n]*|/\*[\s\S]*?\*/)");
  return std::regex_replace(text, comment, "");
}

}  // namespace

std::vector<KernelSignature> find_kernels(const std::string& original) {
  const std::string text = without_comments(original), word = "__global__";
  std::vector<KernelSignature> result;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    auto found = signature(text, at + word.size());
    bool known = false;
    for (const auto& kernel : result) known = known || kernel.name == found.name;
    if (!found.name.empty() && !known) result.push_back(found);
  }
  return result;
}

std::string to_host_text(const std::string& text) {
  static const std::regex dynamic(
      R"(extern\s+__shared__\s+(?:__align__\s*\(\s*\d+\s*\)\s*|alignas\s*\(\s*\d+\s*\)\s*)?([\w ]*\w)\s+(\w+)\s*\[\s*\]\s*;)");
  std::string result = std::regex_replace(text, dynamic, "$1* $2 = ($1*)tc_emulator_dynamic_shared();");
  result += "\n";
  for (const auto& kernel : find_kernels(text))
    result += str("extern \"C\" __attribute__((visibility(\"default\"))) void tc_emulator_call_", kernel.name,
                  "(void** arguments) { tc_emulator_call(", kernel.name, ", arguments); }\n");
  return result;
}

std::string shared_array_name(const std::string& text, std::int64_t offset, std::int64_t count) {
  const std::regex declaration(
      str(R"((\w+)\s*=\s*tc_shared_memory<[^>]*>\(\s*)", offset, R"(\s*,\s*)", count, R"(\s*\))"));
  std::smatch match;
  return std::regex_search(text, match, declaration) ? match[1].str() : str("array at byte ", offset);
}

}  // namespace tc::emulator
