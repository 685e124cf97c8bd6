#include "tc/polyhedral/nest/check_grid_nest.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/base/str.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_text.h"

namespace tc::polyhedral {
namespace {

const char* const of_processors =
    "it is of a processor; this nest is of a kernel for a GPU, as it has a line 'blocks of ... threads'";

bool is_of_processors(const NestLoop& loop) {
  return loop.place == NestPlace::Cores || loop.place == NestPlace::Unit || loop.with_private_sums || loop.slides_along;
}

class GridNestCheck {
 public:
  GridNestCheck(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest)
      : scop_(scop), space_(nest_space(scop, cluster)), names_(names), nest_(nest) {}

  void run() {
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i) check_step(i);
    for (std::size_t b = 0; b < nest_.branches.size(); ++b) check_branch(b);
  }

 private:
  void check_step(std::size_t number) {
    const auto& [what, line] = nest_.trunk[number];
    const auto fail = [&](const char* law, const std::string& why) {
      fail_nest(line, step_text(nest_, names_, number), law, why);
    };
    if (std::holds_alternative<NestCopy>(what) || std::holds_alternative<NestCopyLanes>(what))
      fail("machine", of_processors);
    if (const auto* copy = std::get_if<NestSharedCopy>(&what); copy && copy->asynchronous && !has_slots())
      fail("copies",
           "they are asynchronous where the loop over blocks has several slots, as 'k/16 with copies in 2 slots'");
    const auto* loop = std::get_if<NestLoop>(&what);
    if (!loop) return;
    if (is_of_processors(*loop)) fail("machine", of_processors);
    if (loop->digit.index.statement >= 0) fail("grid", "loops that all statements share are over members of the band");
    if (loop->place != NestPlace::Grid && loop->place != NestPlace::Serial)
      fail("grid", "loops that all statements share are serial or on the grid; name the place in the branches");
    if (loop->place == NestPlace::Grid && !dimensions_.insert(loop->dimension).second)
      fail("grid", "a loop above is along this dimension of it");
  }

  bool has_slots() const {
    for (const auto& branch : nest_.branches)
      for (const auto& loop : branch.loops)
        if (loop.slots > 1) return true;
    return false;
  }

  void check_branch(std::size_t number) {
    const auto& branch = nest_.branches[number];
    const auto fail = [&](const char* law, const std::string& why) {
      fail_nest(branch.line, branch_text(nest_, names_, number), law, why);
    };
    std::map<int, NestIndex> dimensions;
    std::map<int, int> digits;
    bool joined = false;
    for (std::size_t i = 0; i < branch.loops.size(); ++i) {
      const auto& loop = branch.loops[i];
      if (is_of_processors(loop)) fail("machine", of_processors);
      if (loop.place == NestPlace::Grid) fail("grid", "loops on it stand above the branches");
      if (loop.place == NestPlace::Lanes && i + 1 != branch.loops.size()) fail("lanes", "they are the innermost loop");
      joined = joined || loop.place == NestPlace::Threads;
      if (loop.place != NestPlace::Thread) continue;
      if (!(dimensions.emplace(loop.dimension, loop.digit.index).first->second == loop.digit.index))
        fail("threads", "loops over two indices are along one dimension of the block");
      check_values(number, loop);
      if (loop.digit.index.statement < 0) check_member(number, loop, digits[loop.digit.index.number]++);
    }
    if (joined && !dimensions.empty())
      fail("threads", "loops are on all threads, counted as one, or along dimensions of the block");
  }

  /// Are there threads for all values of \p loop?
  void check_values(std::size_t branch, const NestLoop& loop) const {
    const auto& digit = loop.digit;
    const auto values = values_of(digit, space_.extent(digit.index));
    const auto threads = nest_.launch->block[static_cast<std::size_t>(loop.dimension)];
    if (values <= threads) return;
    auto name = names_.name(digit.index, static_cast<int>(branch));
    if (digit.mod > 0) name += str("%", digit.mod);
    fail_nest(nest_.branches[branch].line, branch_text(nest_, names_, branch), "threads",
              str("the loop has ", values, " values and the block ", threads, " threads along ", "xyz"[loop.dimension],
                  "; count the rounds in a loop above it, '", name, "/", threads * digit.step, "'"));
  }

  /// Does \p loop, the digit number \p number of a member on threads, go to the same ones in the branches before?
  void check_member(std::size_t branch, const NestLoop& loop, int number) {
    const auto& first = members_.emplace(std::pair(loop.digit.index.number, number), loop).first->second;
    if (first.dimension == loop.dimension && first.digit == loop.digit) return;
    fail_nest(nest_.branches[branch].line, branch_text(nest_, names_, branch), "threads",
              str("a branch above has ", names_.name(loop.digit.index, -1),
                  " in other threads; all statements have a member of the band alike"));
  }

  const Scop& scop_;
  NestSpace space_;
  const NestNames& names_;
  const Nest& nest_;
  std::set<int> dimensions_;                         ///< of the grid that have a loop
  std::map<std::pair<int, int>, NestLoop> members_;  ///< digits on threads, as the first branch has them
};

}  // namespace

void check_grid_places(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest) {
  GridNestCheck(scop, cluster, names, nest).run();
}

}  // namespace tc::polyhedral
