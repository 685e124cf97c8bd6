#include "test/support/random/random_contraction.h"

#include <algorithm>
#include <cctype>

#include "tc/base/str.h"
#include "tc/lang/syntax/parse.h"
#include "test/support/random/random_value.h"

namespace tc::test {
namespace {

/// Instances of the contraction.
constexpr std::int64_t max_instances = 160000;

struct Index {
  std::string name;
  std::int64_t extent = 1;
};

/// The types of a contraction: of its operands and of its result.
struct Types {
  DType left, right, result;
};

const std::vector<Types> all_types = {
    {DType::Float32, DType::Float32, DType::Float32},   {DType::Float32, DType::Float32, DType::Float32},
    {DType::Float32, DType::Float32, DType::Float32},   {DType::Float64, DType::Float64, DType::Float64},
    {DType::Float16, DType::Float16, DType::Float16},   {DType::Float16, DType::Float16, DType::Float32},
    {DType::BFloat16, DType::BFloat16, DType::Float32}, {DType::BFloat16, DType::BFloat16, DType::BFloat16},
    {DType::Int8, DType::Int8, DType::Int32},           {DType::UInt8, DType::Int8, DType::Int32},
    {DType::Int32, DType::Int32, DType::Int32},         {DType::Int16, DType::Int16, DType::Int64},
    {DType::UInt8, DType::UInt8, DType::UInt8}};

const std::vector<Types> wide_types = {{DType::Float32, DType::Float32, DType::Float32},
                                       {DType::Float32, DType::Float32, DType::Float32},
                                       {DType::Float64, DType::Float64, DType::Float64},
                                       {DType::Int32, DType::Int32, DType::Int32}};

/// That matrix units of a grid multiply.
const std::vector<Types> half_types = {{DType::BFloat16, DType::BFloat16, DType::BFloat16},
                                       {DType::Float16, DType::Float16, DType::Float16}};

std::string list(const std::vector<std::string>& items) { return join(items); }

class ContractionGenerator {
 public:
  ContractionGenerator(std::uint64_t seed, bool whole_tiles) : random_(seed), whole_tiles_(whole_tiles) {}

  RandomProgram run() {
    const bool halves = whole_tiles_ && random_.chance(30);
    types_ = random_.pick(halves ? half_types : whole_tiles_ && random_.chance(85) ? wide_types : all_types);
    whole_tiles_ ? choose_whole_indices() : choose_indices();
    choose_window();
    std::string product = product_text();
    std::string statements = contraction_text(product);
    std::string last = "C";
    if (random_.chance(35)) statements += elementwise_text(last);
    if (random_.chance(20) && is_wide() && !columns_.empty()) statements += second_contraction_text(last);
    std::vector<std::string> returns{last};
    if (last != "C" && (callers_ || random_.chance(40))) returns.push_back("C");
    program_.file = lang::parse(str("def f(", list(params_), ") -> (", list(returns), ") {\n", statements, "}\n"));
    for (const auto& id : returns) program_.tolerance[id] = 0;
    return program_;
  }

 private:
  std::vector<Index> indices(int count, const char* names, bool large) {
    static const std::vector<std::int64_t> larges = {16, 17, 31, 33, 64, 127}, smalls = {1, 2, 3, 5};
    std::vector<Index> result;
    for (int i = 0; i < count; ++i)
      result.push_back({std::string(1, names[i]), random_.pick(i == 0 && large ? larges : smalls)});
    return result;
  }
  void choose_indices() {
    batch_ = indices(random_.chance(30), "g", false);
    rows_ = indices(random_.chance(10) ? 0 : random_.chance(25) ? 2 : 1, "iu", true);
    columns_ = indices(random_.chance(10) ? 0 : random_.chance(25) ? 2 : 1, "jv", true);
    reduced_ = indices(random_.chance(30) ? 2 : 1, "kr", true);
    bool deep = random_.chance(50);
    if (deep) reduced_[0].extent = random_.between(80, 200);
    if (!deep && !columns_.empty()) columns_[0].extent = random_.between(65, 400);
    while (instances() > max_instances) {
      auto* largest =
          deep && !(rows_.empty() && columns_.empty()) ? rows_.empty() ? &columns_[0] : &rows_[0] : &reduced_[0];
      for (auto* group : {&rows_, &columns_})
        for (auto& index : *group)
          if (index.extent > largest->extent || (index.extent == largest->extent && random_.chance(50)))
            largest = &index;
      largest->extent = largest->extent > 64 ? 33 : largest->extent / 2 + 1;
    }
  }
  void choose_whole_indices() {
    batch_ = indices(random_.chance(20), "g", false);
    rows_ = indices(random_.chance(15) ? 2 : 1, "iu", false);
    columns_ = indices(random_.chance(15) ? 2 : 1, "jv", false);
    reduced_ = indices(random_.chance(15) ? 2 : 1, "kr", false);
    std::vector<Index*> tiled{&rows_[0], &columns_[0], &reduced_[0]}, others;
    for (auto* index : tiled)
      index->extent = index == &reduced_[0] ? 16 * random_.between(2, 6) : 32 * random_.between(1, 3);
    for (auto* group : {&batch_, &rows_, &columns_, &reduced_})
      for (auto& index : *group)
        if (std::find(tiled.begin(), tiled.end(), &index) == tiled.end()) others.push_back(&index);
    for (auto* index : others)
      if (instances() > max_instances) index->extent = 1;
    for (auto* index : tiled)
      if (instances() > max_instances) index->extent = 32;
  }
  std::int64_t instances() const {
    std::int64_t result = 1;
    for (const auto* group : {&batch_, &rows_, &columns_, &reduced_})
      for (const auto& index : *group) result *= index.extent;
    return result;
  }

  /// Now and then a row and the last reduced index subscript one dimension of the left operand together.
  void choose_window() {
    if (rows_.empty() || reduced_.size() < 2 || !random_.chance(whole_tiles_ ? 15 : 60)) return;
    stride_ = random_.between(1, 3);
    dilation_ = random_.between(1, 2);
  }

  bool is_wide() const { return types_.result != DType::Float16 && types_.result != DType::BFloat16; }
  void shuffle(std::vector<std::string>& items) {
    for (std::size_t d = items.size(); d > 1; --d)
      std::swap(items[d - 1], items[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(d) - 1))]);
  }

  /// The tensor is contiguous along \p name then.
  static void put_last(const std::string& name, std::vector<std::string>& items) {
    auto found = std::find(items.begin(), items.end(), name);
    if (found != items.end()) std::rotate(found, found + 1, items.end());
  }

  /// A new parameter over the dimensions of \p subscripts; returns the access.
  std::string param(const std::string& id, DType type, const std::vector<std::string>& subscripts) {
    std::vector<std::string> dims;
    for (const auto& subscript : subscripts) dims.push_back(size_name(subscript));
    params_.push_back(dims.empty() ? str(type, " ", id) : str(type, "(", list(dims), ") ", id));
    program_.inputs[id] = is_unsigned_integer(type)                           ? InputRule{0, 5, false}
                          : type == DType::Float16 || type == DType::BFloat16 ? InputRule{-1, 2, false}
                                                                              : InputRule{};
    return subscripts.empty() ? id : str(id, "(", list(subscripts), ")");
  }
  /// The same for a factor, which now and then is read through an index tensor: A(NA(i), k).
  std::string factor(const std::string& id, DType type, std::vector<std::string> subscripts) {
    if (!subscripts.empty() && random_.chance(whole_tiles_ ? 5 : 20)) {
      auto last = static_cast<std::int64_t>(subscripts.size()) - 1;
      auto& subscript = subscripts[static_cast<std::size_t>(random_.between(0, last))];
      if (subscript != window()) {
        params_.push_back(str("int32(", size_name(subscript), ") N", id));
        program_.sizes["V" + id] = random_.between(1, 40);
        program_.inputs["N" + id] = InputRule{0, program_.sizes["V" + id], false};
        subscript = str("N", id, "(", subscript, ")");
      }
    }
    return param(id, type, subscripts);
  }
  std::string size_name(const std::string& subscript) {
    if (subscript[0] == 'N') return str("V", subscript[1]);
    if (subscript == window()) {
      program_.sizes["X"] = stride_ * (rows_[0].extent - 1) + dilation_ * (reduced_[1].extent - 1) + 1;
      return "X";
    }
    std::string id(1, static_cast<char>(std::toupper(static_cast<unsigned char>(subscript[0]))));
    program_.sizes[id] = extent(subscript);
    return id;
  }
  std::int64_t extent(const std::string& name) const {
    for (const auto* group : {&batch_, &rows_, &columns_, &reduced_})
      for (const auto& index : *group)
        if (index.name == name) return index.extent;
    return 31;
  }
  /// The subscript of the windowed dimension; empty without one.
  std::string window() const {
    if (stride_ == 0) return "";
    auto times = [](std::int64_t factor, const std::string& name) {
      return factor == 1 ? name : str(factor, " * ", name);
    };
    return str(times(stride_, rows_[0].name), " + ", times(dilation_, reduced_[1].name));
  }

  std::vector<std::string> left_subscripts() {
    std::vector<std::string> result;
    for (const auto& index : batch_) result.push_back(index.name);
    for (std::size_t i = 0; i < rows_.size(); ++i) result.push_back(i == 0 && stride_ > 0 ? window() : rows_[i].name);
    for (std::size_t i = 0; i < reduced_.size(); ++i)
      if (i == 0 || stride_ == 0) result.push_back(reduced_[i].name);
    shuffle(result);
    if (whole_tiles_ && stride_ == 0 && random_.chance(75)) put_last(rows_[0].name, result);
    return result;
  }
  std::vector<std::string> right_subscripts() {
    std::vector<std::string> result;
    for (const auto& index : batch_)
      if (random_.chance(70)) result.push_back(index.name);
    for (const auto* group : {&columns_, &reduced_})
      for (const auto& index : *group) result.push_back(index.name);
    shuffle(result);
    if (whole_tiles_ && random_.chance(75)) put_last(columns_[0].name, result);
    return result;
  }

  std::string product_text() {
    bool sum = random_.chance(85);
    operator_ = sum ? "+=" : random_.chance(50) ? "max=" : "min=";
    auto widened = [&](const std::string& access, DType type) {
      return type == types_.result ? access : str(types_.result, "(", access, ")");
    };
    auto left = widened(factor("A", types_.left, left_subscripts()), types_.left);
    auto right = widened(factor("B", types_.right, right_subscripts()), types_.right);
    if (random_.chance(30)) std::swap(left, right);
    std::string result = str(left, sum ? " * " : " + ", right);
    if (is_wide() && random_.chance(12)) {
      auto along = random_.pick(std::vector<std::string>{rows_.empty() ? "k" : rows_[0].name, "k"});
      result = str("(", result, ") * ", param("S", types_.result, {along}));
    }
    return result;
  }

  std::string contraction_text(const std::string& product) {
    for (const auto* group : {&batch_, &rows_, &columns_})
      for (const auto& index : *group) result_subscripts_.push_back(index.name);
    if (random_.chance(50)) shuffle(result_subscripts_);
    if (whole_tiles_ && random_.chance(85))
      put_last(random_.chance(50) ? rows_[0].name : columns_[0].name, result_subscripts_);
    std::string target = access("C");
    if (random_.chance(75)) return str("  ", target, " ", operator_, "! ", product, "\n");
    if (random_.chance(30)) {
      callers_ = true;
      return str("  ", target, " ", operator_, " ", product, "\n");
    }
    auto from = result_subscripts_;
    shuffle(from);
    return str("  ", target, " = ", param("D", types_.result, from), "\n  ", target, " ", operator_, " ", product,
               "\n");
  }
  std::string access(const std::string& id) const {
    return result_subscripts_.empty() ? id : str(id, "(", list(result_subscripts_), ")");
  }

  /// A tensor of the same shape from C, which becomes \p last.
  std::string elementwise_text(std::string& last) {
    std::vector<std::string> some;
    for (const auto& subscript : result_subscripts_)
      if (random_.chance(50)) some.push_back(subscript);
    auto bias = param("E", types_.result, some);
    std::string text = random_.chance(50) ? str("max(", access(last), ", ", bias, ")") : str(access(last), " + ", bias);
    std::string target = random_.chance(50) ? "C" : "P";
    text = str("  ", access(target), " = ", text, "\n");
    last = target;
    return text;
  }

  /// Contracts \p last over its first column.
  std::string second_contraction_text(std::string& last) {
    auto column = columns_[0].name;
    std::vector<std::string> kept, right{column, "l"};
    for (const auto& subscript : result_subscripts_)
      if (subscript != column) kept.push_back(subscript);
    kept.push_back("l");
    shuffle(right);
    auto text = str("  Q(", list(kept), ") +=! ", access(last), " * ", param("F", types_.result, right), "\n");
    last = "Q";
    return text;
  }

  Random random_;
  bool whole_tiles_ = false;
  RandomProgram program_;
  Types types_{};
  std::vector<Index> batch_, rows_, columns_, reduced_;
  std::int64_t stride_ = 0, dilation_ = 0;  ///< of the window; 0: there is none
  std::vector<std::string> params_, result_subscripts_;
  std::string operator_;
  bool callers_ = false;  ///< accumulates into the caller's C
};

}  // namespace

RandomProgram random_contraction(std::uint64_t seed, bool whole_tiles) {
  auto program = ContractionGenerator(seed * 0xD1B54A32D192ED03ull + 3, whole_tiles).run();
  program.whole_tiles = whole_tiles;
  program.seed = seed;
  program.contraction = true;
  return program;
}

}  // namespace tc::test
