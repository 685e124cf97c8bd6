#pragma once

#include <string>
#include <vector>

namespace tc::lang {

/// The names of \p items, which have a member `name`, in order.
template <typename Item>
std::vector<std::string> names_of(const std::vector<Item>& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

}  // namespace tc::lang
