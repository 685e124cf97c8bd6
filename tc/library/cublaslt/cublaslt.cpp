#include "tc/library/cublaslt/cublaslt.h"

#include "tc/library/cublaslt/shared.h"

namespace tc::library {

Library cublaslt() {
  return {"cublaslt",
          1,
          []() -> const Presence& { return shared_cublaslt().presence; },
          {cublaslt_matmul(false), cublaslt_matmul(true)},
          {},
          Machine::Cuda};
}

}  // namespace tc::library
