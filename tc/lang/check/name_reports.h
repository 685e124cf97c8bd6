#pragma once

#include <string>
#include <string_view>

#include "tc/lang/check/scope.h"

/// What the checker says of names that cannot stand where they do.
namespace tc::lang {

/// Reports that \p id, which stands for a value, is none.
void report_undefined_name(Scope& scope, const std::string& id, SourceRange range);
/// Reports that \p id, which has arguments or subscripts, is no tensor and no function.
void report_unknown_tensor(Scope& scope, const std::string& id, SourceRange range);
/// Reports that \p tensor, called \p id, has no value yet.
void report_read_too_early(Scope& scope, const std::string& id, const TensorState& tensor, SourceRange range);
/// Reports that \p tensor, called \p id, has not \p found subscripts; \p bare: it stands without any.
void report_wrong_rank(Scope& scope, const std::string& id, const TensorState& tensor, std::size_t found, bool bare,
                       SourceRange range);

/// How to write what a function \p id of other languages does as a reduction; empty for other names.
std::string as_reduction(std::string_view id);

/// Where \p tensor got its rank.
Label defined(const TensorState& tensor);

}  // namespace tc::lang
