#pragma once

#include <Halide.h>

#include <vector>

namespace tc::halide_bridge {

/// Appends the statements of nested blocks to \p parts, in order; another statement is one part.
inline void flatten(const Halide::Internal::Stmt& stmt, std::vector<Halide::Internal::Stmt>& parts) {
  if (const auto* block = stmt.as<Halide::Internal::Block>()) {
    flatten(block->first, parts);
    flatten(block->rest, parts);
  } else {
    parts.push_back(stmt);
  }
}

}  // namespace tc::halide_bridge
