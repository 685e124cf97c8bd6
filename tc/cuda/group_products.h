#pragma once

#include <string>

namespace tc::cuda {

/// The part of the device prelude for the asynchronous products of groups of 4 warps (wgmma, sm_90a): functions from
/// tc_proxy_fence to tc_multiply_m64n256k16_f16 of the table in prelude.cpp. Empty for other architectures when compiled.
std::string group_products();

}  // namespace tc::cuda
