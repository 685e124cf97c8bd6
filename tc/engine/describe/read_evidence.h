#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tc::engine {

/// \p evidence, bytes of a proto::Evidence, for people: the text, the sizes, and each launch with its statements and its schedule. Throws
/// ArgumentError for bytes that are none.
std::string print_evidence(const std::string& evidence);

/// The kernel that evidence says it is of.
struct EvidenceSubject {
  std::string text;                       ///< the def
  std::vector<std::string> code_digests;  ///< SHA-256 of the machine code, in hexadecimal, one a launch
  std::map<std::string, std::vector<std::int64_t>> strides;  ///< of the arguments
};
/// Throws ArgumentError for bytes that are no evidence.
EvidenceSubject subject_of(const std::string& evidence);

}  // namespace tc::engine
