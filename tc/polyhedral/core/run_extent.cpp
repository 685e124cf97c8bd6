#include "tc/polyhedral/core/run_extent.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"

namespace tc::polyhedral {
namespace {

std::int64_t value_of(const RunExtent::Term& term, std::span<const std::int64_t> numbers) {
  auto sum = term.constant;
  for (std::size_t i = 0; i < term.factors.size(); ++i) sum += term.factors[i] * numbers[i];
  return floor_div(sum, term.divisor);
}

std::string text_of(const RunExtent::Term& term, const std::vector<std::string>& names) {
  std::string sum;
  const auto add = [&](std::int64_t factor, const std::string& what) {
    const auto size = factor < 0 ? -factor : factor;
    sum += sum.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    sum += what.empty() ? std::to_string(size) : size == 1 ? what : str(size, " * ", what);
  };
  for (std::size_t i = 0; i < term.factors.size(); ++i)
    if (term.factors[i] != 0) add(term.factors[i], names[i]);
  const bool is_sum = !sum.empty() && term.constant != 0;
  if (sum.empty() || term.constant != 0) add(term.constant, "");
  if (term.divisor == 1) return sum;
  return str(is_sum ? str("(", sum, ")") : sum, " / ", term.divisor);
}

/// \p texts, of which \p function chooses one.
std::string choice(const char* function, const std::vector<std::string>& texts) {
  return texts.size() == 1 ? texts.front() : str(function, "(", join(texts), ")");
}

}  // namespace

std::int64_t RunExtent::at(std::span<const std::int64_t> numbers, std::int64_t most) const {
  if (parts.empty()) return most;
  std::int64_t result = 1;
  for (const auto& part : parts) {
    auto least = most;
    for (const auto& term : part) least = std::min(least, value_of(term, numbers));
    result = std::max(result, least);
  }
  return result;
}

std::string to_text(const RunExtent& extent, const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const auto& part : extent.parts) {
    std::vector<std::string> terms;
    for (const auto& term : part) terms.push_back(text_of(term, names));
    all.push_back(choice("min", terms));
  }
  return choice("max", all);
}

}  // namespace tc::polyhedral
