#include "tc/derive/rules/merge_traversals.h"

#include "tc/base/str.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/fuse.h"

namespace tc::derive {

Step merge_traversals(const Program& program, const std::string& tensor) {
  if (!changeable(program, tensor).op) throw Refusal{str("'", tensor, "' is no reduction")};
  return write_out(program, tensor, "merge traversals");
}

std::vector<Step> traversal_merges(const Program& program) {
  std::vector<Step> result;
  for (const auto& scope : program.scopes) {
    if (!scope->op || !scope->uniform || program.is_output(scope->tensor)) continue;
    int readers = 0;
    for (const auto& other : program.scopes)
      for (const auto& part : other->cases)
        for (const auto k : reads_in(part.body)) readers += part.reads[k].tensor == scope->tensor;
    if (readers != 1) continue;
    try {
      result.push_back(merge_traversals(program, scope->tensor));
    } catch (const Refusal&) {
    }
  }
  return result;
}

}  // namespace tc::derive
