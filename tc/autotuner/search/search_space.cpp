#include "tc/autotuner/search/search_space.h"

#include <algorithm>
#include <cstdlib>

#include "tc/base/str.h"

namespace tc::autotuner {
namespace {

/// Accumulators of a thread of a GPU at most.
constexpr std::int64_t most_in_thread = 128;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> result;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    auto end = std::min(text.find('x', begin), text.size());
    result.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

/// The value of \p option in the text form, "" for its default.
std::string text_of(const options::MappingOptions& options, const std::string& option) {
  auto text = "," + options.to_text();
  auto begin = text.find("," + option + "=");
  if (begin == std::string::npos) return "";
  begin += option.size() + 2;
  return text.substr(begin, text.find(',', begin) - begin);
}

bool has_several(const std::string& option) {
  return option == "tile" || option == "register_tile" || option == "block" || option == "grid";
}

/// What \p options give for \p gene, "" for nothing.
std::string part_for(const options::MappingOptions& options, const Gene& gene) {
  auto text = text_of(options, gene.option);
  if (!has_several(gene.option)) return text;
  auto parts = split(text);
  return gene.position < static_cast<int>(parts.size()) ? parts[gene.position] : "";
}

}  // namespace

SearchSpace::SearchSpace(const engine::Function& function, const std::vector<engine::Argument>& arguments,
                         const Target& target, const std::vector<options::MappingOptions>& starts)
    : genes_(genes_of(function, arguments, target)),
      accumulators_(target.grid ? most_in_thread : target.vector_registers()),
      block_threads_(target.grid ? target.grid->block_threads : 1) {
  for (const auto& start : starts) add_start(start);
}

void SearchSpace::add_start(const options::MappingOptions& start) {
  for (auto& gene : genes_) {
    auto value = part_for(start, gene);
    auto& values = gene.values;
    if (value.empty() || std::find(values.begin(), values.end(), value) != values.end()) continue;
    auto place =
        std::find_if(values.begin() + 1, values.end(), [&](const auto& v) { return number_of(v) > number_of(value); });
    values.insert(place, value);
  }
}

double SearchSpace::size() const {
  double result = 1;
  for (const auto& gene : genes_) result *= static_cast<double>(gene.values.size());
  return result;
}

int SearchSpace::find(const std::string& option, int position) const {
  for (std::size_t i = 0; i < genes_.size(); ++i)
    if (genes_[i].option == option && genes_[i].position == position) return static_cast<int>(i);
  return -1;
}

const std::string& SearchSpace::value(const Choice& choice, const std::string& option, int position) const {
  static const auto& none = *new std::string;
  int gene = find(option, position);
  return gene < 0 ? none : genes_[gene].values[choice[gene]];
}

void SearchSpace::clear(Choice& choice, const std::string& option, int from) const {
  for (std::size_t i = 0; i < genes_.size(); ++i)
    if (genes_[i].option == option && genes_[i].position >= from) choice[i] = 0;
}

/// Lowers the second number of \p option until the product of both is \p most.
void SearchSpace::limit(Choice& choice, const std::string& option, std::int64_t most) const {
  int second = find(option, 1);
  while (second >= 0 && choice[second] > 1 &&
         number_of(value(choice, option, 0)) * number_of(value(choice, option, 1)) > most)
    --choice[second];
}

Choice SearchSpace::normalised(Choice choice) const {
  for (int i = 0; find("tile", i) >= 0; ++i)
    if (value(choice, "tile", i).empty()) clear(choice, "tile", i);
  if (value(choice, "register_tile", 0).empty() || value(choice, "register_tile", 1).empty())
    clear(choice, "register_tile");
  if (value(choice, "block", 0).empty()) clear(choice, "block");
  limit(choice, "register_tile", accumulators_);
  limit(choice, "block", block_threads_);
  if (value(choice, "promote") == "0")
    for (const char* option : {"pack", "promote_bytes"}) clear(choice, option);
  if (value(choice, "parallel") == "0")
    for (const char* option : {"parallel_along", "reduction_parts"}) clear(choice, option);
  if (value(choice, "prefetch") == "0") clear(choice, "prefetch_distance");
  if (value(choice, "shared") == "0") clear(choice, "shared_bytes");
  return choice;
}

options::MappingOptions SearchSpace::options(const Choice& choice) const {
  auto normal = normalised(choice);
  options::MappingOptions result;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < genes_.size(); ++i) {
    if (const auto& part = genes_[i].values[normal[i]]; !part.empty()) parts.push_back(part);
    bool more = i + 1 < genes_.size() && genes_[i + 1].option == genes_[i].option;
    if (more || parts.empty()) continue;
    result = result.with(genes_[i].option, join(parts, "x"));
    parts.clear();
  }
  return result;
}

Choice SearchSpace::choice(const options::MappingOptions& options) const {
  Choice result;
  for (const auto& gene : genes_) {
    auto wanted = part_for(options, gene);
    int best = 0;
    for (std::size_t i = 1; i < gene.values.size() && !wanted.empty(); ++i) {
      if (gene.values[i] == wanted) {
        best = static_cast<int>(i);
        break;
      }
      bool numbers = number_of(wanted) >= 0 && number_of(gene.values[i]) >= 0;
      auto away = [&](int k) { return std::abs(number_of(gene.values[k]) - number_of(wanted)); };
      if (numbers && (best == 0 || away(static_cast<int>(i)) < away(best))) best = static_cast<int>(i);
    }
    result.push_back(best);
  }
  return normalised(result);
}

Choice SearchSpace::random(RandomSource& random) const {
  Choice result;
  bool given = false;
  for (const auto& gene : genes_) {
    if (gene.position == 0) given = random.below(4) == 0;
    result.push_back(given ? static_cast<int>(random.below(gene.values.size())) : 0);
  }
  return normalised(result);
}

Choice SearchSpace::mutated(Choice choice, double rate, RandomSource& random) const {
  for (std::size_t i = 0; i < genes_.size(); ++i) {
    if (random.unit() >= rate) continue;
    int count = static_cast<int>(genes_[i].values.size());
    bool beside = random.below(2) == 0;
    int step = random.below(2) == 0 ? 1 : count - 1;
    choice[i] = beside ? (choice[i] + step) % count : static_cast<int>(random.below(count));
  }
  return normalised(choice);
}

Choice SearchSpace::crossed(const Choice& a, const Choice& b, const Choice& c, RandomSource& random) {
  Choice result = a;
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto from = random.below(3);
    result[i] = from == 0 ? a[i] : from == 1 ? b[i] : c[i];
  }
  return result;
}

std::string SearchSpace::text() const {
  std::string result;
  for (const auto& gene : genes_) result += str(gene.option, " ", gene.position, ":", join(gene.values, " "), "\n");
  return result;
}

}  // namespace tc::autotuner
