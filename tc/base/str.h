#pragma once

#include <sstream>
#include <string>

namespace tc {

/// The arguments printed one after another with operator<<.
template <typename... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

/// The elements of \p items printed with operator<<, \p separator between them.
template <typename Items>
std::string join(const Items& items, const std::string& separator = ", ") {
  std::ostringstream out;
  const char* sep = "";
  for (const auto& item : items) {
    out << sep << item;
    sep = separator.c_str();
  }
  return out.str();
}

/// Helper of std::visit: one callable out of several lambdas.
template <typename... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
overloaded(Fs...) -> overloaded<Fs...>;

}  // namespace tc
