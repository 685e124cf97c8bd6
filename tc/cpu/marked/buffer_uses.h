#pragma once

#include <set>
#include <string>
#include <vector>

namespace tc::cpu {

/// What a statement of a loop nest writes and reads, by the names of buffers, and the statements of the program for which it
/// runs: itself, or for a copy those that read the copy, or write what it copies out.
struct BufferUse {
  std::set<std::string> statements;
  std::string written;
  std::set<std::string> read;  ///< with what it accumulates into
};

/// The statements for which code may run that loads \p loaded and stores into \p written, or, where that is "", keeps its result in a
/// register: of the uses that write there those that read just these buffers, else those that read all of them, else some.
///
///   S0: C = 0   S1: C += A B         (C, {C, A, B}) S1    (C, {}) S0    ("", {A, B}) S1
std::set<std::string> owners(const std::vector<BufferUse>& uses, const std::string& written,
                             const std::set<std::string>& loaded);

/// The buffer of \p uses that \p name means: its own name, or one that a pass has put something behind. "" for none.
std::string buffer_named(const std::vector<BufferUse>& uses, const std::string& name);

}  // namespace tc::cpu
