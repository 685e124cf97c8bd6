#include "tc/library/onednn/onednn.h"

#include "tc/library/onednn/shared.h"

namespace tc::library {

Library onednn() {
  return {"onednn",
          2,
          []() -> const Presence& { return shared_onednn().presence; },
          {onednn_matmul(), onednn_convolution(1), onednn_convolution(2), onednn_convolution(3), onednn_max_pooling(1),
           onednn_max_pooling(2), onednn_max_pooling(3), onednn_softmax()}};
}

}  // namespace tc::library
