#include "tc/autotuner/worker/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tc/autotuner/worker/results.h"
#include "tc/autotuner/worker/worker.h"
#include "tc/base/clock.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::autotuner {
namespace {

constexpr int first_free_file = 10, poll_milliseconds = 20;
constexpr double start_seconds = 60;  ///< that a worker may take to load its program
constexpr double grace = 10;          ///< seconds past its limit after which a worker itself is taken to hang

/// Starts \p command in a process group of its own with \p socket and \p data as a worker expects them; -1 if it
/// cannot.
pid_t spawn(const std::vector<std::string>& command, int socket, int data) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, socket, worker_socket);
  posix_spawn_file_actions_adddup2(&actions, data, worker_data);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t process = -1;
  int failed = ::posix_spawnp(&process, words[0], &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed ? -1 : process;
}

void kill_group(pid_t process) {
  ::kill(-process, SIGKILL);
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command, int data, const Message& problem)
    : name_(join(command, " ")) {
  if (command.empty()) throw OptionsError("tuning needs the command of a program that runs worker_main()");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw ResourceError("no socket for a worker process");
  int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, first_free_file);
  int memory = ::fcntl(data, F_DUPFD_CLOEXEC, first_free_file);
  process_ = spawn(command, theirs, memory);
  for (int file : {ends[1], theirs, memory}) ::close(file);
  socket_ = ends[0];
  if (process_ > 0) {
    send(socket_, problem);
    return;
  }
  ::close(socket_);
  throw ResourceError(str("the worker process '", name_, "' does not start"));
}

WorkerProcess::~WorkerProcess() {
  ::close(socket_);
  kill_group(process_);
}

void WorkerProcess::take_greeting() {
  auto greeting = receive(socket_);
  if (greeting && *greeting == Message{"ready"}) return;
  throw ResourceError(str("the worker process '", name_, "' does not start",
                          greeting && greeting->size() > 1 ? ": " + (*greeting)[1] : ""));
}

Workers::Workers(std::vector<std::string> command, int data, Message problem)
    : command_(std::move(command)), data_(data), problem_(std::move(problem)) {}

/// Job \p index is for \p at, whose worker is started where it is missing. What keeps it from being started, if
/// anything does.
std::optional<Message> Workers::take_up(std::size_t at, std::size_t index, const Work& work) {
  auto& seat = seats_[at];
  try {
    if (!seat.worker) {
      seat.worker = std::make_unique<WorkerProcess>(command_, data_, problem_);
      seat.ready = false;
      seat.deadline = now() + start_seconds;
    }
  } catch (const ResourceError& error) {
    return not_started(seat, error.what());
  }
  seat.job = index;
  if (seat.ready) order(at, work);
  return std::nullopt;
}

/// The reply of a job whose worker does not start: that costs this job only, once others have. Throws ResourceError
/// else.
Message Workers::not_started(Seat& seat, const std::string& why) {
  seat.worker.reset();
  if (!has_started_) {
    clear();
    throw ResourceError(why);
  }
  return {name(Status::Exhausted), why};
}

/// Sends its job to the worker at \p at, which is ready.
void Workers::order(std::size_t at, const Work& work) {
  auto& seat = seats_[at];
  Message message{exact_text(work.limits.seconds), str(work.limits.memory), str(work.devices[at])};
  auto job = work.make(*seat.job);
  message.insert(message.end(), job.begin(), job.end());
  send(seat.worker->socket(), message);
  seat.deadline = now() + work.limits.seconds + grace;
}

/// The reply of the job at \p at, if it has ended one way or the other.
std::optional<Message> Workers::look_at(std::size_t at, bool readable, const Work& work) {
  return seats_[at].ready ? reply(seats_[at], readable) : greet(at, readable, work);
}

/// Gives the worker at \p at its job if it has loaded; what becomes of the job if it never will.
std::optional<Message> Workers::greet(std::size_t at, bool readable, const Work& work) {
  auto& seat = seats_[at];
  if (!readable && now() < seat.deadline) return std::nullopt;
  if (!readable) return not_started(seat, str("a worker process has not started in ", start_seconds, " s"));
  try {
    seat.worker->take_greeting();
  } catch (const ResourceError& error) {
    return not_started(seat, error.what());
  }
  has_started_ = seat.ready = true;
  order(at, work);
  return std::nullopt;
}

std::optional<Message> Workers::reply(Seat& seat, bool readable) {
  if (readable) {
    auto result = receive(seat.worker->socket());
    if (result && !result->empty()) return result;
    seat.worker.reset();
    return Message{name(Status::Crashed), "its worker process ended"};
  }
  if (now() < seat.deadline) return std::nullopt;
  seat.worker.reset();
  return Message{name(Status::TimedOut), "its worker process hung"};
}

/// Ends what is under way.
void Workers::clear() {
  for (auto& seat : seats_)
    if (seat.job) seat.worker.reset(), seat.job.reset();
}

bool Workers::run(std::size_t count, const MakeJob& make, const Limits& limits, const std::vector<int>& devices,
                  const Done& done, const Stop& stop) {
  if (seats_.size() < devices.size()) seats_.resize(devices.size());
  const Work work{make, limits, devices};
  std::size_t next = 0, left = count;
  auto end = [&](std::size_t index, Message reply, std::size_t seat) {
    --left;
    done(index, std::move(reply), devices[seat]);
  };
  while (left > 0) {
    if (stop()) return clear(), false;
    std::vector<pollfd> files;
    std::vector<std::size_t> busy;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      auto& seat = seats_[i];
      if (!seat.job && next < count) {
        auto index = next++;
        if (auto failed = take_up(i, index, work)) end(index, std::move(*failed), i);
      }
      if (!seat.job) continue;
      files.push_back({seat.worker->socket(), POLLIN, 0});
      busy.push_back(i);
    }
    ::poll(files.data(), files.size(), poll_milliseconds);
    for (std::size_t i = 0; i < busy.size(); ++i) {
      auto& seat = seats_[busy[i]];
      auto result = look_at(busy[i], files[i].revents != 0, work);
      if (!result) continue;
      auto index = *seat.job;
      seat.job.reset();
      end(index, std::move(*result), busy[i]);
    }
  }
  return true;
}

bool Workers::run(const std::vector<Message>& jobs, const Limits& limits, const std::vector<int>& devices,
                  const Done& done, const Stop& stop) {
  return run(jobs.size(), [&](std::size_t i) { return jobs[i]; }, limits, devices, done, stop);
}

std::optional<Message> Workers::run(const Message& job, const Limits& limits, int device, const Stop& stop) {
  std::optional<Message> result;
  auto done = [&](std::size_t, Message reply, int) { result = std::move(reply); };
  run(std::vector<Message>{job}, limits, std::vector<int>{device}, done, stop);
  return result;
}

}  // namespace tc::autotuner
