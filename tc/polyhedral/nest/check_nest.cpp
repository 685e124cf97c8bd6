#include "tc/polyhedral/nest/check_nest.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/nest/check_grid_nest.h"
#include "tc/polyhedral/nest/nest_text.h"

namespace tc::polyhedral {
namespace {

/// A loop on the way to a statement, and the line of the text that it stands on.
struct Found {
  const NestLoop* loop;
  int line;
  std::string text;
};

const char* const of_kernels =
    "it is of a kernel for a GPU, whose nest has a line 'blocks of ... threads' below its first one";

bool is_of_kernels(const NestLoop& loop) {
  return loop.place == NestPlace::Grid || loop.place == NestPlace::Thread || loop.place == NestPlace::Threads ||
         loop.slots > 0;
}

class NestCheck {
 public:
  NestCheck(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest)
      : scop_(scop), cluster_(cluster), names_(names), nest_(nest) {}

  void run() const {
    check_branches();
    if (nest_.launch) {
      check_grid_places(scop_, cluster_, names_, nest_);
    } else {
      check_trunk();
      for (std::size_t b = 0; b < nest_.branches.size(); ++b) check_lanes(b);
    }
    for (std::size_t b = 0; b < nest_.branches.size(); ++b) check_digits(b);
  }

 private:
  void check_branches() const {
    std::vector<std::string> known, given;
    for (const auto& statement : names_.statements) known.push_back(statement.id);
    for (const auto& branch : nest_.branches) given.push_back(branch.statement);
    if (known == given) return;
    const int line = nest_.branches.empty() ? 1 : nest_.branches[0].line;
    fail_nest(line, join(given), "branches", str("the statements are, in program order, ", join(known)));
  }

  void check_trunk() const {
    bool first = true;
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i) {
      const auto& what = nest_.trunk[i].what;
      const auto* loop = std::get_if<NestLoop>(&what);
      const auto fail = [&](const char* law, const char* why) {
        fail_nest(nest_.trunk[i].line, step_text(nest_, names_, i), law, why);
      };
      const auto* keep = std::get_if<NestKeep>(&what);
      if (std::holds_alternative<NestSharedCopy>(what) || std::holds_alternative<NestSeparate>(what) ||
          std::holds_alternative<NestAdded>(what) || (keep && keep->is_temporary) || (loop && is_of_kernels(*loop)))
        fail("machine", of_kernels);
      if (!loop) continue;
      if (loop->place == NestPlace::Cores && !first) fail("cores", "they run the outermost loop and no other");
      if (loop->place != NestPlace::Cores && loop->place != NestPlace::Serial)
        fail("lanes", "loops that all statements share are serial or run on cores; name the place in the branches");
      if ((loop->digit.index.statement >= 0) != loop->with_private_sums)
        fail("sums",
             "loops with private sums are over an iterator of one statement, for example 'S1.k/512', and a loop "
             "over such an iterator that all statements share has them");
      first = false;
    }
  }

  void check_lanes(std::size_t branch) const {
    const auto& loops = nest_.branches[branch].loops;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const auto fail = [&](const char* law, const char* why) {
        fail_nest(nest_.branches[branch].line, branch_text(nest_, names_, branch), law, why);
      };
      if (is_of_kernels(loops[i])) fail("machine", of_kernels);
      if (loops[i].place == NestPlace::Lanes && i + 1 != loops.size()) fail("lanes", "they are the innermost loop");
      if (loops[i].place == NestPlace::Cores) fail("cores", "they run the outermost loop and no other");
      if (loops[i].with_private_sums) fail("sums", "such a loop stands above the branches");
    }
  }

  /// The loops over \p index on the way to branch number \p branch.
  std::vector<Found> loops_over(const NestIndex& index, std::size_t branch) const {
    std::vector<Found> result;
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i)
      if (const auto* loop = std::get_if<NestLoop>(&nest_.trunk[i].what); loop && loop->digit.index == index)
        result.push_back({loop, nest_.trunk[i].line, step_text(nest_, names_, i)});
    for (const auto& loop : nest_.branches[branch].loops)
      if (loop.digit.index == index)
        result.push_back({&loop, nest_.branches[branch].line, branch_text(nest_, names_, branch)});
    return result;
  }

  void check_chain(const NestIndex& index, std::int64_t extent, std::size_t branch) const {
    const auto name = names_.name(index, static_cast<int>(branch));
    std::int64_t mod = 0, step = 0;
    for (const auto& [loop, line, text] : loops_over(index, branch)) {
      const auto& digit = loop->digit;
      if (digit.mod != mod)
        fail_nest(
            line, text, "digits",
            mod ? str("a loop above counts ", name, " in steps of ", mod, ", so the next one is over ", name, "%", mod)
                : str("no loop above is over ", name, ", so the first one has no '%'"));
      mod = step = digit.step;
    }
    if (step != 1 && extent > 1)
      fail_nest(nest_.branches[branch].line, branch_text(nest_, names_, branch), "digits",
                step ? str("no loop is over ", name, "%", step) : str("no loop is over ", name));
  }

  void check_digits(std::size_t branch) const {
    const auto& entry = cluster_.statements[branch];
    for (std::size_t m = 0; m < cluster_.members.size(); ++m)
      check_chain({-1, static_cast<int>(m)}, cluster_.members[m].extent(), branch);
    const auto extents = box(scop_.statement(entry.id).domain);
    for (const auto& inner : entry.inner)
      if (inner.iterator >= 0)
        check_chain({static_cast<int>(branch), inner.iterator},
                    extents[static_cast<std::size_t>(inner.iterator)].extent(), branch);
  }

  const Scop& scop_;
  const ClusterView& cluster_;
  const NestNames& names_;
  const Nest& nest_;
};

}  // namespace

void fail_nest(int line, const std::string& text, const std::string& law, const std::string& why) {
  throw OptionsError(str("line ", line, " of the nest, '", text, "', breaks the law '", law, "': ", why));
}

NestRefusal refusal_in(const NestNames& names, const Nest& nest) {
  return [&](const NestPart& part, const std::string& law, const std::string& why) {
    switch (part.where) {
      case NestPart::Where::Launch:
        fail_nest(nest.launch->line, launch_text(*nest.launch), law, why);
      case NestPart::Where::Step:
        fail_nest(nest.trunk.at(part.number).line, step_text(nest, names, part.number), law, why);
      case NestPart::Where::Branch:
        fail_nest(nest.branches.at(part.number).line, branch_text(nest, names, part.number), law, why);
    }
  };
}

void check_nest(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest) {
  NestCheck(scop, cluster, names, nest).run();
}

}  // namespace tc::polyhedral
