#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tc/lang/syntax/tree.h"

/// The language's own text for the notation of NumPy, einsum, PyTorch and Triton, in the names of the reader's program. For messages.
namespace tc::lang {

/// The place of a message: the ranks of tensors, and the target of the statement.
struct Surroundings {
  std::map<std::string, int> ranks;
  std::string target = {};                   ///< empty if there is none
  std::vector<std::string> subscripts = {};  ///< of the target, if they are names
};

/// The statements or the expression for \p function (\p arguments) of another language; empty for an unknown function.
///
///   before  Y = softmax(X), X of rank 2
///   after   top(i) max=! X(i,j)  e(i,j) = exp(X(i,j) - top(i))  total(i) +=! e(i,j)  Y(i,j) = e(i,j) / total(i)
std::string instead_of_call(std::string_view function, const std::vector<ExprPtr>& arguments,
                            const Surroundings& place);

/// The product `left @ right` as a statement: Y(i,j) +=! X(i,k) * W(k,j).
std::string instead_of_product(const ExprPtr& left, const ExprPtr& right, const Surroundings& place);

/// The statement of an einsum: for "ij,jk->ik" and the tensors X and W, Y(i,k) +=! X(i,j) * W(j,k). Empty if they do not fit.
std::string instead_of_einsum(std::string_view equation, const std::vector<std::string>& tensors,
                              const std::string& target);

/// \p tensor with as many subscripts as it has dimensions: X(i,j).
std::string element_of(const std::string& tensor, const Surroundings& place);

/// The statement with the subscripts that \p value lacks, where its tensors stand without any: Y(i,j) = X(i,j) + b(j).
std::string with_subscripts(const ExprPtr& value, const Surroundings& place);

/// Is \p name a module of another language, such as np or torch?
bool is_foreign_module(std::string_view name);

}  // namespace tc::lang
