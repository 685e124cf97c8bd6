#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/lang/check/inline.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"
#include "test/support/host_tensor.h"

namespace tc::test {

/// Tensors by name.
using Tensors = std::map<std::string, HostTensor>;

/// A dense tensor with \p values in row-major order; zeros when there are none.
HostTensor dense(DType type, std::vector<std::int64_t> shape, const std::vector<double>& values = {});
/// Zeros under \p strides.
HostTensor strided(DType type, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides);
/// All elements in row-major order, exact: "1 2.5 nan"; bools as 0 and 1.
std::string text_of(const HostTensor& tensor);

/// Ranges of \p def for concrete sizes without a solver: an iterator has its `where` range or else the intersection of
/// the boxes it subscripts by itself; a left-hand iterator without either takes its tensor's earlier or declared
/// extent. The first assignment of a tensor gives its box. Throws InternalError for an iterator that stays without a
/// range.
lang::Ranges plain_ranges(const lang::Def& def, const lang::SizeMap& sizes);
/// The same over sizes, as they compare where every size is 8.
lang::Ranges sample_ranges(const lang::Def& def);

/// What inline_calls() asks about \p file, answered by sample_ranges() and by itself.
lang::InlineContext sample_context(const lang::File& file);

/// Parses, checks, inlines and interprets the last def of \p text with \p arguments (parameters, and the
/// initial values of in/out returns) over plain_ranges. Gives the returns.
Tensors interpret_text(const std::string& text, Tensors arguments);

}  // namespace tc::test
