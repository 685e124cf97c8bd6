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
    {BinaryOp::BitOr, "|", 4},
    {BinaryOp::BitXor, "^", 5},
    {BinaryOp::BitAnd, "&", 6},
    {BinaryOp::ShiftLeft, "<<", 7},
    {BinaryOp::ShiftRight, ">>", 7},
    {BinaryOp::Add, "+", 8},
    {BinaryOp::Sub, "-", 8},
    {BinaryOp::Mul, "*", 9},
    {BinaryOp::Div, "/", 9},
    {BinaryOp::Mod, "%", 9},
    {BinaryOp::Power, "**", 11},
};
inline constexpr int unary_level = 10, power_level = 11;  ///< -x ** 2 is -(x ** 2)

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
constexpr bool is_logical(BinaryOp op) { return op == BinaryOp::And || op == BinaryOp::Or; }
/// Does the operator combine the bits of integers?
constexpr bool is_bitwise(BinaryOp op) { return op >= BinaryOp::BitAnd && op <= BinaryOp::ShiftRight; }
constexpr bool is_shift(BinaryOp op) { return op == BinaryOp::ShiftLeft || op == BinaryOp::ShiftRight; }
inline constexpr UnaryOp unary_operators[] = {UnaryOp::Negate, UnaryOp::Not, UnaryOp::Complement};
/// "-", "!" or "~".
constexpr const char* symbol(UnaryOp op) { return op == UnaryOp::Negate ? "-" : op == UnaryOp::Not ? "!" : "~"; }
/// A comparison as isl writes it: "=" for "==".
constexpr const char* isl_comparison(BinaryOp op) { return op == BinaryOp::Eq ? "=" : symbol(op); }

}  // namespace tc::lang
