#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/autotuner/worker/message.h"

namespace tc::autotuner {

/// A program that runs worker_main(), started by its command.
class WorkerProcess {
 public:
  /// Starts the process, whose first message reports whether it has loaded. Throws ResourceError if the program does
  /// not exist.
  WorkerProcess(const std::vector<std::string>& command, int data, const Message& problem);
  /// Ends the process and its children.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int socket() const { return socket_; }
  pid_t process() const { return process_; }
  /// Receives its first message. Throws ResourceError unless the process is ready.
  void take_greeting();

 private:
  std::string name_;
  pid_t process_ = -1;
  int socket_ = -1;
};

struct Limits {
  double seconds = 30;
  std::size_t memory = 0;  ///< bytes that a job may use in addition to its process, its tensors and stacks; 0: no limit
};

/// A pool of worker processes for jobs. Missing workers start all at once, and each takes its first job when it is
/// ready. A worker that ends is started again.
class Workers {
 public:
  Workers(std::vector<std::string> command, int data, Message problem);

  /// Creates a job when it is its turn.
  using MakeJob = std::function<Message(std::size_t index)>;
  /// Called at the end of each job with its reply and its device.
  using Done = std::function<void(std::size_t index, Message reply, int device)>;
  using Stop = std::function<bool()>;

  /// Runs \p count jobs in order, one at a time for each of \p devices, with repetitions if several jobs share one.
  /// If stop() returns true, running jobs are ended. Returns whether all jobs have been done.
  bool run(std::size_t count, const MakeJob& make, const Limits& limits, const std::vector<int>& devices,
           const Done& done, const Stop& stop);
  bool run(const std::vector<Message>& jobs, const Limits& limits, const std::vector<int>& devices, const Done& done,
           const Stop& stop);
  /// Runs one job; nothing if stop() ended it.
  std::optional<Message> run(const Message& job, const Limits& limits, int device, const Stop& stop);

 private:
  struct Seat {
    std::unique_ptr<WorkerProcess> worker;
    bool ready = false;              ///< has the worker loaded?
    std::optional<std::size_t> job;  ///< the current job, or the first one while the worker is not ready
    double deadline = 0;             ///< on the steady clock
  };
  /// The arguments of a run().
  struct Work {
    const MakeJob& make;
    const Limits& limits;
    const std::vector<int>& devices;
  };
  std::optional<Message> look_at(std::size_t seat, bool readable, const Work& work);
  std::optional<Message> greet(std::size_t seat, bool readable, const Work& work);
  std::optional<Message> reply(Seat& seat, bool readable);
  Message not_started(Seat& seat, const std::string& why);
  void order(std::size_t seat, const Work& work);
  std::optional<Message> take_up(std::size_t seat, std::size_t index, const Work& work);
  void clear();

  std::vector<std::string> command_;
  int data_;
  Message problem_;
  std::vector<Seat> seats_;
  bool has_started_ = false;  ///< has a worker ever been ready?
};

}  // namespace tc::autotuner
