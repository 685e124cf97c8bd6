#include "tc/lang/syntax/other_languages.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

struct Idiom {
  std::string_view names;  ///< separated by blanks
  /// X: an element of the argument; W, V: the next arguments; Y: the target; #: the subscripts of the result of a
  /// reduction; @: all subscripts; $: the index that is reduced, % its size.
  std::string_view text;
};

constexpr std::array reductions = {
    Idiom{"sum reduce_sum", "Y# +=! X"},
    Idiom{"prod product", "Y# *=! X"},
    Idiom{"max amax reduce_max", "Y# max=! X"},
    Idiom{"min amin reduce_min", "Y# min=! X"},
    Idiom{"any", "Y# ||=! X"},
    Idiom{"all", "Y# &&=! X"},
};

constexpr std::array statements = {
    Idiom{"mean average avg", "total# +=! X  Y# = total# / %"},
    Idiom{"argmax", "top# max=! X  Y# min=! X == top# ? $ : %"},
    Idiom{"argmin", "least# min=! X  Y# min=! X == least# ? $ : %"},
    Idiom{"var variance", "mean# +=! X / %  Y# +=! (X - mean#) * (X - mean#) / %"},
    Idiom{"std", "mean# +=! X / %  v# +=! (X - mean#) * (X - mean#) / %  Y# = sqrt(v#)"},
    Idiom{"norm", "total# +=! X * X  Y# = sqrt(total#)"},
    Idiom{"logsumexp", "top# max=! X  total# +=! exp(X - top#)  Y# = top# + log(total#)"},
    Idiom{"softmax", "top# max=! X  e@ = exp(X - top#)  total# +=! e@  Y@ = e@ / total#"},
    Idiom{"log_softmax", "top# max=! X  total# +=! exp(X - top#)  Y@ = X - top# - log(total#)"},
    Idiom{"layer_norm layernorm LayerNorm",
          "mean# +=! X / %  v# +=! (X - mean#) * (X - mean#) / %  Y@ = (X - mean#) * rsqrt(v# + 0.00001)"},
    Idiom{"rms_norm rmsnorm RMSNorm", "total# +=! X * X  Y@ = X * rsqrt(total# / % + 0.00001)"},
};

constexpr std::array expressions = {
    Idiom{"maximum", "max(X, W)"},
    Idiom{"minimum", "min(X, W)"},
    Idiom{"square", "X * X"},
    Idiom{"power", "X ** W"},
    Idiom{"absolute", "abs(X)"},
    Idiom{"leaky_relu", "X > 0 ? X : W * X"},
    Idiom{"swish", "silu(X)"},
    Idiom{"elu", "X > 0 ? X : expm1(X)"},
    Idiom{"add", "X + W"},
    Idiom{"sub subtract", "X - W"},
    Idiom{"mul multiply", "X * W"},
    Idiom{"div divide true_divide", "X / W"},
    Idiom{"neg negative", "-X"},
    Idiom{"sign", "X > 0 ? 1 : X < 0 ? -1 : 0"},
    Idiom{"reciprocal", "1 / X"},
    Idiom{"clip", "clamp(X, W, V)"},
    Idiom{"if_then_else", "X ? W : V"},
};

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The text of the idiom called \p name, or empty.
template <std::size_t N>
std::string_view text_of(const std::array<Idiom, N>& idioms, std::string_view name) {
  for (const auto& idiom : idioms) {
    const std::string padded = str(" ", idiom.names, " ");
    if (padded.find(str(" ", name, " ")) != std::string::npos) return idiom.text;
  }
  return {};
}

std::string in_parentheses(const std::vector<std::string>& names) {
  return names.empty() ? "" : str("(", join(names, ","), ")");
}

/// The \p count indices i, j, ... that are no tensors of \p place; those of the target come first.
std::vector<std::string> new_indices(std::size_t count, const Surroundings& place) {
  std::vector<std::string> result = place.subscripts;
  for (char c = 'i'; result.size() < count && c <= 'z'; ++c)
    if (const std::string name(1, c); !place.ranks.count(name) && !contains(result, name)) result.push_back(name);
  result.resize(std::min(result.size(), count));
  return result;
}

/// The element of an argument and the indices in it.
struct Operand {
  std::string text;
  std::vector<std::string> indices;
};

/// The tensor that \p e names without subscripts; empty for other expressions.
std::string whole_tensor(const ExprPtr& e) {
  const auto* name = std::get_if<Name>(&e->node);
  const auto* access = std::get_if<Access>(&e->node);
  return name ? name->id : access && access->bare ? access->tensor : std::string();
}

int rank_of(const ExprPtr& e, const Surroundings& place) {
  const auto found = place.ranks.find(whole_tensor(e));
  return found == place.ranks.end() ? 2 : found->second;
}

/// The names in subscripts of \p e, in order.
std::vector<std::string> subscript_names(const ExprPtr& e) {
  std::vector<std::string> result;
  for_each_expr(e, [&](const ExprPtr& part) {
    if (const auto* access = std::get_if<Access>(&part->node))
      for (const auto& subscript : access->subscripts)
        for_each_expr(subscript, [&](const ExprPtr& leaf) {
          const auto* name = std::get_if<Name>(&leaf->node);
          if (name && !contains(result, name->id)) result.push_back(name->id);
        });
  });
  return result;
}

Operand operand_of(const ExprPtr& e, const Surroundings& place) {
  const std::string tensor = whole_tensor(e);
  if (!tensor.empty()) {
    const auto indices = new_indices(static_cast<std::size_t>(rank_of(e, place)), place);
    return {tensor + in_parentheses(indices), indices};
  }
  const bool is_single = children(e).empty() || std::holds_alternative<Access>(e->node);
  return {is_single ? print(e) : str("(", print(e), ")"), subscript_names(e)};
}

/// The dimension that the literal \p e means as an axis of \p rank dimensions.
std::optional<std::size_t> axis_of(const ExprPtr& e, std::size_t rank) {
  const auto* unary = std::get_if<Unary>(&e->node);
  const auto* literal = std::get_if<IntLiteral>(&(unary ? unary->value : e)->node);
  if (!literal || literal->value > rank || rank == 0) return std::nullopt;
  const auto axis = unary ? rank - static_cast<std::size_t>(literal->value) : static_cast<std::size_t>(literal->value);
  return axis < rank ? std::optional(axis) : std::nullopt;
}

/// Of \p arguments, the one that a function is of: the first with a tensor.
ExprPtr main_argument(const std::vector<ExprPtr>& arguments, const Surroundings& place) {
  for (const auto& e : arguments)
    if (place.ranks.count(whole_tensor(e)) || !subscript_names(e).empty()) return e;
  return arguments[0];
}

/// Writes an idiom in the names of a place.
class IdiomWriter {
 public:
  IdiomWriter(const std::vector<ExprPtr>& arguments, const Surroundings& place)
      : place_(place), argument_(main_argument(arguments, place)), x_(operand_of(argument_, place)) {
    for (std::size_t k = 1; k < arguments.size() && k <= others_.size(); ++k) others_[k - 1] = print(arguments[k]);
    const auto axis = arguments.size() > 1 ? axis_of(arguments[1], x_.indices.size()) : std::nullopt;
    for (std::size_t d = 0; d < x_.indices.size(); ++d)
      if (axis ? d != *axis : contains(place_.subscripts, x_.indices[d])) kept_.push_back(x_.indices[d]);
  }

  std::string write(std::string_view text) {
    const bool has_one_axis = text.find("Y@") != text.npos || text.find('$') != text.npos;
    if (has_one_axis && kept_.size() + 1 != x_.indices.size() && !x_.indices.empty())
      kept_.assign(x_.indices.begin(), x_.indices.end() - 1);
    is_temporary_ =
        text.find("Y@") == text.npos && text.find("Y#") != text.npos && kept_.size() < place_.subscripts.size();
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      while (at < text.size() && is_name_character(text[at])) ++at;
      if (at == begin)
        result += sign(text[at++]);
      else
        result += word(text.substr(begin, at - begin), at < text.size() && (text[at] == '#' || text[at] == '@'));
    }
    return result;
  }

 private:
  std::string sign(char c) const {
    if (c == '#') return in_parentheses(kept_);
    if (c == '@') return in_parentheses(x_.indices);
    if (c != '$' && c != '%') return std::string(1, c);
    const auto* access = std::get_if<Access>(&argument_->node);
    const std::string tensor = access ? access->tensor : whole_tensor(argument_);
    std::vector<std::string> indices, sizes;
    for (std::size_t d = 0; d < x_.indices.size(); ++d) {
      if (contains(kept_, x_.indices[d])) continue;
      indices.push_back(x_.indices[d]);
      sizes.push_back(str(tensor.empty() ? "X" : tensor, ".", d));
    }
    if (c == '$') return join(indices);
    return sizes.size() == 1 ? sizes[0] : str("(", join(sizes, " * "), ")");
  }

  std::string word(std::string_view name, bool is_tensor) const {
    if (name == "X") return x_.text;
    if (name == "W") return others_[0];
    if (name == "V") return others_[1];
    if (name == "Y" && !is_temporary_) return place_.target.empty() ? "Y" : place_.target;
    const std::string own(name == "Y" ? "r" : name);
    return is_tensor && (place_.ranks.count(own) || contains(x_.indices, own)) ? own + "_" : own;
  }

  const Surroundings& place_;
  const ExprPtr argument_;
  const Operand x_;
  std::array<std::string, 2> others_ = {"0", "1"};
  std::vector<std::string> kept_;
  bool is_temporary_ = false;  ///< the result has fewer subscripts than the target of the statement
};

std::string target_of(const Surroundings& place) { return place.target.empty() ? "Y" : place.target; }

/// Y(i,j) = \p value where i in 0:a, j in 0:b for \p sizes {a, b}
std::string filled(const std::string& value, const std::vector<std::string>& sizes, const Surroundings& place) {
  const auto indices = new_indices(sizes.size(), place);
  std::vector<std::string> ranges;
  for (std::size_t d = 0; d < indices.size(); ++d) ranges.push_back(str(indices[d], " in 0:", sizes[d]));
  return str(target_of(place), in_parentheses(indices), " = ", value, ranges.empty() ? "" : " where ", join(ranges));
}

std::string fill(std::string_view function, const std::vector<ExprPtr>& arguments, const Surroundings& place) {
  std::vector<std::string> sizes;
  const bool is_like = function.size() > 5 && function.substr(function.size() - 5) == "_like";
  const std::string_view name = is_like ? function.substr(0, function.size() - 5) : function;
  if (name != "zeros" && name != "ones" && name != "empty" && name != "full" && name != "arange") return {};
  const std::string like = is_like ? whole_tensor(arguments[0]) : "";
  for (int d = 0; is_like && d < rank_of(arguments[0], place); ++d) sizes.push_back(str(like, ".", d));
  for (std::size_t d = 0; !is_like && d < arguments.size() - (name == "full" ? 1 : 0); ++d)
    sizes.push_back(print(arguments[d]));
  if (name == "arange") return filled(new_indices(1, place)[0], {sizes.front()}, place);
  return filled(name == "full" ? print(arguments.back()) : name == "ones" ? "1" : "0", sizes, place);
}

std::string transposed(const ExprPtr& argument, const Surroundings& place) {
  const Operand x = operand_of(argument, {place.ranks, {}, {}});
  auto swapped = x.indices;
  if (swapped.size() >= 2) std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  return str(target_of(place), in_parentheses(swapped), " = ", x.text);
}

/// A tensor of rank 1 made of one of rank 2, or the general rule.
std::string reshaped(const ExprPtr& argument, const Surroundings& place) {
  const std::string x = whole_tensor(argument);
  if (x.empty() || rank_of(argument, place) != 2)
    return "an element is named by quotients and remainders of its index, for example Y(q) = X(q / N, q % N) where q "
           "in 0:M*N";
  return str(target_of(place), "(q) = ", x, "(q / ", x, ".1, q % ", x, ".1) where q in 0:", x, ".0*", x, ".1");
}

/// Two tensors of rank 1, one behind the other.
std::string joined(const std::vector<ExprPtr>& arguments, const Surroundings& place) {
  const std::string a = whole_tensor(arguments[0]), b = arguments.size() > 1 ? whole_tensor(arguments[1]) : "";
  if (a.empty() || b.empty()) return "Y(i) = i < N ? A(i) : B(i-N) where i in 0:N+M";
  return str(target_of(place), "(i) = i < ", a, ".0 ? ", a, "(i) : ", b, "(i-", a, ".0) where i in 0:", a, ".0+", b,
             ".0");
}

std::string running_sum(const ExprPtr& argument, const Surroundings& place) {
  const auto* access = std::get_if<Access>(&argument->node);
  const std::string tensor = access ? access->tensor : whole_tensor(argument);
  Operand x = operand_of(argument, place);
  if (tensor.empty() || x.indices.empty()) return "Y(i) +=! k <= i ? X(k) : 0 where i in 0:N";
  auto inner = x.indices;
  inner.back() = contains(x.indices, "k") ? "q" : "k";
  return str(target_of(place), in_parentheses(x.indices), " +=! ", inner.back(), " <= ", x.indices.back(), " ? ",
             tensor, in_parentheses(inner), " : 0 where ", x.indices.back(), " in 0:", tensor, ".",
             x.indices.size() - 1);
}

/// The subscripts of the factors of a product of tensors of \p ranks, and of its result.
std::array<std::vector<std::string>, 3> product_subscripts(std::array<int, 2> ranks, bool is_transposed) {
  std::vector<std::string> a, b, y;
  const int most = std::max(ranks[0], ranks[1]);
  for (int d = 0; d + 2 < most; ++d) {
    const std::string batch = d == 0 ? "b" : str("b", d);
    if (most - d <= ranks[0]) a.push_back(batch);
    if (most - d <= ranks[1]) b.push_back(batch);
    y.push_back(batch);
  }
  if (ranks[0] >= 2) a.emplace_back("i"), y.emplace_back("i");
  a.emplace_back("k");
  if (ranks[1] >= 2) y.emplace_back("j");
  if (ranks[1] >= 2 && is_transposed) b.emplace_back("j");
  b.emplace_back("k");
  if (ranks[1] >= 2 && !is_transposed) b.emplace_back("j");
  return {a, b, y};
}

std::string product(const ExprPtr& left, const ExprPtr& right, const Surroundings& place, bool is_transposed) {
  const std::string a = whole_tensor(left), b = whole_tensor(right);
  if (a.empty() || b.empty()) {
    const Operand x = operand_of(left, place), w = operand_of(right, place);
    auto kept = place.subscripts;
    for (const auto& own : {x.indices, w.indices})
      for (const auto& index : own)
        if (place.subscripts.empty() && (!contains(x.indices, index) || !contains(w.indices, index)))
          kept.push_back(index);
    return str(target_of(place), in_parentheses(kept), " +=! ", x.text, " * ", w.text);
  }
  const auto [x, w, y] = product_subscripts({rank_of(left, place), rank_of(right, place)}, is_transposed);
  return str(target_of(place), in_parentheses(y), " +=! ", a, in_parentheses(x), " * ", b, in_parentheses(w));
}

std::vector<std::string> letters(std::string_view text) {
  std::vector<std::string> result;
  for (char c : text)
    if (c != ' ') result.emplace_back(1, c);
  return result;
}

}  // namespace

std::string instead_of_call(std::string_view function, const std::vector<ExprPtr>& arguments,
                            const Surroundings& place) {
  if (arguments.empty()) return {};
  if (const auto text = text_of(reductions, function); !text.empty())
    return str("a reduction is part of the assignment: ", IdiomWriter(arguments, place).write(text));
  if (const auto text = text_of(statements, function); !text.empty())
    return str("write its statements: ", IdiomWriter(arguments, place).write(text));
  if (const auto text = text_of(expressions, function); !text.empty())
    return str("write ", IdiomWriter(arguments, place).write(text));
  const bool is_matrix_product = function == "matmul" || function == "mm" || function == "bmm" || function == "dot";
  const bool is_layer = function == "linear" || function == "Linear" || function == "dense";
  if ((is_matrix_product || is_layer) && arguments.size() >= 2)
    return str("a product is a sum: ", product(arguments[0], arguments[1], place, is_layer));
  if (function == "transpose" || function == "T" || function == "t" || function == "mT" || function == "permute")
    return str("a transposition is an assignment: ", transposed(arguments[0], place));
  if (function == "reshape" || function == "view" || function == "flatten" || function == "ravel")
    return str("a reshape is an assignment: ", reshaped(arguments[0], place));
  if (function == "concat" || function == "concatenate" || function == "cat")
    return str("a concatenation is a choice over a range that is written: ", joined(arguments, place));
  if (function == "cumsum") return str("write a running sum: ", running_sum(arguments[0], place));
  const std::string tensor = whole_tensor(arguments[0]);
  if (function == "len") return str("the first size is ", tensor.empty() ? "X" : tensor, ".0");
  const std::string filled = fill(function, arguments, place);
  return filled.empty() ? filled : str("write the elements and their ranges: ", filled);
}

std::string instead_of_product(const ExprPtr& left, const ExprPtr& right, const Surroundings& place) {
  return product(left, right, place, false);
}

std::string instead_of_einsum(std::string_view equation, const std::vector<std::string>& tensors,
                              const std::string& target) {
  const auto arrow = equation.find("->");
  if (arrow == std::string_view::npos || tensors.empty()) return {};
  std::string_view inputs = equation.substr(0, arrow);
  const auto kept = letters(equation.substr(arrow + 2));
  std::string text;
  bool reduces = false;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto comma = inputs.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == tensors.size())) return {};
    const auto indices = letters(inputs.substr(0, comma));
    for (const auto& index : indices) reduces = reduces || !contains(kept, index);
    text += str(i == 0 ? "" : " * ", tensors[i], in_parentheses(indices));
    if (comma != std::string_view::npos) inputs.remove_prefix(comma + 1);
  }
  return str(target, in_parentheses(kept), reduces ? " +=! " : " = ", text);
}

std::string element_of(const std::string& tensor, const Surroundings& place) {
  return operand_of(make_expr(Name{tensor}), place).text;
}

std::string with_subscripts(const ExprPtr& value, const Surroundings& place) {
  int most = 0;
  for_each_expr(value, [&](const ExprPtr& e) {
    if (place.ranks.count(whole_tensor(e))) most = std::max(most, rank_of(e, place));
  });
  const auto indices = new_indices(static_cast<std::size_t>(most), place);
  const auto subscripted = [&](const auto& self, const ExprPtr& e) -> ExprPtr {
    const std::string tensor = whole_tensor(e);
    if (!tensor.empty() && place.ranks.count(tensor) && rank_of(e, place) > 0) {
      std::vector<ExprPtr> own;
      for (std::size_t d = indices.size() - std::min<std::size_t>(indices.size(), rank_of(e, place));
           d < indices.size(); ++d)
        own.push_back(make_expr(Name{indices[d]}));
      return make_expr(Access{tensor, std::move(own)});
    }
    auto parts = children(e);
    for (auto& part : parts) part = self(self, part);
    return with_children(e, parts);
  };
  return str(target_of(place), in_parentheses(indices), " = ", print(subscripted(subscripted, value)));
}

bool is_foreign_module(std::string_view name) {
  static constexpr std::array<std::string_view, 12> modules = {"np",  "numpy", "torch", "F",  "nn",  "tl",
                                                               "jnp", "jax",   "math",  "cp", "std", "functional"};
  return std::find(modules.begin(), modules.end(), name) != modules.end();
}

}  // namespace tc::lang
