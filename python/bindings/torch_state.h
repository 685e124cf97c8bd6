#pragma once

#include <Python.h>

/// What torch does besides running operators on the tensors it is given. Attributes that a release of torch lacks count
/// as off.
namespace tc::python {

/// Does torch trace, transform, differentiate forwards, profile, or have a mode that sees every operator? Only for
/// processes that have imported torch.
bool torch_watches();

/// Lets kernels run on as many threads as torch is set to, unless one has run.
void follow_threads_of_torch();
/// A kernel is about to run: the number of threads stays.
void keep_threads();

}  // namespace tc::python
