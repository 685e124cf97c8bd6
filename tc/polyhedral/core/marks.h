#pragma once

#include <string>

/// Mark nodes are the protocol between the passes that shape a schedule and the generator. On every path from the root:
///
///   allocate_<buffer>*  parallel?  allocate_<buffer>*  register?  vector?
///
/// and in a kernel for a grid of blocks of threads (map_to_grid.h), below the context node:
///
///   kernel   allocate_<buffer>*   thread   register?   (vector | unit)?
///
///   parallel            the loop of the band below runs on several threads; its member is coincident
///   allocate_<buffer>   the Local tensor <buffer> lives from here down; the threads of a `parallel` below share it
///   register            loops below, down to a `vector`, are unrolled: all where constant indices turn a buffer into
///                       registers, else those with a power of two of trips, which make blocks for transposed loads
///   vector              the loop of the one-member band below becomes the lanes of a vector; its trip count is at most the
///                       `vector_lanes` of the statements below, which agree; a shorter one is masked
///
///   unit                the bands below are what a warp's unit for matrices computes of one statement (MatrixUnit): loops
///                       over its instructions, then those over what one thread has of an instruction
///
///   kernel              below, instances are spread over blocks by filters
///   thread              below, the instances of one statement are spread over threads by filters; each thread runs alone. The
///                       loops above are run by all threads of a block together
///
/// `parallel`, `vector` and `unit` stand directly above a band, `register` above one or above `unit`. A mark never stands at a leaf: isl could not read
/// it back.
namespace tc::polyhedral::marks {

inline const std::string parallel = "parallel";
inline const std::string register_tile = "register";
inline const std::string vector = "vector";
inline const std::string unit = "unit";
inline const std::string kernel = "kernel";
inline const std::string thread = "thread";
inline const std::string allocate_prefix = "allocate_";

/// The mark below which \p buffer exists.
inline std::string allocate(const std::string& buffer) { return allocate_prefix + buffer; }
/// The buffer of an allocate mark, "" for another mark.
inline std::string allocated_buffer(const std::string& mark) {
  return mark.rfind(allocate_prefix, 0) == 0 ? mark.substr(allocate_prefix.size()) : std::string();
}

}  // namespace tc::polyhedral::marks
