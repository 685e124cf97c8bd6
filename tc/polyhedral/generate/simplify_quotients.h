#pragma once

#include "tc/polyhedral/core/isl_fwd.h"

namespace tc::polyhedral {

/// \p function with the same values on \p domain, and quotients without terms that stay below the step of the others
/// there.
///
///   before  { [c0, c1] -> [floor((16 c0 + c1)/32)] }  on  0 <= c1 < 16      after  { [c0, c1] -> [floor(c0/2)] }
isl::pw_multi_aff simplify_quotients(const isl::pw_multi_aff& function, const isl::set& domain);

}  // namespace tc::polyhedral
