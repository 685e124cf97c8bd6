#include "tc/autotuner/worker/worker_process.h"

#include <chrono>

#include "tc/autotuner/worker/problem.h"
#include "tc/base/error.h"
#include "tuner_fixture.h"

namespace tc::autotuner::worker_process_test {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Workers for a product of matrices, each of which takes \p milliseconds to start.
class Crew {
 public:
  explicit Crew(int milliseconds)
      : function_(function_of(product_text)),
        arguments_(engine::make_arguments(*function_, {matrix(4, 4), matrix(4, 4)}, {})),
        memory_(layout_of(arguments_).bytes),
        workers_({"/proc/self/exe", "--worker", "", std::to_string(milliseconds)}, memory_.file(),
                 problem().message()) {}

  /// The replies of \p count jobs on \p seats workers, those that have ended before \p stop.
  std::vector<Message> run(std::size_t count, std::size_t seats, const Workers::Stop& stop) {
    std::vector<Message> replies(count);
    auto done = [&](std::size_t i, Message reply, int) { replies[i] = std::move(reply); };
    std::vector<Message> jobs(count, Message{"predict", ""});
    in_time_ = workers_.run(jobs, Limits{}, std::vector<int>(seats, no_gpu), done, stop);
    return replies;
  }
  bool in_time() const { return in_time_; }

 private:
  Problem problem() const {
    return {product_text,       "mm", engine::specs(arguments_, false), engine::specs(arguments_, true),
            "cpu:avx2,cores=2", 2};
  }

  std::shared_ptr<const engine::Function> function_;
  std::vector<engine::Argument> arguments_;
  SharedMemory memory_;
  Workers workers_;
  bool in_time_ = false;
};

bool never() { return false; }

TEST(Workers, StartAtOnce) {
  constexpr int seats = 8;
  constexpr double each = 1.5;
  Crew crew(static_cast<int>(1000 * each));
  double start = now();
  for (const auto& reply : crew.run(seats, seats, never)) EXPECT_EQ(reply.at(0), "ok") << testing::PrintToString(reply);
  EXPECT_LT(now() - start, 0.7 * seats * each);
  start = now();
  for (const auto& reply : crew.run(seats, seats, never)) EXPECT_EQ(reply.at(0), "ok") << "a second time";
  EXPECT_LT(now() - start, 0.7 * seats * each);
}

TEST(Workers, TakeTurnsAtMoreJobsThanThereAreSeats) {
  Crew crew(0);
  for (const auto& reply : crew.run(7, 2, never)) EXPECT_EQ(reply.at(0), "ok") << testing::PrintToString(reply);
}

TEST(Workers, ThatAreStartingDoNotDelayAStop) {
  constexpr double until_ready = 20;
  Crew crew(static_cast<int>(1000 * until_ready));
  double start = now();
  crew.run(2, 2, [&] { return now() - start > 0.2; });
  EXPECT_FALSE(crew.in_time());
  EXPECT_LT(now() - start, until_ready / 2);
}

TEST(Workers, ThatNeverStartAreAnError) {
  SharedMemory memory(1);
  auto fails = [&](const char* program) {
    Workers workers({program}, memory.file(), {"problem"});
    try {
      workers.run(Message{"predict", ""}, Limits{}, no_gpu, never);
    } catch (const ResourceError& error) {
      return std::string(error.what());
    }
    return std::string("it runs");
  };
  EXPECT_EQ(fails("/bin/false"), "the worker process '/bin/false' does not start");
  EXPECT_EQ(fails("/nonexistent"), "the worker process '/nonexistent' does not start");
}

}  // namespace
}  // namespace tc::autotuner::worker_process_test
