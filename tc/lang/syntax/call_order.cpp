#include "tc/lang/syntax/call_order.h"

#include <algorithm>
#include <unordered_map>

namespace tc::lang {
namespace {

/// Depth first over calls, on a stack of its own: chains of calls may be long.
class Walk {
 public:
  Walk(const std::vector<Def>& defs, std::vector<CallCycle>& cycles)
      : defs_(defs), cycles_(cycles), state_(defs.size(), State::New) {
    for (std::size_t i = 0; i < defs.size(); ++i) index_.emplace(defs[i].name, i);
  }

  std::vector<std::size_t> run() {
    for (std::size_t i = 0; i < defs_.size(); ++i) {
      open(i);
      while (!stack_.empty()) step();
    }
    return std::move(order_);
  }

 private:
  enum class State : std::uint8_t { New, Open, Done };
  struct Frame {
    std::size_t def, next_statement;
  };

  void open(std::size_t def) {
    if (state_[def] != State::New) return;
    state_[def] = State::Open;
    stack_.push_back({def, 0});
  }

  void step() {
    Frame& top = stack_.back();
    const auto& statements = defs_[top.def].statements;
    while (top.next_statement < statements.size()) {
      const auto& statement = statements[top.next_statement++];
      const auto* call = std::get_if<CallStatement>(&statement.node);
      const auto callee = call ? index_.find(call->def) : index_.end();
      if (callee == index_.end() || state_[callee->second] == State::Done) continue;
      if (state_[callee->second] == State::New) return open(callee->second);
      note_cycle(callee->second, call->def_range.end > 0 ? call->def_range : statement.range);
    }
    state_[top.def] = State::Done;
    order_.push_back(top.def);
    stack_.pop_back();
  }

  void note_cycle(std::size_t callee, SourceRange range) {
    CallCycle cycle{{}, range};
    auto from = std::find_if(stack_.begin(), stack_.end(), [&](const Frame& frame) { return frame.def == callee; });
    for (; from != stack_.end(); ++from) cycle.names.push_back(defs_[from->def].name);
    cycle.names.push_back(defs_[callee].name);
    cycles_.push_back(std::move(cycle));
  }

  const std::vector<Def>& defs_;
  std::vector<CallCycle>& cycles_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<State> state_;
  std::vector<Frame> stack_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::size_t> callees_first(const std::vector<Def>& defs, std::vector<CallCycle>& cycles) {
  return Walk(defs, cycles).run();
}

}  // namespace tc::lang
