#pragma once

#include "tc/autotuner/worker/jobs.h"

namespace tc::autotuner {

/// The files a worker process inherits: a socket to its tuner, and the shared memory.
constexpr int worker_socket = 3, worker_data = 4;

/// What a program runs that is started as a worker: takes a problem, then jobs, each of which runs in a forked process
/// with limits; whatever becomes of that, a reply follows. Returns when the tuner is gone; the value is for exit().
///
/// Must be called before the program has started threads.
int worker_main(const Hook& hook = {});

}  // namespace tc::autotuner
