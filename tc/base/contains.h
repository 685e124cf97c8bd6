#pragma once

#include <algorithm>

namespace tc {

/// Is \p value one of \p items?
template <typename Items, typename Value>
bool contains(const Items& items, const Value& value) {
  return std::find(items.begin(), items.end(), value) != items.end();
}

}  // namespace tc
