#include <string_view>
#include <utility>
#include <vector>

#include "tc/autotuner/tuner.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::autotuner {
namespace {

/// The value that \p text names of those \p known; \p what says what it is.
template <typename Value>
Value parse_name(std::string_view text, const char* what,
                 const std::vector<std::pair<std::string_view, Value>>& known) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : known) {
    if (name == text) return value;
    names.push_back(name);
  }
  auto last = names.back();
  names.pop_back();
  throw OptionsError(str("there is no ", what, " '", text, "'; there are ", join(names), " and ", last));
}

}  // namespace

SearchKind parse_search(std::string_view text) {
  return parse_name<SearchKind>(
      text, "search", {{"genetic", SearchKind::Genetic}, {"random", SearchKind::Random}, {"price", SearchKind::Price}});
}

Ranking parse_ranking(std::string_view text) {
  return parse_name<Ranking>(text, "ranking",
                             {{"none", Ranking::None}, {"model", Ranking::Model}, {"learned", Ranking::Learned}});
}

}  // namespace tc::autotuner
