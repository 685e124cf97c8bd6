#include "tc/engine/parts/written_in_place.h"

#include <algorithm>

namespace tc::engine {

InPlaceMemory written_in_place(const std::vector<graph::Part>& parts, const std::vector<std::size_t>& order,
                               const std::function<std::optional<std::size_t>(std::size_t part)>& input,
                               std::map<std::size_t, Lifetime> lives) {
  InPlaceMemory result{std::move(lives), {}};
  for (std::size_t p : order) {
    const auto& part = parts[p];
    const auto place = part.outputs.size() == 1 ? input(p) : std::nullopt;
    if (!place || *place >= part.inputs.size()) continue;
    const auto from = part.inputs[*place], to = part.outputs[0];
    const auto known = result.homes.find(from);
    const auto home = known == result.homes.end() ? from : known->second;
    const auto life = result.lives.find(home), own = result.lives.find(to);
    if (life == result.lives.end() || own == result.lives.end()) continue;
    const bool is_last =
        life->second.last == static_cast<int>(p) && std::count(part.inputs.begin(), part.inputs.end(), from) == 1;
    if (!is_last || life->second.bytes != own->second.bytes) continue;
    life->second.last = own->second.last;
    result.homes[to] = home;
    result.lives.erase(own);
  }
  return result;
}

}  // namespace tc::engine
