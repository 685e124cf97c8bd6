#pragma once

#include <cstdint>
#include <optional>

#include "tc/lang/interpret/ranges.h"
#include "tc/polyhedral/core/isl.h"

/// What isl's sets and functions over indices say of single dimensions.
namespace tc::derive {

/// The least box around \p set, which is not empty and bounded.
lang::Box hull(const isl::set& set);
/// A box around \p set as its constraints state it, cheaper than the least one and at times larger; of its dimensions from number
/// \p from on.
lang::Box stated_box(const isl::set& set, std::size_t from = 0);
/// The same of all dimensions, where constraints leave one open by \p known, which holds the first ones.
lang::Box stated_box(const isl::set& set, const lang::Box& known);
/// A box around the values of \p function in the box \p ranges; nothing where it divides.
std::optional<lang::Box> values(const isl::multi_aff& function, const lang::Box& ranges);
/// Does output \p output of \p function depend on dimension \p dimension?
bool depends(const isl::multi_aff& function, int output, int dimension);
/// Does any output?
bool depends(const isl::multi_aff& function, int dimension);
/// The factor of dimension \p dimension in output \p output, where it stands outside of divisions; 0 elsewhere.
std::int64_t factor(const isl::multi_aff& function, int output, int dimension);

}  // namespace tc::derive
