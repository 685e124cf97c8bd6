#pragma once

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// How a binary operator is written.
struct Spelling {
  BinaryOp op = BinaryOp::Or;
  const char* symbol = nullptr;
  int level = 0;  ///< operators of a higher level bind tighter
};
inline constexpr int comparison_level = 3;
inline constexpr Spelling binary_operators[] = {
    {BinaryOp::Or, "||", 1},
    {BinaryOp::And, "&&", 2},
    {BinaryOp::Lt, "<", comparison_level},
    {BinaryOp::Le, "<=", comparison_level},
    {BinaryOp::Gt, ">", comparison_level},
    {BinaryOp::Ge, ">=", comparison_level},
    {BinaryOp::Eq, "==", comparison_level},
    {BinaryOp::Ne, "!=", comparison_level},
    {BinaryOp::Add, "+", 4},
    {BinaryOp::Sub, "-", 4},
    {BinaryOp::Mul, "*", 5},
    {BinaryOp::Div, "/", 5},
    {BinaryOp::Mod, "%", 5},
};

constexpr const Spelling& spelling(BinaryOp op) {
  const Spelling* found = binary_operators;
  while (found->op != op) ++found;
  return *found;
}

/// "<", "==", "&&", ...
constexpr const char* symbol(BinaryOp op) { return spelling(op).symbol; }
constexpr bool is_comparison(BinaryOp op) { return spelling(op).level == comparison_level; }
/// Is the value a bool?
constexpr bool gives_truth(BinaryOp op) { return spelling(op).level <= comparison_level; }
/// A comparison as isl writes it: "=" for "==".
constexpr const char* isl_comparison(BinaryOp op) { return op == BinaryOp::Eq ? "=" : symbol(op); }

}  // namespace tc::lang
