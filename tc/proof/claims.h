#pragma once

#include <string>
#include <vector>

#include "tc/proof/isl.h"
#include "tc/proof/text_program.h"

namespace tc::proto {
class Evidence;
class EvidenceLaunch;
}  // namespace tc::proto

/// Evidence as values of isl. Nothing in it is trusted.
namespace tc::proof {

/// An access: the element that it means, and its place in memory.
struct Access {
  isl::map element;  ///< { S[i] -> T[x] }, single-valued
  isl::map place;    ///< { S[i] -> buffer[y] }, single-valued, for the same instances
};

struct Statement {
  enum class Body { Source, Identity, Copy };
  std::string id;
  isl::set domain;
  Body body = Body::Source;
  int source = -1;  ///< of TextProgram::statements; -1: of none
  isl::map origin;  ///< { S[i] -> S1[j] } where there is a source, else the identity
  bool accumulates = false;
  std::string op;
  Access write;
  std::vector<Access> reads;
};

struct Tensor {
  enum class Storage { Argument, Workspace, Local };
  std::string name, type;
  std::vector<std::int64_t> min, extent, strides;
  Storage storage = Storage::Argument;

  /// { T[x] }
  isl::set box(isl::ctx ctx) const;
};

/// One function of machine code.
struct Launch {
  std::vector<Statement> statements;
  std::vector<Tensor> tensors;
  isl::schedule schedule;

  /// The tensor \p name, or null.
  const Tensor* find(const std::string& name) const;
};

/// Reads \p launch, whose statements refer to \p text. Throws Refusal for what is no well-formed evidence, Undecided for accesses
/// that data decide.
Launch read_launch(isl::ctx ctx, const proto::EvidenceLaunch& launch, const TextProgram& text);

}  // namespace tc::proof
