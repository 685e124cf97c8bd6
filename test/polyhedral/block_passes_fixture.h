#pragma once

#include "tc/polyhedral/spread/thread_map.h"
#include "test/polyhedral/mapping_passes_fixture.h"

namespace tc::polyhedral {

/// Programs of one block whose threads run along x.
class BlockPassTest : public MappingPassTest {
 protected:
  /// One block; the thread of each instance is \p thread, "{ S[i] -> [(i)]; ... }".
  Coordinates one_block(const Scop& scop, const std::string& thread) const {
    auto zero = call(ctx(), isl_union_pw_aff_val_on_domain, scop.domain().release(), isl::val(ctx(), 0).release());
    return {three_coordinates({zero, zero, zero}), three_coordinates({isl::union_pw_aff(ctx(), thread), zero, zero})};
  }
  /// How often \p word occurs in the schedule of \p scop.
  static int count(const Scop& scop, const std::string& word) {
    auto text = print_block(scop.schedule);
    int found = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
  }
};

}  // namespace tc::polyhedral
