#pragma once

#include <map>
#include <string>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// Why two programs are equal: for each tensor that both define, in other words, a map from the instances of its
/// definition in the one to those in the other, as flatten() writes them out. Cases are named c0, c1, ... in its order.
///
///   O: { c0[x, r, c] -> c0[x, r, r, x, c] }
///
/// A map may speak of terms, t0, t1, ..., instead: then bodies are multiplied out, and each of their products is a case.
///
///   O: { t0[x, k] -> t0[x, k, k]; t1[x, k] -> t1[x, k, k] }        Σ a(x,k) * b(k) + a(x,k) * c(k)  =  Σ a(x,k) * T(k)
///
/// A temporary of the second program may have the definition of an earlier one, in the same program; then they are one tensor.
///
///   S_2 = S
///
/// Nothing is trusted in it: check() proves what it says.
struct Certificate {
  std::map<std::string, isl::union_map> maps;
  std::map<std::string, std::string> duplicates = {};  ///< of the second program, and the original of each
};

/// "c2".
std::string case_name(std::size_t index);
/// "t2".
std::string term_name(std::size_t index);
/// Does \p map speak of terms?
bool speaks_of_terms(const isl::union_map& map);

/// One line a tensor: a map or a duplicate. parse_certificate() reads it back.
std::string to_string(const Certificate& certificate);
/// Throws Refusal for another text.
Certificate parse_certificate(const std::string& text, const ContextPtr& context);

}  // namespace tc::derive
