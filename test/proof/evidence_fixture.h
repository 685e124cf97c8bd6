#pragma once

#include <string>
#include <vector>

#include "tc/engine/graph/compile.h"
#include "tc/proto/evidence.pb.h"

namespace tc::proof {

/// What the compiler states about the last def of \p text for inputs of \p shapes, when its loops are made; no machine code is.
proto::Evidence evidence_of(const std::string& text, const std::vector<std::vector<std::int64_t>>& shapes,
                            const std::string& options = "", const std::string& target = "cpu:avx2");
/// The same of \p function, for tensors like \p inputs and \p outputs.
proto::Evidence evidence_of(const std::shared_ptr<const engine::Function>& function,
                            const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                            const std::string& options, const std::string& target);

/// A program of the tests of evidence.
struct Example {
  const char* name;
  const char* text;
  std::vector<std::vector<std::int64_t>> shapes;
  const char* options = "";
  const char* target = "cpu:avx2";
};
/// One for each thing that the compiler does with loops: each is proved.
const std::vector<Example>& examples();

}  // namespace tc::proof
