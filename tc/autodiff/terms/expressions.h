#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"

/// Typed expressions of the checked tree, made by hand.
namespace tc::autodiff {

using ExprPtr = lang::ExprPtr;

/// What iterators and sizes become.
using Renaming = std::map<std::string, ExprPtr>;

/// An int64 value, also a negative one.
ExprPtr integer(std::int64_t value);
/// A literal of the float type \p type: without a point where \p value is whole.
ExprPtr number(double value, DType type);
/// An iterator or a size.
ExprPtr index_name(const std::string& id);
/// The element \p tensor(\p subscripts) of \p type; rank 0 is written bare.
ExprPtr access(const std::string& tensor, std::vector<ExprPtr> subscripts, DType type);
/// The element at iterators of these names.
ExprPtr access_at(const std::string& tensor, const std::vector<std::string>& iterators, DType type);
/// A built-in of float arguments, of the type of the first.
ExprPtr call(const std::string& function, std::vector<ExprPtr> arguments);
/// Operands of one type; comparisons and logic give bool.
ExprPtr binary(lang::BinaryOp op, const ExprPtr& left, const ExprPtr& right);
ExprPtr negation(const ExprPtr& value);
/// A written conversion.
ExprPtr cast(DType type, const ExprPtr& value);
/// The opposite of the bool \p condition: a comparison of integers turned round, else behind `!`.
ExprPtr opposite(const ExprPtr& condition);
/// All of \p conditions, or true.
ExprPtr conjunction(const std::vector<ExprPtr>& conditions);
/// The conditions that \p condition joins by &&.
std::vector<ExprPtr> conjuncts(const ExprPtr& condition);

/// \p expr without implicit conversions around it.
ExprPtr written(ExprPtr expr);
/// The value of a literal, conversions and signs around it included; nothing else is constant.
std::optional<double> constant_value(const ExprPtr& expr);

bool mentions_any(const ExprPtr& expr, const std::set<std::string>& names);
/// The tensors that \p expr reads.
std::set<std::string> tensors_in(const ExprPtr& expr);
/// \p expr with names replaced.
ExprPtr replace_names(const ExprPtr& expr, const Renaming& names);
/// \p expr with its tensors renamed.
ExprPtr rename_tensors(const ExprPtr& expr, const std::map<std::string, std::string>& tensors);
/// \p expr rebuilt from the leaves up by \p rewrite, which gives what an expression with new children becomes.
template <typename F>
ExprPtr rebuild(const ExprPtr& expr, F&& rewrite);

template <typename F>
ExprPtr rebuild(const ExprPtr& expr, F&& rewrite) {
  std::vector<ExprPtr> parts = lang::children(expr);
  bool changed = false;
  for (ExprPtr& part : parts) {
    ExprPtr made = rebuild(part, rewrite);
    changed = changed || made != part;
    part = std::move(made);
  }
  return rewrite(changed ? lang::with_children(expr, parts) : expr);
}

}  // namespace tc::autodiff
