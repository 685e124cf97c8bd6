#include "test/support/random/random_calls.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "tc/base/str.h"

namespace tc::test {
namespace {

using Kind = CallLine::Kind;
using Box = std::vector<std::pair<std::int64_t, std::int64_t>>;  ///< [low, high) a dimension

std::int64_t count(const std::vector<std::int64_t>& extents) {
  std::int64_t result = 1;
  for (auto extent : extents) result *= extent;
  return result;
}

std::int32_t wrapped(std::int64_t value) { return static_cast<std::int32_t>(static_cast<std::uint64_t>(value)); }

std::int32_t& at(Boxed& tensor, const std::vector<std::int64_t>& index) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const auto i = index[d] - tensor.mins[d];
    if (i < 0 || i >= tensor.extents[d]) throw std::logic_error("the model reads outside");
    offset = offset * tensor.extents[d] + i;
  }
  return tensor.values[static_cast<std::size_t>(offset)];
}

Box box_of(const Boxed& tensor) {
  Box box;
  for (std::size_t d = 0; d < tensor.mins.size(); ++d)
    box.emplace_back(tensor.mins[d], tensor.mins[d] + tensor.extents[d]);
  return box;
}

std::pair<std::int64_t, std::int64_t> both(std::pair<std::int64_t, std::int64_t> a,
                                           std::pair<std::int64_t, std::int64_t> b) {
  return {std::max(a.first, b.first), std::min(a.second, b.second)};
}

/// Runs the lines of one def.
class Run {
 public:
  Run(const CallText& text, const CallDef& def, const std::vector<Boxed>& arguments, const Boxed* held)
      : text_(text), def_(def), held_(held) {
    std::map<std::string, std::int64_t> sizes;
    for (std::size_t p = 0; p < def.params.size(); ++p) {
      for (std::size_t d = 0; d < def.params[p].sizes.size(); ++d)
        if (sizes.emplace(def.params[p].sizes[d], arguments[p].extents[d]).first->second != arguments[p].extents[d])
          throw DoesNotFit();
      tensors_[def.params[p].name] = arguments[p];
    }
  }

  std::vector<Boxed> results() {
    for (const auto& line : def_.lines) line.kind == Kind::Call ? call(line) : assign(line);
    std::vector<Boxed> result;
    for (const auto& name : def_.returns) {
      result.push_back(tensors_.at(name));
      std::fill(result.back().mins.begin(), result.back().mins.end(), 0);
    }
    return result;
  }

 private:
  void call(const CallLine& line) {
    std::vector<Boxed> arguments;
    for (const auto& name : line.sources) {
      arguments.push_back(tensors_.at(name));
      std::fill(arguments.back().mins.begin(), arguments.back().mins.end(), 0);
    }
    const auto& callee = text_.defs[line.callee];
    if (callee.accumulates) {
      Boxed& held = tensors_.at(line.targets[0]);
      const auto made = text_.evaluate(line.callee, arguments, &held);
      held.values = made[0].values;
      return;
    }
    const auto made = text_.evaluate(line.callee, arguments);
    for (std::size_t r = 0; r < made.size(); ++r) tensors_[line.targets[r]] = made[r];
  }

  /// The box that the reads of \p line give its left-hand side.
  Box inferred(const CallLine& line) const {
    const Box a = box_of(tensors_.at(line.sources[0]));
    switch (line.kind) {
      case Kind::Shift:
      case Kind::Accumulate:
        return {{a[0].first - line.offset, a[0].second - line.offset}};
      case Kind::Add:
        return {both(a[0], box_of(tensors_.at(line.sources[1]))[0])};
      case Kind::Outer:
        return {a[0], box_of(tensors_.at(line.sources[1]))[0]};
      case Kind::Transpose:
        return {a[1], a[0]};
      case Kind::RowSum:
      case Kind::RowMax:
        return {a[0]};
      case Kind::Window:
        return {{a[0].first, a[0].second - 1}};
      default:
        return a;
    }
  }

  std::int32_t value(const CallLine& line, const std::vector<std::int64_t>& i) {
    Boxed& a = tensors_.at(line.sources[0]);
    const auto read = [](Boxed& tensor, std::vector<std::int64_t> index) { return std::int64_t{at(tensor, index)}; };
    switch (line.kind) {
      case Kind::Shift:
        return wrapped(wrapped(read(a, {i[0] + line.offset}) * line.factor) + std::int64_t{line.offset});
      case Kind::Accumulate:
        return wrapped(read(a, {i[0] + line.offset}));
      case Kind::Add:
        return wrapped(read(a, i) + wrapped(read(tensors_.at(line.sources[1]), i) * line.factor));
      case Kind::Outer:
        return wrapped(read(a, {i[0]}) - read(tensors_.at(line.sources[1]), {i[1]}));
      case Kind::Map:
        return wrapped(wrapped(read(a, i) * line.factor) + std::int64_t{line.offset});
      case Kind::Transpose:
        return wrapped(read(a, {i[1], i[0]}));
      case Kind::Window:
        return wrapped(read(a, i) + read(a, {i[0] + 1}));
      default:
        return row(line.kind, a, i[0]);
    }
  }

  static std::int32_t row(Kind kind, Boxed& a, std::int64_t i) {
    std::int32_t result = kind == Kind::RowMax ? std::numeric_limits<std::int32_t>::min() : 0;
    for (std::int64_t j = a.mins[1]; j < a.mins[1] + a.extents[1]; ++j)
      result = kind == Kind::RowMax ? std::max(result, at(a, {i, j})) : wrapped(std::int64_t{result} + at(a, {i, j}));
    return result;
  }

  void assign(const CallLine& line) {
    Box range = inferred(line);
    auto known = tensors_.find(line.targets[0]);
    for (std::size_t d = 0; d < range.size(); ++d) {
      if (known != tensors_.end()) range[d] = both(range[d], box_of(known->second)[d]);
      if (range[d].second < range[d].first) throw DoesNotFit();
    }
    Boxed target;
    if (known != tensors_.end()) {
      target = known->second;
    } else {
      for (const auto& [low, high] : range) {
        target.mins.push_back(low);
        target.extents.push_back(high - low);
      }
      target.values.assign(static_cast<std::size_t>(count(target.extents)), 0);
      if (line.kind == Kind::Accumulate) {
        if (held_->extents != target.extents) throw DoesNotFit();
        target.values = held_->values;
      }
    }
    Boxed result = target;
    for (auto i = range[0].first; i < range[0].second; ++i)
      for (auto j = range.size() > 1 ? range[1].first : 0; j < (range.size() > 1 ? range[1].second : 1); ++j) {
        std::vector<std::int64_t> index{i};
        if (range.size() > 1) index.push_back(j);
        const auto old = line.kind == Kind::Accumulate ? at(result, index) : 0;
        at(result, index) = wrapped(std::int64_t{old} + value(line, index));
      }
    tensors_[line.targets[0]] = result;
  }

  const CallText& text_;
  const CallDef& def_;
  const Boxed* held_;
  std::map<std::string, Boxed> tensors_;
};

/// \p text without the defs that its last one has no use of.
CallText pruned(const CallText& text) {
  std::vector<bool> used(text.defs.size(), false);
  used.back() = true;
  for (std::size_t d = text.defs.size(); d-- > 0;)
    for (const auto& line : text.defs[d].lines)
      if (used[d] && line.kind == Kind::Call) used[line.callee] = true;
  CallText result;
  std::vector<std::size_t> place;
  for (std::size_t d = 0; d < text.defs.size(); ++d) {
    place.push_back(result.defs.size());
    if (used[d]) result.defs.push_back(text.defs[d]);
  }
  for (auto& def : result.defs)
    for (auto& line : def.lines) line.callee = line.kind == Kind::Call ? place[line.callee] : 0;
  return result;
}

std::string plus(int value) { return value < 0 ? str(" - ", -value) : str(" + ", value); }

/// Writes one def.
class Writer {
 public:
  Writer(Random& random, const CallText& text, int number) : random_(random), text_(text) {
    def_.name = str("f", number);
  }

  CallDef accumulator() {
    def_.accumulates = true;
    def_.params = {{"X", {"N"}}};
    def_.returns = {"Y"};
    def_.return_ranks = {1};
    def_.lines = {{Kind::Accumulate, {"Y"}, {"X"}, static_cast<int>(random_.between(-1, 1))}};
    return def_;
  }

  CallDef run() {
    make_params();
    const auto returns = random_.between(1, 2);
    for (int r = 0; r < returns; ++r) {
      def_.returns.push_back(str("R", r));
      return_ranks_[def_.returns.back()] = static_cast<int>(random_.between(1, 2));
    }
    const auto lines = random_.between(1, 6);
    for (int l = 0; l < lines; ++l)
      if (text_.defs.empty() || !random_.chance(60) || !make_call()) make_assignment(new_target());
    for (const auto& name : def_.returns) {
      if (!ranks_.count(name)) make_assignment({name, return_ranks_.at(name)});
      def_.return_ranks.push_back(ranks_.at(name));
    }
    return def_;
  }

 private:
  struct Target {
    std::string name;
    int rank;
  };

  void make_params() {
    const auto count = random_.between(1, 3);
    for (int p = 0; p < count; ++p) {
      CallDef::Param param{str("P", p), {}};
      const auto rank = random_.between(1, 2);
      for (int d = 0; d < rank; ++d) param.sizes.push_back(random_.chance(50) ? str("N", random_.between(0, 2)) : "M");
      ranks_[param.name] = static_cast<int>(rank);
      def_.params.push_back(param);
    }
  }

  /// A name that is new, a return, or one that has a value.
  Target new_target() {
    const auto rank = static_cast<int>(random_.between(1, 2));
    if (random_.chance(30))
      if (auto old = written(rank)) return {*old, rank};
    if (random_.chance(20)) {
      const auto& name = random_.pick(def_.returns);
      return {name, return_ranks_.at(name)};
    }
    return {str("T", next_++), rank};
  }

  std::vector<std::string> of_rank(int rank) const {
    std::vector<std::string> names;
    for (const auto& [name, r] : ranks_)
      if (r == rank) names.push_back(name);
    return names;
  }

  /// A tensor of \p rank that is assigned and no parameter.
  std::optional<std::string> written(int rank) {
    auto names = of_rank(rank);
    std::erase_if(names, [](const std::string& name) { return name[0] == 'P'; });
    if (names.empty()) return std::nullopt;
    return random_.pick(names);
  }

  void make_assignment(Target target) {
    const auto vectors = of_rank(1), matrices = of_rank(2);
    CallLine line;
    line.targets = {target.name};
    line.offset = static_cast<int>(random_.between(-1, 1));
    line.factor = static_cast<int>(random_.between(-2, 3));
    const auto one = random_.between(0, 4);
    if (target.rank == 2) {
      line.kind = vectors.empty() || (!matrices.empty() && random_.chance(60))
                      ? (random_.chance(50) ? Kind::Map : Kind::Transpose)
                      : Kind::Outer;
    } else if (vectors.empty() || (!matrices.empty() && random_.chance(40))) {
      line.kind = random_.chance(50) ? Kind::RowSum : Kind::RowMax;
    } else {
      line.kind = one < 2 ? Kind::Shift : one < 4 ? Kind::Add : Kind::Window;
    }
    const bool of_matrix = line.kind == Kind::Map || line.kind == Kind::Transpose || line.kind == Kind::RowSum ||
                           line.kind == Kind::RowMax;
    line.sources = {random_.pick(of_matrix ? matrices : vectors)};
    if (line.kind == Kind::Add || line.kind == Kind::Outer) line.sources.push_back(random_.pick(vectors));
    def_.lines.push_back(line);
    ranks_[target.name] = target.rank;
  }

  /// False where no argument or target of a random callee is at hand.
  bool make_call() {
    CallLine line;
    line.kind = Kind::Call;
    line.callee = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(text_.defs.size()) - 1));
    const auto& callee = text_.defs[line.callee];
    for (const auto& param : callee.params) {
      const auto names = of_rank(static_cast<int>(param.sizes.size()));
      if (names.empty()) return false;
      line.sources.push_back(random_.pick(names));
    }
    if (callee.accumulates) {
      const auto held = written(1);
      if (!held) return false;
      line.targets = {*held};
    }
    for (std::size_t r = 0; r < callee.returns.size() && !callee.accumulates; ++r)
      line.targets.push_back(result_name(callee.return_ranks[r], line.targets));
    for (std::size_t r = 0; r < line.targets.size(); ++r) ranks_[line.targets[r]] = callee.return_ranks[r];
    def_.lines.push_back(line);
    return true;
  }

  std::string result_name(int rank, const std::vector<std::string>& taken) {
    std::vector<std::string> names;
    if (auto old = written(rank); old && random_.chance(50)) names.push_back(*old);
    for (const auto& [name, r] : return_ranks_)
      if (r == rank && random_.chance(30)) names.push_back(name);
    std::erase_if(names, [&](const auto& n) { return std::find(taken.begin(), taken.end(), n) != taken.end(); });
    return names.empty() ? str("T", next_++) : random_.pick(names);
  }

  Random& random_;
  const CallText& text_;
  CallDef def_;
  std::map<std::string, int> ranks_;         ///< of what may be read
  std::map<std::string, int> return_ranks_;  ///< as they will be
  int next_ = 0;
};

}  // namespace

std::string CallLine::text(const std::string& callee_name) const {
  const std::string& t = targets[0];
  const std::string& a = sources[0];
  switch (kind) {
    case Kind::Shift:
      return str(t, "(i) = ", a, "(i", plus(offset), ") * (", factor, ")", plus(offset));
    case Kind::Accumulate:
      return str(t, "(i) += ", a, "(i", plus(offset), ")");
    case Kind::Add:
      return str(t, "(i) = ", a, "(i) + ", sources[1], "(i) * (", factor, ")");
    case Kind::Outer:
      return str(t, "(i,j) = ", a, "(i) - ", sources[1], "(j)");
    case Kind::Map:
      return str(t, "(i,j) = ", a, "(i,j) * (", factor, ")", plus(offset));
    case Kind::Transpose:
      return str(t, "(i,j) = ", a, "(j,i)");
    case Kind::RowSum:
      return str(t, "(i) +=! ", a, "(i,j)");
    case Kind::RowMax:
      return str(t, "(i) max=! ", a, "(i,j)");
    case Kind::Window:
      return str(t, "(i) = ", a, "(i) + ", a, "(i+1)");
    case Kind::Call:
      return str("; (", join(targets), ") = ", callee_name, "(", join(sources), ");");
  }
  return {};
}

std::string CallText::text() const {
  std::string out;
  for (const auto& def : defs) {
    std::vector<std::string> params;
    for (const auto& param : def.params) params.push_back(str("int(", join(param.sizes), ") ", param.name));
    out += str("def ", def.name, "(", join(params), ") -> (", join(def.returns), ") {\n");
    for (const auto& line : def.lines) out += str("  ", line.text(defs[line.callee].name), "\n");
    out += "}\n";
  }
  return out;
}

std::vector<Boxed> CallText::evaluate(std::size_t index, const std::vector<Boxed>& arguments, const Boxed* held) const {
  return Run(*this, defs[index], arguments, held).results();
}

CallText random_calls(Random& random) {
  CallText text;
  const auto defs = random.between(2, 5);
  for (int d = 0; d < defs; ++d) {
    Writer writer(random, text, d);
    text.defs.push_back(d + 1 < defs && random.chance(20) ? writer.accumulator() : writer.run());
  }
  return pruned(text);
}

}  // namespace tc::test
