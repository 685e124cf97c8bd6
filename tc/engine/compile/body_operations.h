#pragma once

#include "tc/strategy/price/priced_cluster.h"

namespace tc::halide_bridge {
struct Program;
}

namespace tc::engine {

/// What one evaluation of the value of each statement of \p program computes, by the id of the statement. Arithmetic of
/// subscripts counts nothing; a product that is added to is one operation; of a conditional both arms count. What does not
/// change along an iterator, as most conditions on indices do not, counts as if it were computed once for all its values.
///
///   C(m,n) +=! A(m,k) * B(k,n)      simple 1       Y(i) = exp(X(i)) / s      divisions 1, functions 1
strategy::OperationsOfBodies body_operations(const halide_bridge::Program& program);

}  // namespace tc::engine
