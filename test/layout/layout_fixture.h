#pragma once

#include <string>

#include "tc/layout/rewrite/apply.h"
#include "test/support/host_tensor.h"

namespace tc::test {

/// The last def of a text, with calls written out and ranges.
struct SizedDef {
  lang::File file;
  lang::InlinedDef function;
  lang::SizeMap sizes;
};
SizedDef sized_def(const std::string& text, const lang::SizeMap& sizes);

/// Layouts by their texts.
layout::Layouts layouts_of(const std::map<std::string, std::string>& texts);

/// The statements of \p text in \p layouts, a line each.
std::string laid_out_text(const std::string& text, const lang::SizeMap& sizes,
                          const std::map<std::string, std::string>& layouts);

/// All places of the element at \p index, from the definition of each step, without isl.
std::vector<std::vector<std::int64_t>> places_of(const layout::LayoutMap& map, const std::vector<std::int64_t>& index);

/// \p tensor in the places of \p map, all copies; holes are NaN where the layout leaves them open (the least value of an
/// integer type), else 0.
HostTensor placed(const HostTensor& tensor, const layout::LayoutMap& map);

/// Runs \p def as it is and in \p layouts, by the interpreter on random integers, and compares all places of all elements of what
/// both return, and holes that are to be 0. Empty if there is no difference, else the first one.
std::string compare_layouts(const SizedDef& def, const layout::Layouts& layouts, std::uint64_t seed);

}  // namespace tc::test
