#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/base/dtype.h"

namespace tc::library {

/// The kind of machine that a library runs on.
enum class Machine : std::uint8_t { Cpu, Cuda };

/// A dimension of an operand in blocks: index i is at i / size * stride + i % size * (the operand's own stride) elements.
struct Block {
  std::int64_t size = 0;  ///< 0: no blocks
  std::int64_t stride = 0;

  bool operator==(const Block&) const = default;
};

/// A tensor as a routine sees it: the element of indices i is at `offset` + sum of strides[d] * i[d] of an argument.
struct Operand {
  std::size_t argument = 0;  ///< of the def: its inputs in order, then its outputs
  DType type = DType::Float32;
  std::int64_t offset = 0;            ///< in elements
  std::vector<std::int64_t> strides;  ///< in elements, one a dimension of the operand in the routine's def
  std::vector<std::int64_t> steps;    ///< in elements, one a loop around the routine
  bool constant = false;              ///< the same memory and values in each run
  std::vector<Block> blocks = {};     ///< one a dimension, of operands with some; else empty

  /// The blocks of dimension \p d, of size 0 without any.
  Block block(std::size_t d) const { return blocks.empty() ? Block() : blocks[d]; }

  bool operator==(const Operand&) const = default;
};

/// What is done to each element of a result before it is written.
struct PostOp {
  enum class Kind : std::uint8_t {
    Add,     ///< the element of `operand`, which has the dimensions of the result; strides of 0 repeat it
    Relu,    ///< 0 instead of what is negative; what it makes of a NaN, Routine::relu_drops_nan says
    Gelu,    ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    AtMost,  ///< `limit` instead of what is greater
  };
  Kind kind = Kind::Relu;
  std::optional<Operand> operand;
  double limit = 0;

  bool operator==(const PostOp&) const = default;
};

/// A def for given tensors as a call of a routine. Values only: it can be kept, and called in another process.
struct Call {
  std::string library, version, routine;
  std::map<std::string, std::int64_t> numbers;  ///< the sizes and attributes that the routine's def names
  std::vector<Operand> operands;                ///< the parameters of the routine's def, then its return
  std::vector<PostOp> post_ops;                 ///< in order
  std::vector<std::int64_t> loops;              ///< extents of the loops around the routine
  Machine machine = Machine::Cpu;               ///< that the library runs on

  /// The value of size or attribute \p name. Throws InternalError where the call has none.
  std::int64_t number(const std::string& name) const;
  /// How often the routine is called.
  std::int64_t times() const;
  /// This call, whose operands are constant where \p is_constant holds for their arguments.
  Call with_constants(const std::function<bool(std::size_t argument)>& is_constant) const;
  const Operand& result() const { return operands.back(); }
  bool operator==(const Call&) const = default;
};

/// One line: the routine, its library, sizes, strides and what follows: "gemm of openblas 0.3.21: K=3 M=2 N=4; ...".
std::string to_string(const Call& call);

}  // namespace tc::library
