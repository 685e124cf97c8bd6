#pragma once

#include <locale>
#include <sstream>
#include <string>

namespace tc {

/// Prints numbers in one way, whatever the global locale of the program is.
struct TextStream : std::ostringstream {
  TextStream() { imbue(std::locale::classic()); }
};

/// The arguments printed one after another with operator<<.
template <typename... Args>
std::string str(const Args&... args) {
  TextStream out;
  (out << ... << args);
  return out.str();
}

/// The elements of \p items printed with operator<<, \p separator between them.
template <typename Items>
std::string join(const Items& items, const std::string& separator = ", ") {
  TextStream out;
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
