#include "tc/engine/layouts/operator_texts.h"

#include <algorithm>
#include <cctype>
#include <regex>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/engine/define/function.h"

namespace tc::engine {
namespace {

using Numbers = std::map<std::string, std::int64_t>;

const Numbers window = {{"stride", 1}, {"dilation", 1}, {"top", 0}, {"left", 0}, {"bottom", 0}, {"right", 0}};

Numbers pooled() {
  auto result = window;
  result["height"] = result["width"] = 1;
  return result;
}

// A window at (h, w): its element (r, s), whether that is inside, and the ranges of h and w for R x S elements.
const std::string at_h = "$stride*h + $dilation*r - $top", at_w = "$stride*w + $dilation*s - $left";
const std::string inside = at_h + " >= 0 && " + at_h + " < H && " + at_w + " >= 0 && " + at_w + " < W";
std::string ranges(const std::string& height, const std::string& width) {
  return "where h in 0:(H + $top + $bottom - $dilation*(" + height + " - 1) - 1) / $stride + 1, " +
         "w in 0:(W + $left + $right - $dilation*(" + width + " - 1) - 1) / $stride + 1";
}
const std::string element = "X(n,c," + at_h + "," + at_w + ")";
const std::string window_ranges = ranges("$height", "$width") + ", r in 0:$height, s in 0:$width";

std::vector<Operator> make_operators() {
  return {
      {"add", {"", ""}, "", "def add(float($D0) A, float($D1) B) -> (Y) { Y($d0) = A($d0) + B($d1) }", {}, true},
      {"avg_pool",
       {"NCHW"},
       "NCHW",
       "def avg_pool(float(N,C,H,W) X) -> (Y) { S(n,c,h,w) +=! (" + inside + ") ? " + element + " : 0 " +
           window_ranges + "  M(h,w) +=! (" + inside + ") ? float(1) : 0 " + window_ranges +
           "  Y(n,c,h,w) = S(n,c,h,w) / M(h,w) }",
       pooled()},
      {"batch_norm",
       {"", "C", "C", "C", "C"},
       "",
       "def batch_norm(float($D0) X, float(C) mean, float(C) variance, float(C) scale, float(C) shift) -> (Y) {"
       " Y($d0) = (X($d0) - mean(c)) * (scale(c) / sqrt(variance(c) + float(1E-3))) + shift(c) }",
       {},
       true},
      {"bias_add", {"", "C"}, "", "def bias_add(float($D0) X, float(C) b) -> (Y) { Y($d0) = X($d0) + b(c) }", {}, true},
      {"concat", {"NCHW"}, "NCHW", "", {}, false, true},
      {"conv",
       {"NCHW", "OIRS"},
       "NCHW",
       "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! (" + inside + ") ? " + element +
           " * K(o,c,r,s) : 0 " + ranges("R", "S") + " }",
       window},
      {"depthwise",
       {"NCHW", "CRS"},
       "NCHW",
       "def depthwise(float(N,C,H,W) X, float(C,R,S) K) -> (Y) { Y(n,c,h,w) +=! (" + inside + ") ? " + element +
           " * K(c,r,s) : 0 " + ranges("R", "S") + " }",
       window},
      {"lrn",
       {"NCHW"},
       "NCHW",
       "def lrn(float(N,C,H,W) X) -> (Y) { S(n,c,h,w) +=! (c + k >= $radius && c + k < C + $radius) ?"
       " X(n,c + k - $radius,h,w) * X(n,c + k - $radius,h,w) : 0 where c in 0:C, k in 0:2*$radius + 1"
       "  Y(n,c,h,w) = X(n,c,h,w) / pow(float(1) + float(1E-4) * S(n,c,h,w), float(0.75)) }",
       {{"radius", 2}}},
      {"matmul", {"NC", "OC"}, "NC", "def matmul(float(N,C) X, float(O,C) K) -> (Y) { Y(n,o) +=! X(n,c) * K(o,c) }"},
      {"max_pool",
       {"NCHW"},
       "NCHW",
       "def max_pool(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) max=! (" + inside + ") ? " + element + " : -1E39 " +
           window_ranges + " }",
       pooled()},
      {"mean",
       {"NCHW"},
       "NC",
       "def mean(float(N,C,H,W) X) -> (Y) { S(n,c) +=! X(n,c,h,w)  Y(n,c) = S(n,c) / float(H * W) }"},
      {"mul", {"", ""}, "", "def mul(float($D0) A, float($D1) B) -> (Y) { Y($d0) = A($d0) * B($d1) }", {}, true},
      {"pad",
       {"NCHW"},
       "NCHW",
       "def pad(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = (h >= $top && h < H + $top && w >= $left && w < W + $left) ?"
       " X(n,c,h - $top,w - $left) : 0 where h in 0:H + $top + $bottom, w in 0:W + $left + $right }",
       {{"top", 0}, {"left", 0}, {"bottom", 0}, {"right", 0}}},
      {"relu", {""}, "", "def rectify(float($D0) X) -> (Y) { Y($d0) = fmax(X($d0), 0) }", {}, true},
      {"relu6", {""}, "", "def relu6(float($D0) X) -> (Y) { Y($d0) = fmin(fmax(X($d0), 0), 6) }", {}, true},
      {"softmax",
       {""},
       "",
       "def softmax(float($D0) X) -> (Y) { M($e0) max=! X($d0)  E($d0) = exp(X($d0) - M($e0))"
       "  S($e0) +=! E($d0)  Y($d0) = E($d0) / S($e0) }"},
  };
}

/// Channels of the first input, then those of the next: c < C0 ? X0(n,c,h,w) : X1(n,c - C0,h,w).
std::string concat_text(std::size_t count) {
  std::vector<std::string> params;
  std::string value, before = "0";
  for (std::size_t i = 0; i < count; ++i) {
    params.push_back(str("float(N,C", i, ",H,W) X", i));
    const auto behind = i == 0 ? std::string("C0") : str(before, " + C", i);
    if (i + 1 < count) value += str("c < ", behind, " ? ");
    value += str("X", i, "(n,c - (", before, "),h,w)", i + 1 < count ? " : " : "");
    before = behind;
  }
  return str("def concat(", join(params), ") -> (Y) { Y(n,c,h,w) = ", value, " where c in 0:", before, " }");
}

std::string letters(const std::string& dims, bool iterators, char but = 0) {
  std::vector<std::string> result;
  for (const char dim : dims)
    if (dim != but) result.emplace_back(1, iterators ? static_cast<char>(std::tolower(dim)) : dim);
  return join(result, ",");
}

}  // namespace

std::string Operator::text_of(const std::vector<VirtualTensor>& given, const Numbers& said) const {
  const bool fits = many ? !given.empty() : given.size() == inputs.size();
  if (!fits) throw ArgumentError(str(name, " takes ", inputs.size(), " tensors, ", given.size(), " were given"));
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& wanted = inputs[many ? 0 : i];
    if (given[i].type != DType::Float32) throw ArgumentError(str(name, " takes float32, '", given[i].name, "' is not"));
    if (given[i].dims.size() != given[i].extents.size() || (!wanted.empty() && given[i].dims.size() != wanted.size()))
      throw ArgumentError(str(name, " takes a tensor of dimensions ", wanted, ", '", given[i].name,
                              "' has the dimensions ", given[i].dims));
  }
  for (const auto& [attribute, value] : said)
    if (!attributes.count(attribute)) throw ArgumentError(str(name, " has no attribute '", attribute, "'"));
  if (many) return concat_text(given.size());
  static const auto& place = *new std::regex(R"(\$([a-zA-Z_]+)([0-9]*))");
  std::string result;
  auto from = text.begin();
  for (std::sregex_iterator at(text.begin(), text.end(), place), end; at != end; ++at) {
    result.append(from, text.begin() + at->position());
    from = text.begin() + at->position() + at->length();
    if (const std::string input = at->str(2); !input.empty()) {
      const auto kind = at->str(1).front();
      result += letters(given.at(std::stoul(input)).dims, kind != 'D', kind == 'e' ? 'C' : '\0');
    } else {
      const auto found = said.find(at->str(1));
      result += str(found == said.end() ? attributes.at(at->str(1)) : found->second);
    }
  }
  return result.append(from, text.end());
}

VirtualTensor Operator::result_of(const std::vector<VirtualTensor>& given, const Numbers& said) const {
  const auto text = text_of(given, said);
  std::vector<TensorSpec> specs;
  for (const auto& tensor : given) specs.push_back(contiguous(tensor.type, tensor.extents));
  static auto& mutex = *new ForkMutex;
  static auto& known =
      *new std::map<std::string, layout::Extents>;  // a text is parsed once for tensors of these extents
  const std::scoped_lock lock(mutex);
  const auto key = str(text, join(specs));
  auto found = known.find(key);
  if (found == known.end()) {
    const auto function = define(text).functions.front();
    found = known.emplace(key, infer_output_tensor_info(*function, specs).front().shape).first;
  }
  return {name, DType::Float32, result.empty() ? given.front().dims : result, found->second};
}

const std::vector<Operator>& operators() {
  static const auto& all = *new std::vector<Operator>(make_operators());
  return all;
}

const Operator& find_operator(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& one : operators()) {
    if (one.name == name) return one;
    names.push_back(str("'", one.name, "'"));
  }
  throw OptionsError(str("there is no operator '", name, "'; help: it is one of ", join(names)));
}

}  // namespace tc::engine
