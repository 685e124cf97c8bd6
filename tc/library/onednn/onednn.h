#pragma once

#include "tc/library/description/library.h"

namespace tc::library {

/// oneDNN 2 (libdnnl.so.2, or the file that TC_ONEDNN names), opened at the first use; absent where its headers were at
/// the build. float32.
///
/// | routine | computes |
/// |---|---|
/// | `convolution1d`, `2d`, `3d` | windows with strides, dilations, padding by zeros, groups, depthwise; any order of the dimensions |
/// | `matmul` | products of matrices, one or a batch |
/// | `max_pooling1d`, `2d`, `3d` | the greatest element of windows that stay inside |
/// | `softmax` | along one dimension |
///
/// Convolutions and products take a bias, sums with tensors, and relu, in any order, as post-ops. Implementations that oneDNN
/// calls references are not taken: they are slower than any code. Tensors of a convolution are copied to the layouts it
/// likes and back in each call, where they are not in these (Routine::guideline); its dimensions may be in blocks. Its threads
/// are those of OpenMP, set for the calling thread alone.
Library onednn();

/// Its routines, a file each.
Routine onednn_convolution(int dimensions);
Routine onednn_matmul();
Routine onednn_max_pooling(int dimensions);
Routine onednn_softmax();

}  // namespace tc::library
