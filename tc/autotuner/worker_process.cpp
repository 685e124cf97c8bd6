#include "tc/autotuner/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "tc/autotuner/results.h"
#include "tc/autotuner/worker.h"
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

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A message that comes within \p seconds; signals do not end the wait.
std::optional<Message> receive_within(int socket, double seconds) {
  pollfd file{socket, POLLIN, 0};
  for (double end = now() + seconds; now() < end;) {
    int ready = ::poll(&file, 1, static_cast<int>(std::ceil(1000 * (end - now()))));
    if (ready > 0) return receive(socket);
    if (ready == 0 || errno != EINTR) return std::nullopt;
  }
  return std::nullopt;
}

void kill_group(pid_t process) {
  ::kill(-process, SIGKILL);
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command, int data, const Message& problem) {
  if (command.empty()) throw OptionsError("tuning needs the command of a program that runs worker_main()");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw ResourceError("no socket for a worker process");
  int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, first_free_file);
  int memory = ::fcntl(data, F_DUPFD_CLOEXEC, first_free_file);
  process_ = spawn(command, theirs, memory);
  for (int file : {ends[1], theirs, memory}) ::close(file);
  socket_ = ends[0];
  std::optional<Message> answer;
  if (process_ > 0 && send(socket_, problem)) answer = receive_within(socket_, start_seconds);
  if (answer && *answer == Message{"ready"}) return;
  if (process_ > 0) kill_group(process_);
  ::close(socket_);
  throw ResourceError(str("the worker process '", join(command, " "), "' does not start",
                          answer && answer->size() > 1 ? ": " + (*answer)[1] : ""));
}

WorkerProcess::~WorkerProcess() {
  ::close(socket_);
  kill_group(process_);
}

Workers::Workers(std::vector<std::string> command, int data, Message problem)
    : command_(std::move(command)), data_(data), problem_(std::move(problem)) {}

/// What keeps the job from being started, once others were: it costs that job only.
std::optional<Message> Workers::try_start(Seat& seat, std::size_t index, const Message& job, const Limits& limits,
                                          int device) {
  try {
    start(seat, index, job, limits, device);
    return std::nullopt;
  } catch (const ResourceError& error) {
    if (!has_started_) throw;
    return Message{name(Status::Exhausted), error.what()};
  }
}

void Workers::start(Seat& seat, std::size_t index, const Message& job, const Limits& limits, int device) {
  if (!seat.worker) seat.worker = std::make_unique<WorkerProcess>(command_, data_, problem_);
  has_started_ = true;
  Message message{exact_text(limits.seconds), str(limits.memory), str(device)};
  message.insert(message.end(), job.begin(), job.end());
  send(seat.worker->socket(), message);
  seat.job = index;
  seat.deadline = now() + limits.seconds + grace;
}

/// The reply of the job at \p seat, if it has ended one way or the other.
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
  std::size_t next = 0, left = count;
  while (left > 0) {
    if (stop()) return clear(), false;
    std::vector<pollfd> files;
    std::vector<std::size_t> busy;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      auto& seat = seats_[i];
      if (!seat.job && next < count) {
        auto index = next++;
        if (auto failed = try_start(seat, index, make(index), limits, devices[i])) {
          --left;
          done(index, std::move(*failed), devices[i]);
        }
      }
      if (!seat.job) continue;
      files.push_back({seat.worker->socket(), POLLIN, 0});
      busy.push_back(i);
    }
    ::poll(files.data(), files.size(), poll_milliseconds);
    for (std::size_t i = 0; i < busy.size(); ++i) {
      auto& seat = seats_[busy[i]];
      auto result = reply(seat, files[i].revents != 0);
      if (!result) continue;
      auto index = *seat.job;
      seat.job.reset();
      --left;
      done(index, std::move(*result), devices[busy[i]]);
    }
  }
  return true;
}

bool Workers::run(const std::vector<Message>& jobs, const Limits& limits, const std::vector<int>& devices,
                  const Done& done, const Stop& stop) {
  return run(
      jobs.size(), [&](std::size_t i) { return jobs[i]; }, limits, devices, done, stop);
}

std::optional<Message> Workers::run(const Message& job, const Limits& limits, int device, const Stop& stop) {
  std::optional<Message> result;
  auto done = [&](std::size_t, Message reply, int) { result = std::move(reply); };
  run(std::vector<Message>{job}, limits, std::vector<int>{device}, done, stop);
  return result;
}

}  // namespace tc::autotuner
