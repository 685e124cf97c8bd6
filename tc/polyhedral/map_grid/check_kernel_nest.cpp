#include "tc/polyhedral/map_grid/check_kernel_nest.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/map/copy_dimensions.h"
#include "tc/polyhedral/map_grid/check_unit_nest.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/kernel_nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::polyhedral {
namespace {

/// Neighbouring values that one thread has of an index, and blocks in memory at once.
constexpr std::int64_t longest_run = 16;
constexpr int most_slots = 8;

class KernelNestCheck {
 public:
  KernelNestCheck(const Scop& scop, const ClusterView& view, const Nest& nest, const GridLimits& limits,
                  const NestRefusal& refuse)
      : scop_(scop), view_(view), limits_(limits), refuse_(refuse), space_(kernel_nest_space(scop, view)), nest_(nest) {
    if (!view.members.empty()) coincident_ = band_coincident(node_at(scop.schedule, view.path));
  }

  void run() {
    check_block();
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i) check_step(i);
    for (std::size_t b = 0; b < nest_.branches.size(); ++b) check_branch(b);
    for (std::size_t b = 0; b < nest_.branches.size(); ++b) check_unit_nest(scop_, space_, nest_, b, limits_, refuse_);
  }

 private:
  [[noreturn]] void fail(const std::string& law, const std::string& why) const {
    refuse_(part_, law, why);
    throw InternalError("a law was broken without an error");
  }

  void check_block() const {
    const auto& block = nest_.launch->block;
    std::int64_t threads = 1;
    for (const auto extent : block)
      threads = std::min(threads, limits_.block_threads + 1) * std::min(extent, limits_.block_threads + 1);
    if (threads > limits_.block_threads) fail("block", str("a block has at most ", limits_.block_threads, " threads"));
    for (std::size_t d = 0; d < 3; ++d)
      if (block[d] > limits_.block[d])
        fail("block", str("a block has at most ", limits_.block[d], " threads along ", "xyz"[d]));
  }

  void check_step(std::size_t number) {
    part_ = {NestPart::Where::Step, number};
    const auto& what = nest_.trunk[number].what;
    if (const auto* loop = std::get_if<NestLoop>(&what)) check_tile(*loop);
    if (const auto* copy = std::get_if<NestSharedCopy>(&what)) check_copy(*copy);
    if (const auto* keep = std::get_if<NestKeep>(&what)) {
      if (!scop_.has_tensor(keep->tensor)) fail("keep", str("there is no tensor '", keep->tensor, "'"));
      if (!kept_.emplace(keep->tensor, keep->is_temporary).second)
        fail("keep", str("'", keep->tensor, "' is named twice"));
    }
  }

  void check_tile(const NestLoop& loop) {
    const auto& digit = loop.digit;
    const auto member = static_cast<std::size_t>(digit.index.number);
    if (digit.mod % digit.step != 0)
      fail("order", str("a tile of ", digit.mod, " is not cut into smaller ones of ", digit.step, " without a rest"));
    if (loop.place != NestPlace::Grid) return;
    const auto values = values_of(digit, space_.extent(digit.index));
    const auto blocks = loop.blocks > 0 ? std::min(loop.blocks, values) : values;
    const auto most = limits_.grid[static_cast<std::size_t>(loop.dimension)];
    if (blocks > most) fail("grid", str("a grid has at most ", most, " blocks along ", "xyz"[loop.dimension]));
    check_coincident(member);
  }

  void check_coincident(std::size_t member) const {
    if (!coincident_.at(member))
      fail("order", str("member ", member, " carries a dependence, so it is not spread over blocks or threads"));
  }

  void check_copy(const NestSharedCopy& copy) {
    const auto& reader = statement(copy.statement);
    const auto id = view_.statements[static_cast<std::size_t>(copy.statement)].id;
    readers_.insert(copy.statement);
    if (copy.read >= static_cast<int>(reader.reads.size()))
      fail("copies", str("'", id, "' has no read ", copy.read, ", it has ", reader.reads.size()));
    if (copy.vector > longest_run) fail("copies", str("a thread copies at most ", longest_run, " elements at once"));
    if (copy.beside > longest_run) fail("copies", str("at most ", longest_run, " threads read beside each other"));
    if (copy_dimensions(reader, copy.read).empty())
      fail("copies", str("read ", copy.read, " of '", id, "' cannot be copied: it is not indexed by iterators"));
    check_vectors(copy);
  }

  /// Consecutive values of \p iterator of statement number \p statement that one copy serves.
  std::int64_t copied_values(int statement, int iterator) const {
    const auto& outer = view_.statements[static_cast<std::size_t>(statement)].outer;
    for (std::size_t m = 0; m < outer.size(); ++m)
      if (outer[m] == iterator) return std::min(tile_of(space_, nest_, static_cast<int>(m)), view_.members[m].extent());
    const NestIndex index{statement, iterator};
    for (const auto& loop : nest_.branches[static_cast<std::size_t>(statement)].loops)
      if (loop.slots > 0 && loop.digit.index == index) return std::min(loop.digit.step, space_.extent(index));
    return space_.extent(index);
  }

  void check_vectors(const NestSharedCopy& copy) const {
    if (copy.vector == 1) return;
    const auto of_tile = [&](int iterator) { return copied_values(copy.statement, iterator); };
    for (const auto& dimension : copy_dimensions(statement(copy.statement), copy.read)) {
      const bool runs = std::any_of(dimension.terms.begin(), dimension.terms.end(),
                                    [&](const auto& term) { return term.first == copy.run_along; });
      if (runs && dimension.extent(of_tile) % copy.vector != 0)
        fail("copies", str("a block copies ", dimension.extent(of_tile), " elements, which are no whole vectors of ",
                           copy.vector));
    }
  }

  const Statement& statement(int number) const {
    return scop_.statement(view_.statements.at(static_cast<std::size_t>(number)).id);
  }

  void check_branch(std::size_t number) {
    part_ = {NestPart::Where::Branch, number};
    const auto& branch = nest_.branches[number];
    check_above(number);
    check_unrolled(branch);
    std::map<std::pair<int, int>, int> digits;
    std::array<std::int64_t, 3> threads = {1, 1, 1};
    for (const auto& loop : branch.loops) {
      const auto& index = loop.digit.index;
      if (loop.slots > 0) check_blocks(static_cast<int>(number), loop);
      if (loop.place == NestPlace::Lanes) check_lanes(branch, loop);
      if (loop.place == NestPlace::Threads) fail("threads", "only copies that passes make run on all threads as one");
      if (loop.place != NestPlace::Thread) continue;
      const auto dimension = static_cast<std::size_t>(loop.dimension);
      threads[dimension] *= values_of(loop.digit, space_.extent(index));
      if (threads[dimension] > nest_.launch->block[dimension])
        fail("threads", str("its loops have ", threads[dimension], " values along ", "xyz"[loop.dimension],
                            ", and the block has ", nest_.launch->block[dimension], " threads there"));
      const auto count = ++digits[{index.statement, index.number}];
      if (count > 2) fail("threads", "an index has two loops on threads, that of warps and that of their threads");
      if (index.statement < 0) {
        check_coincident(static_cast<std::size_t>(index.number));
      } else {
        check_own_threads(loop, count);
      }
    }
    check_runs(branch);
  }

  /// A vector is the innermost digit of its index, and only the last one of the index may be partial: buffers have room for it.
  void check_lanes(const NestBranch& branch, const NestLoop& lanes) const {
    const auto is_whole = [&](const NestLoop& loop) {
      return !(loop.digit.index == lanes.digit.index) || loop.place == NestPlace::Lanes ||
             loop.digit.step % lanes.lanes == 0;
    };
    bool whole = lanes.digit.mod == 0 || lanes.digit.mod == lanes.lanes;
    for (const auto& step : nest_.trunk)
      if (const auto* loop = std::get_if<NestLoop>(&step.what)) whole = whole && is_whole(*loop);
    whole = whole && std::all_of(branch.loops.begin(), branch.loops.end(), is_whole);
    if (!whole) fail("lanes", str("loops over the index of a vector of ", lanes.lanes, " lanes count multiples of it"));
  }

  void check_own_threads(const NestLoop& loop, int count) const {
    const auto& index = loop.digit.index;
    const auto& entry = view_.statements[static_cast<std::size_t>(index.statement)];
    const auto& id = entry.id;
    if (!space_.is_reduced(index)) {
      if (std::any_of(entry.inner.begin(), entry.inner.end(),
                      [&](const InnerLoop& own) { return own.iterator == index.number && !own.coincident; }))
        fail("threads", str("i", index.number, " of '", id, "' carries a dependence, so threads do not share it"));
      return;
    }
    if (!statement(index.statement).write.exact)
      fail("sums", str("'", id, "' adds where data tell, so threads do not share its reduction over i", index.number));
    if (loop.dimension != 0 || count > 1) fail("sums", "threads along x share a reduction, by one loop");
  }

  /// A thread has few neighbouring values of an index.
  void check_runs(const NestBranch& branch) const {
    for (const auto& loop : branch.loops)
      if (loop.place == NestPlace::Thread && !is_warps(branch, loop) && loop.digit.step > longest_run)
        fail("threads", str("a thread has at most ", longest_run, " neighbouring iterations"));
  }

  static bool is_warps(const NestBranch& branch, const NestLoop& loop) {
    const auto loops = thread_loops(branch, loop.digit.index);
    return loops.size() > 1 && loops.front() == loop;
  }

  /// The loops that stand above a statement's own: of bands around several statements, then over the blocks that copies are made
  /// for.
  void check_above(std::size_t number) const {
    const auto& branch = nest_.branches[number];
    std::vector<NestLoop> above;
    for (const auto& band : space_.bands)
      for (std::size_t m = 0; m < band.members.size(); ++m) add_shared(band, m, number, above);
    for (const auto& loop : branch.loops)
      if (loop.slots > 0 && !contains(above, loop)) above.push_back(loop);
    const bool same = above.size() <= branch.loops.size() &&
                      std::equal(above.begin(), above.end(), branch.loops.begin(),
                                 [](const NestLoop& a, const NestLoop& b) { return a.digit == b.digit; });
    if (!same)
      fail("order",
           "loops around several statements, then the one with copies, stand in the schedule's order above the "
           "others of a branch");
  }

  /// The loops of member \p m of \p band that stand above branch number \p number: all of it, or the digits above its threads.
  void add_shared(const SharedBand& band, std::size_t m, std::size_t number, std::vector<NestLoop>& above) const {
    const auto& member = band.members[m];
    const auto own = loops_over_shared(band, member, number);
    if (own.empty()) return;
    const bool on_threads =
        std::any_of(own.begin(), own.end(), [](const NestLoop& loop) { return loop.place == NestPlace::Thread; });
    if (on_threads && member.coincident && is_distributed(band)) return;
    if (!on_threads) {
      if (own.size() > 1) fail("order", "a loop around several statements is cut only where threads run it");
      above.push_back(own.front());
      return;
    }
    if (!member.coincident || (m > 0 && !band.permutable))
      fail("order", "a loop around several statements carries a dependence, so threads do not share it");
    for (std::size_t other = 0; other < nest_.branches.size(); ++other)
      if (contains(band.statements, nest_.branches[other].statement) &&
          !are_alike(loops_over_shared(band, member, other), own))
        fail("threads", "the statements of a loop around them have it on threads alike");
    if (sums_below(band))
      fail("threads", "passes add statements below a loop around several statements, so threads do not share it");
    for (const auto& loop : own) {
      if (loop.place == NestPlace::Thread) return;
      above.push_back(loop);
    }
  }

  std::vector<NestLoop> loops_over_shared(const SharedBand& band, const SharedBand::Member& member,
                                          std::size_t number) const {
    std::vector<NestLoop> result;
    const auto& branch = nest_.branches[number];
    const auto iterator = member.iterator_of(band, branch.statement);
    if (iterator < 0) return result;
    for (const auto& loop : branch.loops)
      if (loop.digit.index == NestIndex{static_cast<int>(number), iterator}) result.push_back(loop);
    return result;
  }

  /// Down to the loop on threads.
  static bool are_alike(const std::vector<NestLoop>& a, const std::vector<NestLoop>& b) {
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
      if (a[i].place != b[i].place || a[i].dimension != b[i].dimension || a[i].digit.mod != b[i].digit.mod ||
          a[i].digit.step != b[i].digit.step)
        return false;
      if (a[i].place == NestPlace::Thread) return true;
    }
    return false;
  }

  /// Are the loops of \p band those of each statement, because copies for one of them stand between (distribute_bands.h)?
  bool is_distributed(const SharedBand& band) const {
    return std::any_of(readers_.begin(), readers_.end(), [&](int reader) {
      return contains(band.statements, nest_.branches[static_cast<std::size_t>(reader)].statement);
    });
  }

  /// Do passes add statements of sums below \p band?
  bool sums_below(const SharedBand& band) const {
    return std::any_of(nest_.branches.begin(), nest_.branches.end(), [&](const NestBranch& branch) {
      return contains(band.statements, branch.statement) &&
             std::any_of(branch.loops.begin(), branch.loops.end(), [&](const NestLoop& loop) {
               return loop.place == NestPlace::Thread && space_.is_reduced(loop.digit.index);
             });
    });
  }

  void check_unrolled(const NestBranch& branch) const {
    bool unrolled = false;
    for (const auto& loop : branch.loops) {
      unrolled = unrolled || loop.place == NestPlace::Unrolled;
      if (unrolled && loop.place == NestPlace::Serial)
        fail("unrolled", "what stands below an unrolled loop is unrolled, too");
    }
  }

  void check_blocks(int number, const NestLoop& loop) {
    const auto& index = loop.digit.index;
    const auto& id = view_.statements[static_cast<std::size_t>(number)].id;
    if (!blocks_.insert(number).second) fail("copies", "one loop of a statement has copies");
    if (runs_in_order(number, index))
      check_copies_in_loop(number, loop);
    else if (!space_.is_reduced(index) || !statement(number).write.exact)
      fail("copies", str("i", index.number, " of '", id, "' is not reduced, so it is not cut into blocks"));
    if (loop.slots > most_slots) fail("copies", str("at most ", most_slots, " blocks are in memory at once"));
    if (readers_.count(number) == 0)
      fail("copies", "nothing is copied: a line 'copy ... to shared memory' above the branches says what");
    const auto range = box(statement(number).domain)[static_cast<std::size_t>(index.number)];
    const auto fewest = least_extent(statement(number).domain, index.number);
    const bool fills = range.symbolic ? fewest > (loop.slots - 2) * loop.digit.step
                                      : ceil_div(space_.extent(index), loop.digit.step) >= loop.slots;
    if (!fills)
      fail("copies",
           str(range.symbolic ? "in some runs " : "", "the reduction has too few blocks for ", loop.slots, " slots"));
    if (loop.slots > 1) check_ahead(number);
    if (range.min % loop.digit.step != 0)
      fail("copies",
           str("the reduction starts at ", range.min, ", which is not where a block of ", loop.digit.step, " starts"));
  }

  /// Is \p index an iterator of statement number \p number over which a loop around several statements runs in order, alone in its band?
  bool runs_in_order(int number, const NestIndex& index) const {
    const auto* band = space_.ordered_band(number, index.number);
    return band && band->members.size() == 1;
  }

  /// What is copied for iterations of a loop around several statements is the same before the loop, for all of its readers.
  void check_copies_in_loop(int number, const NestLoop& loop) const {
    if (loop.slots < 2) fail("copies", "copies for a loop around several statements run ahead, in at least 2 slots");
    for (const auto& step : nest_.trunk) {
      const auto* copy = std::get_if<NestSharedCopy>(&step.what);
      if (!copy || copy->statement != number) continue;
      const auto& read = statement(number).reads[static_cast<std::size_t>(copy->read)];
      const auto& tensor = range_name(read.relation);
      if (!read.exact || std::any_of(view_.statements.begin(), view_.statements.end(), [&](const auto& other) {
            return range_name(scop_.statement(other.id).write.relation) == tensor;
          }))
        fail("copies", str("'", tensor, "' is not known before the loop around several statements"));
    }
    for (std::size_t other = 0; other < nest_.branches.size(); ++other)
      for (const auto& of_other : nest_.branches[other].loops)
        if (of_other.slots > 0 && of_other.slots != loop.slots &&
            runs_in_order(static_cast<int>(other), of_other.digit.index))
          fail("copies", "all copies for a loop around several statements have as many slots");
  }

  /// Copies that run ahead find no subscripts in copies, which run ahead themselves.
  void check_ahead(int number) {
    std::set<int> copied;
    for (const auto& step : nest_.trunk)
      if (const auto* copy = std::get_if<NestSharedCopy>(&step.what); copy && copy->statement == number)
        copied.insert(copy->read);
    for (const auto read : copied) {
      const auto& access = statement(number).reads[static_cast<std::size_t>(read)];
      for (int i = 1; !access.exact && i <= access.indirection->subscript_reads; ++i)
        if (copied.count(read - i) > 0)
          fail("copies",
               str("read ", read, " finds its elements by subscripts that are copied, so its copies do not run ahead"));
    }
  }

  const Scop& scop_;
  const ClusterView& view_;
  const GridLimits& limits_;
  const NestRefusal& refuse_;
  const NestSpace space_;
  const Nest& nest_;
  std::vector<bool> coincident_;
  NestPart part_;
  std::set<int> readers_;  ///< the statements whose reads are copied
  std::set<int> blocks_;   ///< that have a loop with copies
  std::set<std::pair<std::string, bool>> kept_;
};

}  // namespace

void check_kernel_nest(const Scop& scop, const ClusterView& cluster, const Nest& nest, const GridLimits& limits,
                       const NestRefusal& refuse) {
  KernelNestCheck(scop, cluster, nest, limits, refuse).run();
}

bool is_realisable_kernel(const Scop& scop, const ClusterView& cluster, const Nest& nest, const GridLimits& limits) {
  try {
    check_kernel_nest(scop, cluster, nest, limits,
                      [](const NestPart&, const std::string&, const std::string& why) { throw OptionsError(why); });
    return true;
  } catch (const OptionsError&) {
    return false;
  }
}

void check_kernel_nest(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest,
                       const GridLimits& limits) {
  const auto kept = without_idle_loops(kernel_nest_space(scop, cluster), nest);
  check_kernel_nest(scop, cluster, kept, limits, refusal_in(names, kept));
}

}  // namespace tc::polyhedral
