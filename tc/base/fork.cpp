#include "tc/base/fork.h"

#include <pthread.h>

#include <atomic>
#include <set>

namespace tc {
namespace {

std::atomic<std::uint64_t> generation{0};

/// Every ForkMutex there is. Lives until the process ends.
struct Registry {
  std::mutex mutex;
  std::set<ForkMutex*> all;

  void lock() {
    mutex.lock();
    for (auto* each : all) each->lock();
  }
  void unlock() {
    for (auto* each : all) each->unlock();
    mutex.unlock();
  }
};

Registry& registry() {
  static auto& instance = *[] {
    auto* made = new Registry;
    pthread_atfork([] { registry().lock(); }, [] { registry().unlock(); },
                   [] {
                     ++generation;
                     registry().unlock();
                   });
    return made;
  }();
  return instance;
}

}  // namespace

std::uint64_t fork_generation() {
  registry();
  return generation;
}

ForkMutex::ForkMutex() {
  std::lock_guard lock(registry().mutex);
  registry().all.insert(this);
}

ForkMutex::~ForkMutex() {
  std::lock_guard lock(registry().mutex);
  registry().all.erase(this);
}

}  // namespace tc
