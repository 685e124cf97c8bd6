#pragma once

#include <gtest/gtest.h>

#include "tc/cuda/nvrtc.h"

/// Skips the test where the compiler of kernels is not installed.
#define TC_NEEDS_NVRTC() \
  if (!tc::cuda::nvrtc_version()) GTEST_SKIP() << "NVRTC is not installed: pip install \"nvidia-cuda-nvrtc==13.0.*\""
