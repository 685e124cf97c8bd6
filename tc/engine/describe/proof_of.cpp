#include "tc/engine/describe/proof_of.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/cache/sha256.h"
#include "tc/engine/describe/read_evidence.h"
#include "tc/proof/check.h"

namespace tc::engine {
namespace {

using proof::Outcome;
using proof::Verdict;

Verdict refused(const std::string& why) { return {Outcome::Refused, "binding", "", why, 0}; }

/// Is the evidence that says \p says of the code of \p image?
bool is_of_code(const EvidenceSubject& says, const Image& image) {
  return std::all_of(says.code_digests.begin(), says.code_digests.end(), [&](const std::string& digest) {
    return std::any_of(image.functions.begin(), image.functions.end(), [&](const cpu::ObjectCode& code) {
      return cache::hex(cache::sha256(code.serialise())) == digest;
    });
  });
}

/// What is known of the only evidence of \p image.
Verdict proof_of_one(const Image& image) {
  auto verdict = proof::check(image.evidence.front());
  if (verdict.outcome == Outcome::Refused) return verdict;
  const auto says = subject_of(image.evidence.front());
  if (says.text != image.source) return refused("the evidence is of another text");
  if (!is_of_code(says, image) || says.code_digests.size() != image.functions.size())
    return refused("the evidence is of other machine code");
  for (const auto& argument : image.all_arguments()) {
    const auto strides = says.strides.find(argument.name);
    if (strides != says.strides.end() && strides->second != argument.spec.strides)
      return refused(str("the evidence is of another tensor '", argument.name, "'"));
  }
  return verdict;
}

}  // namespace

Verdict proof_of(const Image& image) {
  if (image.evidence.empty()) return {Outcome::NotDecided, "", "", "a kernel of this kind comes without evidence", 0};
  if (image.parts == 1 && image.evidence.size() == 1) return proof_of_one(image);
  std::size_t proved = 0;
  double milliseconds = 0;
  for (const auto& evidence : image.evidence) {
    auto verdict = proof::check(evidence);
    if (verdict.outcome == Outcome::Refused) return verdict;
    if (!is_of_code(subject_of(evidence), image)) return refused("the evidence is of other machine code");
    proved += verdict.outcome == Outcome::Proved;
    milliseconds += verdict.milliseconds;
  }
  return {Outcome::NotDecided, "graph", "",
          str(proved, " of ", image.evidence.size(), " different parts are proved; how they are joined is not decided"),
          milliseconds};
}

}  // namespace tc::engine
