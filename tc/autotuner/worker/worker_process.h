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
  /// Starts it; what it sends first says whether it has loaded. Throws ResourceError if there is no such program.
  WorkerProcess(const std::vector<std::string>& command, int data, const Message& problem);
  /// Ends it and what it runs.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int socket() const { return socket_; }
  pid_t process() const { return process_; }
  /// Takes what it sent first. Throws ResourceError unless that says that it is ready.
  void take_greeting();

 private:
  std::string name_;
  pid_t process_ = -1;
  int socket_ = -1;
};

struct Limits {
  double seconds = 30;
  std::size_t memory = 0;  ///< bytes a job may take beside what its process has, its tensors and stacks; 0: no limit
};

/// Worker processes that take turns at jobs. Those that are missing start all at once, each takes its first job when it
/// is ready. One that ends is started anew.
class Workers {
 public:
  Workers(std::vector<std::string> command, int data, Message problem);

  /// What each job is, made when its turn comes.
  using MakeJob = std::function<Message(std::size_t index)>;
  /// Called with the reply of each job as it ends, and the device it had.
  using Done = std::function<void(std::size_t index, Message reply, int device)>;
  using Stop = std::function<bool()>;

  /// Runs \p count jobs in order, one at a time for each of \p devices, which repeat where several jobs share one.
  /// Gives up, and ends those under way, when stop() says so; returns whether all have been done.
  bool run(std::size_t count, const MakeJob& make, const Limits& limits, const std::vector<int>& devices,
           const Done& done, const Stop& stop);
  bool run(const std::vector<Message>& jobs, const Limits& limits, const std::vector<int>& devices, const Done& done,
           const Stop& stop);
  /// One job; nothing where stop() ended it.
  std::optional<Message> run(const Message& job, const Limits& limits, int device, const Stop& stop);

 private:
  struct Seat {
    std::unique_ptr<WorkerProcess> worker;
    bool ready = false;              ///< has the worker loaded?
    std::optional<std::size_t> job;  ///< that it has, or will have when it is ready
    double deadline = 0;             ///< on the steady clock
  };
  /// What a run() was asked for.
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
