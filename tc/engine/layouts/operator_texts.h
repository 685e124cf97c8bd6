#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/engine/layouts/virtual_tensor.h"

namespace tc::engine {

/// An operator: the TC def that it computes, whatever the layouts of its tensors are. This is all that libraries need to know of it.
///
///   Operator{"scale", {"NCHW", "C"}, "NCHW", "def scale(float($D0) X, float(C) S) -> (Y) { Y($d0) = $by * X($d0) * S(c) }", {{"by", 1}}}
///
/// Places of the text, by the dimensions of the inputs and the attributes of a call:
///
///   $D0, $d0    the letters of input 0, as sizes N,C,H,W and as iterators n,c,h,w
///   $e0         these iterators without that of the channels: n,h,w
///   $by         the attribute `by`
struct Operator {
  std::string name;
  std::vector<std::string> inputs;  ///< letters of each; "": any
  std::string result;               ///< its letters; "": those of the first input
  std::string text;
  std::map<std::string, std::int64_t> attributes = {};  ///< and what they are if a call does not say
  bool element_wise = false;                            ///< its tensors may be in any layout, all in the same
  bool many = false;  ///< takes any number of inputs, all of inputs[0]; `text` is of one of them, see concat

  /// The def for a call. Throws ArgumentError for inputs or attributes that it does not have.
  std::string text_of(const std::vector<VirtualTensor>& given, const std::map<std::string, std::int64_t>& said) const;
  /// The result of a call, without elements. Throws likewise, and for sizes that do not fit.
  VirtualTensor result_of(const std::vector<VirtualTensor>& given,
                          const std::map<std::string, std::int64_t>& said) const;
};

/// The sixteen operators of VTensor's networks, in the order of their names.
///
/// Windows have the attributes `stride`, `top`, `left`, `bottom`, `right` (padding), and `dilation`; poolings also `height` and
/// `width`. An average is that of the elements inside.
const std::vector<Operator>& operators();
/// The one of that name. Throws OptionsError that lists them.
const Operator& find_operator(const std::string& name);

}  // namespace tc::engine
