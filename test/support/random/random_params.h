#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/support/random/random_def.h"

/// The parameters of a random def.
namespace tc::test {

/// The types of random tensors; the frequent ones more often.
inline const std::vector<DType> value_types = {DType::Float32, DType::Float32,  DType::Float32, DType::Float64,
                                               DType::Float16, DType::BFloat16, DType::Int32,   DType::Int64,
                                               DType::Int8,    DType::Int16,    DType::UInt8,   DType::UInt16,
                                               DType::UInt32,  DType::UInt64,   DType::Bool};

struct Params {
  std::vector<lang::TensorDecl> decls;
  std::vector<KnownTensor> tensors;  ///< the same in the same order
  std::set<std::string> bound;       ///< sizes that a dimension gives
  std::map<std::string, InputRule> inputs;
};

/// Parameters that fit the \p callees, and some more, named prefix0, prefix1, ...
Params random_params(Random& random, const lang::SizeMap& sizes, const std::string& prefix,
                     const std::vector<KnownDef>& callees);

/// An expression of \p value over the \p bound sizes, or a literal.
lang::ExprPtr size_expr(Random& random, const lang::SizeMap& sizes, const std::vector<std::string>& bound,
                        std::int64_t value);

}  // namespace tc::test
