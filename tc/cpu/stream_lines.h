#pragma once

namespace llvm {
class Module;
}

namespace tc::cpu {

/// Makes stores of \p module to buffers that stream_stores() names stores past the caches, where they begin a line of the
/// cache, and orders them before what a function that has them returns to.
///
///   before  store v, p                                   after  if (p % 64 == 0) store v, p, nontemporal  else store v, p
///           ret                                                 fence; ret
void stream_lines(llvm::Module& module);

}  // namespace tc::cpu
