#pragma once

#include <pybind11/pybind11.h>

/// The interpreter's lock, given away and taken again. Python ends a thread that takes it while the interpreter ends by unwinding
/// its stack, which no destructor survives: such a thread stays where it is instead.
namespace tc::python {

/// For as long as it lives the calling thread is about to take the lock. Never returns, but to the thread that ends the
/// interpreter, once that has begun.
class TakingLock {
 public:
  TakingLock();
  ~TakingLock();
  TakingLock(const TakingLock&) = delete;
  TakingLock& operator=(const TakingLock&) = delete;
};

/// Gives the lock away for its scope.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    const TakingLock taking;
    PyEval_RestoreThread(state_);
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Takes the lock for its scope, inside of that of an Unlocked.
class Locked {
 public:
  Locked() : state_(take()) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  static PyGILState_STATE take() {
    const TakingLock taking;
    return PyGILState_Ensure();
  }

  PyGILState_STATE state_;
};

/// Has the interpreter, before it ends, stop all compiles and keep other threads from taking its lock.
void watch_end_of_interpreter();

}  // namespace tc::python
