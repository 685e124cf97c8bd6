#include "tc/autotuner/search_space.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include "tc/base/str.h"

namespace tc::autotuner {
namespace {

constexpr int most_tiled = 6;

/// What the def says about its loops, for given sizes.
struct Facts {
  std::vector<std::string> left, all;  ///< iterators
  std::set<std::int64_t> extents, reduced;
  int statements = 0, depth = 0;
  bool temporaries = false;
};

void note(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Facts facts_of(const engine::Function& function, const lang::SizeMap& sizes) {
  Facts facts;
  for (std::size_t i = 0; i < function.def.statements.size(); ++i) {
    const auto* assignment = std::get_if<lang::Assignment>(&function.def.statements[i].node);
    if (!assignment) continue;
    ++facts.statements;
    const auto& ranges = function.ranges.statements[i];
    facts.depth = std::max(facts.depth, static_cast<int>(ranges.size()));
    for (const auto& [name, range] : ranges) {
      auto extent = lang::evaluate_box({range}, sizes)[0].extent;
      const auto& sums = assignment->reduction_iterators;
      bool reduced = std::find(sums.begin(), sums.end(), name) != sums.end();
      if (!reduced && extent > 1) note(facts.left, name);
      if (extent > 1) note(facts.all, name);
      facts.extents.insert(extent);
      if (reduced) facts.reduced.insert(extent);
    }
  }
  for (const auto& [name, tensor] : function.def.tensors)
    facts.temporaries = facts.temporaries || tensor.role == lang::Role::Temporary;
  return facts;
}

/// Powers of two below each extent and its ceilings of divisions by them, from \p least on.
std::vector<std::string> sizes_up_to(const std::set<std::int64_t>& extents, std::int64_t least) {
  std::set<std::int64_t> sizes;
  for (auto extent : extents)
    for (std::int64_t power = 1; power < 2 * extent && power < (1 << 20); power *= 2) {
      if (power <= extent) sizes.insert(power);
      sizes.insert((extent + power - 1) / power);
    }
  std::vector<std::string> result;
  for (auto size : sizes)
    if (size >= least) result.push_back(str(size));
  return result;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> result;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    auto end = std::min(text.find('x', begin), text.size());
    result.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

std::int64_t number(const std::string& text) {
  std::int64_t result = -1;
  std::from_chars(text.data(), text.data() + text.size(), result);
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

/// What \p options give for \p gene, "" for nothing.
std::string part_for(const options::MappingOptions& options, const Gene& gene) {
  auto text = text_of(options, gene.option);
  if (gene.option != "tile" && gene.option != "register_tile") return text;
  auto parts = split(text);
  return gene.position < static_cast<int>(parts.size()) ? parts[gene.position] : "";
}

}  // namespace

SearchSpace::SearchSpace(const engine::Function& function, const std::vector<engine::Argument>& arguments,
                         const Target& target, const std::vector<options::MappingOptions>& starts)
    : registers_(target.vector_registers()) {
  auto facts = facts_of(function, engine::bind_inputs(function, engine::specs(arguments, false)));
  if (facts.statements > 1) add("fusion", {"max", "min"});
  auto tiles = sizes_up_to(facts.extents, 4);
  tiles.insert(tiles.begin(), "0");
  for (int i = 0; i < std::min(facts.depth, most_tiled); ++i) add("tile", tiles, i);
  add("promote", {"0"});
  if (facts.temporaries) add("promote_bytes", {"16384", "65536", "262144", "1048576"});
  if (target.cores > 1) add("parallel", {"0"});
  std::vector<std::string> widths;
  for (int width = 16; width < target.vector_bytes(); width *= 2) widths.push_back(str(width));
  add("vector_bytes", widths);
  if (!facts.reduced.empty()) {
    add("register_tile", {"1", "2", "3", "4", "5", "6", "7", "8", "10", "12", "14", "16"}, 0);
    add("register_tile", {"1", "2", "3", "4", "6", "8"}, 1);
    add("unroll", {"1", "2", "4", "8", "16"});
    add("pack", {"0"});
    add("reduction_block", sizes_up_to(facts.reduced, 16));
  }
  add("prefetch", {"0"});
  add("prefetch_distance", {"1", "2", "4", "8", "16"});
  if (target.cores > 1 && facts.left.size() > 1) add("parallel_along", facts.left);
  if (facts.all.size() > 1) add("vector_along", facts.all);
  for (const auto& start : starts) add_start(start);
}

void SearchSpace::add(const std::string& option, std::vector<std::string> values, int position) {
  if (values.empty()) return;
  values.insert(values.begin(), "");
  genes_.push_back({option, position, std::move(values)});
}

void SearchSpace::add_start(const options::MappingOptions& start) {
  for (auto& gene : genes_) {
    auto value = part_for(start, gene);
    auto& values = gene.values;
    if (value.empty() || std::find(values.begin(), values.end(), value) != values.end()) continue;
    auto place =
        std::find_if(values.begin() + 1, values.end(), [&](const auto& v) { return number(v) > number(value); });
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
  static const std::string none;
  int gene = find(option, position);
  return gene < 0 ? none : genes_[gene].values[choice[gene]];
}

void SearchSpace::clear(Choice& choice, const std::string& option, int from) const {
  for (std::size_t i = 0; i < genes_.size(); ++i)
    if (genes_[i].option == option && genes_[i].position >= from) choice[i] = 0;
}

Choice SearchSpace::normalised(Choice choice) const {
  for (int i = 0; find("tile", i) >= 0; ++i)
    if (value(choice, "tile", i).empty()) clear(choice, "tile", i);
  if (value(choice, "register_tile", 0).empty() || value(choice, "register_tile", 1).empty())
    clear(choice, "register_tile");
  int columns = find("register_tile", 1);
  while (columns >= 0 && choice[columns] > 1 &&
         number(value(choice, "register_tile", 0)) * number(value(choice, "register_tile", 1)) > registers_)
    --choice[columns];
  if (value(choice, "promote") == "0")
    for (const char* option : {"pack", "promote_bytes"}) clear(choice, option);
  if (value(choice, "parallel") == "0") clear(choice, "parallel_along");
  if (value(choice, "prefetch") == "0") clear(choice, "prefetch_distance");
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
      bool numbers = number(wanted) >= 0 && number(gene.values[i]) >= 0;
      auto away = [&](int k) { return std::abs(number(gene.values[k]) - number(wanted)); };
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
