#pragma once

#include <set>
#include <string>

#include "tc/autodiff/forward/forward.h"

namespace tc::autodiff {

/// A def whose extremes are compared with what they are extremes of.
struct NamedExtremes {
  Forward forward;
  std::set<std::string> stabilisers;  ///< extremes that no output depends on
};

/// Names the expressions whose extremes are taken, so that a value equals its extreme exactly: a tensor's element does, an
/// expression that is computed twice may be rounded in two ways. Extremes that are not active or stabilise stay.
///
///   O(i) max=! A(i,k) * B(k)     becomes     O_of(i,k) = A(i,k) * B(k)    O(i) max=! O_of(i,k)
NamedExtremes name_extremes(const Forward& forward, const std::set<std::string>& active,
                            const std::vector<std::string>& outputs, FreshNames& names);

}  // namespace tc::autodiff
