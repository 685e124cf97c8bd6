#include "tc/polyhedral/nest/nest_text.h"

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::polyhedral {
namespace {

/// Branches are separated from each other by lines, loops in a branch by two spaces.
const std::string between_loops = "  ";

/// The dimensions of a grid and of a block.
constexpr char axis_names[] = "xyz";

class Printer {
 public:
  Printer(const Nest& nest, const NestNames& names) : nest_(nest), names_(names) {}

  std::string step(std::size_t number) const {
    return std::visit([&](const auto& what) { return print(what); }, nest_.trunk.at(number).what);
  }
  std::string branch(std::size_t number) const {
    const auto& branch = nest_.branches.at(number);
    std::vector<std::string> loops;
    for (const auto& loop : branch.loops) loops.push_back(print_loop(loop, static_cast<int>(number)));
    if (!branch.unit.empty()) loops.push_back("by unit " + branch.unit);
    return branch.statement + ":" + (loops.empty() ? "" : " ") + join(loops, between_loops);
  }
  std::string all() const {
    std::vector<std::string> ids;
    for (const auto& branch : nest_.branches) ids.push_back(branch.statement);
    std::string result = nest_headline + join(ids) + around_text(names_), indent = "  ";
    if (nest_.launch) result += str("\n", indent, launch_text(*nest_.launch));
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i) {
      result += str("\n", indent, step(i));
      if (std::holds_alternative<NestLoop>(nest_.trunk[i].what)) indent += "  ";
    }
    for (std::size_t i = 0; i < nest_.branches.size(); ++i) result += str("\n", indent, branch(i));
    return result;
  }

 private:
  std::string print(const NestLoop& loop) const { return print_loop(loop, -1); }
  std::string print(const NestKeep& keep) const {
    return (keep.is_temporary ? "keep temporary " : "keep ") + names_.shown(keep.tensor);
  }
  std::string print(const NestSeparate&) const { return "separate full tiles"; }
  std::string print(const NestAdded& added) const {
    std::vector<std::string> words;
    if (added.points_innermost) words.push_back("points innermost");
    if (added.unrolled) words.push_back("unrolled");
    if (added.in_lanes) words.push_back("in lanes");
    return "added statements " + join(words);
  }
  std::string print(const NestCopyLanes& copies) const {
    return str("copies along ", names_.name({-1, copies.member}, -1), ", ", copies.lanes, " lanes",
               copies.unrolled ? ", unrolled" : "");
  }
  std::string print(const NestCopy& copy) const {
    const auto& reader = names_.statements.at(static_cast<std::size_t>(copy.statement));
    auto result = str("copy ", reader.reads.at(static_cast<std::size_t>(copy.read)), " of ", reader.id, " in ",
                      copy.panel_last ? "panels" : "rows", " of ", copy.size, " ",
                      reader.iterators.at(static_cast<std::size_t>(copy.panel)));
    return copy.lanes > 0 ? str(result, ", ", copy.lanes, " lanes") : result;
  }

  std::string print(const NestSharedCopy& copy) const {
    const auto& reader = names_.statements.at(static_cast<std::size_t>(copy.statement));
    const auto name = [&](int iterator) { return reader.iterators.at(static_cast<std::size_t>(iterator)); };
    auto result =
        str("copy ", reader.reads.at(static_cast<std::size_t>(copy.read)), " of ", reader.id, " to shared memory");
    if (copy.contiguous >= 0) result += " along " + name(copy.contiguous);
    if (copy.vector > 1) result += str(", ", copy.vector, " of ", name(copy.run_along), " at once");
    if (copy.beside > 1) result += str(", ", copy.beside, " beside");
    return copy.asynchronous ? result + ", asynchronous" : result;
  }

  static std::string print_place(const NestLoop& loop) {
    switch (loop.place) {
      case NestPlace::Serial:
        return "";
      case NestPlace::Unrolled:
        return " unrolled";
      case NestPlace::Lanes:
        return loop.digit.mod == loop.lanes ? " lanes" : str(" in ", loop.lanes, " lanes");
      case NestPlace::Cores:
        return " on cores";
      case NestPlace::Unit:
        return str(" in units of ", loop.steps > 1 ? str(loop.steps, "x") : "", loop.width);
      case NestPlace::Grid:
        return str(" on grid.", axis_names[loop.dimension], loop.blocks > 0 ? str(" of ", loop.blocks) : "");
      case NestPlace::Thread:
        return str(" on thread.", axis_names[loop.dimension]);
      case NestPlace::Threads:
        return str(" on threads", loop.beside > 1 ? str(" beside ", loop.beside) : "");
    }
    throw InternalError("a place without a name");
  }

  std::string print_loop(const NestLoop& loop, int branch) const {
    const auto& digit = loop.digit;
    auto result = names_.name(digit.index, branch);
    if (digit.mod > 0) result += str("%", digit.mod);
    if (digit.step > 1) result += str("/", digit.step);
    result += print_place(loop);
    if (loop.slots > 0) result += " with copies";
    if (loop.slots > 1) result += str(" in ", loop.slots, " slots");
    if (loop.with_private_sums) result += " with private sums";
    if (loop.slides_along)
      result += str(" slides along ", names_.name(*loop.slides_along, branch), " by ", loop.slide_step);
    return result;
  }

  const Nest& nest_;
  const NestNames& names_;
};

}  // namespace

std::string around_text(const NestNames& names) {
  if (names.around.empty()) return "";
  const std::vector<std::string> others(names.around.begin() + 1, names.around.end());
  return nest_around + names.around.front() + " on cores" + (others.empty() ? "" : ", " + join(others));
}

std::string to_string(const Nest& nest, const NestNames& names) { return Printer(nest, names).all(); }
std::string launch_text(const NestLaunch& launch) {
  std::vector<std::string> extents;
  for (auto extent : launch.block) extents.push_back(str(extent));
  while (extents.size() > 1 && extents.back() == "1") extents.pop_back();
  auto result = str("blocks of ", join(extents, "x"), " threads");
  const NestLaunch usual;
  if (launch.shared_bytes != usual.shared_bytes) result += str(", shared bytes ", launch.shared_bytes);
  if (launch.thread_elements != usual.thread_elements) result += str(", thread elements ", launch.thread_elements);
  if (launch.blocks_per_multiprocessor != usual.blocks_per_multiprocessor)
    result += str(", blocks per multiprocessor ", launch.blocks_per_multiprocessor);
  return result;
}
std::string step_text(const Nest& nest, const NestNames& names, std::size_t step) {
  return Printer(nest, names).step(step);
}
std::string branch_text(const Nest& nest, const NestNames& names, std::size_t branch) {
  return Printer(nest, names).branch(branch);
}

}  // namespace tc::polyhedral
