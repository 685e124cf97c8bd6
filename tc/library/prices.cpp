#include "tc/library/prices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "tc/base/str.h"

namespace tc::library {
namespace {

constexpr const char* head = "library prices 4";

/// Measured calls that are farther away say nothing about another one.
constexpr double farthest = 6;  // of binary logarithms

/// More dimensions than an operand of any routine has.
constexpr std::size_t most_dimensions = 16;

/// Behind the type of an operand that never changes.
constexpr char constant_mark = '*';

double log_of(std::int64_t value) { return std::log2(std::abs(static_cast<double>(value)) + 1); }

/// How far the operands of \p a and \p b are from each other: what their strides differ by, as binary logarithms, but for
/// dimensions of one element.
double distance_of_strides(const Price& a, const Price& b) {
  double result = 0;
  for (std::size_t i = 0; i < a.strides.size(); ++i)
    for (std::size_t d = 0; d < a.strides[i].size(); ++d) {
      const auto of_a = a.strides[i][d], of_b = b.strides[i][d];
      if (of_a != 0 && of_b != 0) result += std::abs(log_of(of_a) - log_of(of_b));
    }
  return result;
}

/// How far \p a and \p b are from each other: what their sizes and strides differ by, as binary logarithms.
double distance(const Price& a, const Price& b) {
  double result = std::abs(log_of(a.times) - log_of(b.times));
  for (const auto& [name, value] : a.numbers) {
    const auto other = b.numbers.find(name);
    if (other == b.numbers.end()) return std::numeric_limits<double>::infinity();
    result += std::abs(log_of(value) - log_of(other->second));
  }
  return result + distance_of_strides(a, b);
}

/// Can what \p a took say something about \p b?
bool is_of_same_kind(const Price& a, const Price& b) {
  return a.library == b.library && a.version == b.version && a.routine == b.routine && a.types == b.types &&
         a.constant == b.constant && a.sums == b.sums && a.threads == b.threads;
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
    std::size_t dimensions = 0;
    if (!(in >> dimensions) || dimensions > most_dimensions) return false;
    for (auto& stride : price.strides.emplace_back(dimensions))
      if (!(in >> stride)) return false;
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
      out << " " << price.strides[i].size();
      for (const auto stride : price.strides[i]) out << " " << stride;
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
  Price price{call.library, call.version, call.routine,     {}, {}, {},
              call.numbers, call.times(), whole_sums(call), 0,  0,  threads};
  for (const auto& operand : call.operands) {
    price.types.push_back(operand.type);
    price.constant.push_back(operand.constant);
    price.strides.push_back(operand.strides);
  }
  return price;
}

bool is_of_same_call(const Price& a, const Price& b) {
  return is_of_same_kind(a, b) && a.numbers == b.numbers && a.times == b.times && a.strides == b.strides;
}

std::optional<double> speed_of(const Call& call, const PriceTable& table, int threads) {
  const auto wanted = price_of(call, threads);
  double weights = 0, sum = 0;
  for (const auto& price : table.prices) {
    if (!is_of_same_kind(price, wanted)) continue;
    const double speed = price.own_seconds / price.library_seconds;
    const double away = distance(price, wanted);
    if (away == 0) return speed;
    if (away > farthest) continue;
    weights += 1 / (away * away);
    sum += std::log(speed) / (away * away);
  }
  if (weights == 0) return std::nullopt;
  return std::exp(sum / weights);
}

}  // namespace tc::library
