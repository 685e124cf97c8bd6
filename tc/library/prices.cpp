#include "tc/library/prices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "tc/base/str.h"

namespace tc::library {
namespace {

constexpr const char* head = "library prices 3";

/// The measured call that is farther away than this factor says nothing about another one.
constexpr double farthest = 4;  // of binary logarithms

/// Behind the type of an operand that never changes.
constexpr char constant_mark = '*';

/// How far \p a and \p b are from each other: what their sizes differ by, as binary logarithms.
double distance(const Price& a, const Price& b) {
  double result = std::abs(std::log2(static_cast<double>(a.times)) - std::log2(static_cast<double>(b.times)));
  for (const auto& [name, value] : a.numbers) {
    const auto other = b.numbers.find(name);
    if (other == b.numbers.end()) return std::numeric_limits<double>::infinity();
    const auto log = [](std::int64_t v) { return std::log2(static_cast<double>(v + 1)); };
    result += std::abs(log(value) - log(other->second));
  }
  return result;
}

/// Post-ops of \p call that add a tensor which more than one dimension of the result runs through.
std::int64_t whole_sums(const Call& call) {
  return std::count_if(call.post_ops.begin(), call.post_ops.end(), [](const PostOp& op) {
    if (!op.operand) return false;
    const auto& strides = op.operand->strides;
    return std::count(strides.begin(), strides.end(), 0) + 1 < static_cast<std::ptrdiff_t>(strides.size());
  });
}

bool read(std::istream& in, Price& price) {
  std::size_t types = 0, numbers = 0;
  if (!(in >> price.library >> price.version >> price.routine >> price.threads >> price.times >> price.sums >>
        price.library_seconds >> price.own_seconds >> types >> numbers))
    return false;
  for (std::string word; price.types.size() < types;) {
    if (!(in >> word)) return false;
    price.constant.push_back(word.back() == constant_mark);
    if (price.constant.back()) word.pop_back();
    const auto type = parse_dtype(word);
    if (!type) return false;
    price.types.push_back(*type);
  }
  for (std::size_t i = 0; i < numbers; ++i) {
    std::string name;
    std::int64_t value = 0;
    if (!(in >> name >> value)) return false;
    price.numbers[name] = value;
  }
  return price.library_seconds > 0 && price.own_seconds > 0;
}

}  // namespace

std::string to_string(const PriceTable& table) {
  TextStream out;
  out << head << "\n" << table.machine << "\n";
  for (const auto& price : table.prices) {
    out << price.library << " " << price.version << " " << price.routine << " " << price.threads << " " << price.times
        << " " << price.sums << " " << price.library_seconds << " " << price.own_seconds << " " << price.types.size()
        << " " << price.numbers.size();
    for (std::size_t i = 0; i < price.types.size(); ++i) {
      out << " " << price.types[i];
      if (price.constant[i]) out << constant_mark;
    }
    for (const auto& [name, value] : price.numbers) out << " " << name << " " << value;
    out << "\n";
  }
  return out.str();
}

std::optional<PriceTable> parse_prices(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  PriceTable table;
  if (!std::getline(in, line) || line != head || !std::getline(in, table.machine)) return std::nullopt;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    words.imbue(std::locale::classic());
    if (!read(words, table.prices.emplace_back())) return std::nullopt;
  }
  return table;
}

Price price_of(const Call& call, int threads) {
  Price price{call.library, call.version, call.routine, {}, {}, call.numbers, call.times(), whole_sums(call), 0, 0,
              threads};
  for (const auto& operand : call.operands) {
    price.types.push_back(operand.type);
    price.constant.push_back(operand.constant);
  }
  return price;
}

std::optional<double> speed_of(const Call& call, const PriceTable& table, int threads) {
  const auto wanted = price_of(call, threads);
  std::optional<double> result;
  double nearest = farthest;
  for (const auto& price : table.prices) {
    if (price.library != wanted.library || price.version != wanted.version || price.routine != wanted.routine ||
        price.types != wanted.types || price.constant != wanted.constant || price.sums != wanted.sums ||
        price.threads != threads)
      continue;
    const auto away = distance(price, wanted);
    if (away > nearest) continue;
    nearest = away;
    result = price.own_seconds / price.library_seconds;
  }
  return result;
}

}  // namespace tc::library
