#include "tc/autotuner/worker/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "tc/autotuner/worker/isolation.h"
#include "tc/autotuner/worker/results.h"
#include "tc/base/str.h"

namespace tc::autotuner {
namespace {

using Clock = std::chrono::steady_clock;

/// The forked process of a job: dies with the \p worker, says nothing to the terminal, leaves no core.
void isolate(pid_t worker, int socket) {
  ::setpgid(0, 0);
  die_with(worker);
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, file);
  ::close(socket);
}

/// All that the process \p child writes into \p pipe until it ends; false, and it is ended, after \p seconds, or when
/// the other side of \p socket is gone.
bool read_until(int pipe, int socket, double seconds, std::string& bytes) {
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::vector<char> buffer(1 << 16);
  for (;;) {
    double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd files[2] = {{pipe, POLLIN, 0}, {socket, POLLRDHUP, 0}};
    ::poll(files, 2, static_cast<int>(std::ceil(std::min(left, 1.0) * 1000)));
    if (files[1].revents & (POLLRDHUP | POLLHUP | POLLERR)) return false;
    if (!files[0].revents) continue;
    auto got = ::read(pipe, buffer.data(), buffer.size());
    if (got <= 0) return true;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) return str("ended by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  return str("ended with code ", WEXITSTATUS(status), " before its time");
}

/// What a tuner wants: a job, and what it may take.
struct Order {
  double seconds = 0;
  std::size_t memory = 0;
  int device = 0;
  Message job;

  /// Nothing for a message that is no order.
  static std::optional<Order> parse(const Message& message) {
    if (message.size() < 4) return std::nullopt;
    return Order{exact_number(message[0]),
                 static_cast<std::size_t>(whole_number(message[1])),
                 static_cast<int>(whole_number(message[2])),
                 {message.begin() + 3, message.end()}};
  }
};

/// The reply of \p order, run in a process of its own.
Message run_isolated(const JobContext& context, const Order& order) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {name(Status::Exhausted), "no pipe"};
  pid_t worker = ::getpid(), child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    isolate(worker, worker_socket);
    if (order.memory > 0) limit_memory(order.memory + context.layout.bytes, context.problem.threads);
    auto reply = encode(run_job(context, order.device, order.job));
    write_all(ends[1], reply + "end");
    ::_exit(0);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return {name(Status::Exhausted), "no process"};
  }
  ::setpgid(child, child);
  std::string bytes;
  bool in_time = read_until(ends[0], worker_socket, order.seconds, bytes);
  ::close(ends[0]);
  ::kill(-child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!in_time) return {name(Status::TimedOut), str("no end after ", order.seconds, " s")};
  bool whole = bytes.size() >= 3 && bytes.compare(bytes.size() - 3, 3, "end") == 0;
  auto reply = whole ? decode(std::string_view(bytes).substr(0, bytes.size() - 3)) : std::nullopt;
  return reply && !reply->empty() ? *reply : Message{name(Status::Crashed), describe_end(status)};
}

JobContext make_context(const Message& message, const Hook& hook) {
  JobContext context;
  context.problem = Problem::parse(message);
  context.function = engine::inlined(engine::define(context.problem.text).function(context.problem.def));
  context.arguments = engine::make_arguments(*context.function, context.problem.inputs, context.problem.outputs);
  context.layout = layout_of(context.arguments);
  context.target = Target::parse(context.problem.target);
  context.tolerance = tolerance_of(*context.function, context.problem.inputs);
  context.data = worker_data;
  context.hook = hook;
  auto bytes = std::max<std::size_t>(context.layout.bytes, 1);
  void* shared = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, worker_data, 0);
  if (shared == MAP_FAILED) throw ResourceError("the shared memory of the tuner cannot be mapped");
  context.shared = static_cast<const char*>(shared);
  return context;
}

}  // namespace

int worker_main(const Hook& hook) {
  try {
    auto first = receive(worker_socket);
    if (!first) return 1;
    auto context = make_context(*first, hook);
    if (!send(worker_socket, {"ready"})) return 1;
    while (auto message = receive(worker_socket)) {
      auto order = Order::parse(*message);
      if (!order || !send(worker_socket, run_isolated(context, *order))) return 1;
    }
    return 0;
  } catch (const std::exception& error) {
    send(worker_socket, {"failed", error.what()});
    return 1;
  }
}

}  // namespace tc::autotuner
