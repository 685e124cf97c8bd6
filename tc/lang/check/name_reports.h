#pragma once

#include <string>
#include <vector>

#include "tc/lang/check/scope.h"

/// What the checker says of names that cannot stand where they do.
namespace tc::lang {

/// Reports that \p id, which stands for a value, is none.
void report_undefined_name(Scope& scope, const std::string& id, SourceRange range);
/// Reports that \p id, which has \p arguments or subscripts, is no tensor and no function.
void report_unknown_tensor(Scope& scope, const std::string& id, const std::vector<ExprPtr>& arguments,
                           SourceRange range);
/// Reports that \p tensor, called \p id, has no value yet.
void report_read_too_early(Scope& scope, const std::string& id, const TensorState& tensor, SourceRange range);
/// Reports that \p tensor, called \p id, has not \p found subscripts; \p bare: it stands without any.
void report_wrong_rank(Scope& scope, const std::string& id, const TensorState& tensor, std::size_t found, bool bare,
                       SourceRange range);

/// Reports the '!' of `Y(i) =! X(i,j)`, whose \p value, at \p range with it, is of \p type.
void report_negated_value(Scope& scope, const ExprPtr& value, DType type, SourceRange range);
/// Help for \p call of a function that takes \p arity arguments, another number than it has; may be empty.
std::string advice_on_count(const Scope& scope, const Call& call, int arity);

/// Where \p tensor got its rank.
Label defined(const TensorState& tensor);

}  // namespace tc::lang
