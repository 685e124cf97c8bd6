#include "tc/halide_bridge/laws/symbolic_ast.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/polyhedral/map_grid/barriers.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using polyhedral::SiteRun;
using polyhedral::Statement;

std::size_t count_reads(const Expr& expr) {
  struct Counter : ir::IRVisitor {
    using ir::IRVisitor::visit;
    std::size_t count = 0;
    void visit(const ir::Call* op) override {
      ir::IRVisitor::visit(op);
      count += op->call_type == ir::Call::Halide;
    }
  } counter;
  expr.accept(&counter);
  return counter.count;
}

const ProgramStatement* source_of(const Program& program, const Statement& statement) {
  for (const auto& launch : program.launches)
    for (const auto& source : launch.statements)
      if (source.id == statement.source) return &source;
  return nullptr;
}

}  // namespace

SymbolicAst::SymbolicAst(const polyhedral::Ast& ast, const polyhedral::Scop& scop, const Program& program,
                         const ThreadGrid& threads)
    : ast_(ast),
      scop_(scop),
      program_(program),
      grid_(threads),
      loops_(ast, scop),
      evaluator_([](const auto&, const auto&, const auto&, bool) -> SymbolicValue { throw Undecided(); },
                 [this](const ir::Call& read, const SymbolicValue& subscripts) { return element(read, subscripts); }),
      memory_(scop) {
  evaluator_.skip = [this](const Expr& expr) { next_read_ += count_reads(expr); };
  for (const auto& [name, value] : threads.told) evaluator_.variables[name] = {{value, {}}};
  for (const auto& site : ast.sites) sites_.push_back(prepared(site));
}

SymbolicAst::Site SymbolicAst::prepared(const polyhedral::Site& site) const {
  if (polyhedral::is_synchronisation(site.statement)) return {};
  const auto& statement = scop_.statement(site.statement);
  if (!statement.write.exact) throw Undecided();
  Site result{&statement, source_of(program_, statement), polyhedral::range_name(statement.write.function), {}};
  for (const auto& read : statement.reads)
    result.buffers.push_back(read.exact ? polyhedral::range_name(read.function)
                                        : polyhedral::range_name(read.relation));
  return result;
}

const SymbolicAst::Site& SymbolicAst::site_of(const SiteRun& run) const {
  return sites_.at(static_cast<std::size_t>(run.site));
}

const SymbolicMemory& SymbolicAst::run() {
  for (std::int64_t block = 0; block < grid_.blocks(); ++block) {
    threads_.clear();
    for (std::int64_t thread = 0; thread < grid_.threads(); ++thread)
      threads_.push_back({polyhedral::AstThread(loops_, grid_.coordinates(block, thread))});
    if (!run_in_lock_step(grid_.threads(), {[this](auto thread) { return advance(thread); },
                                            [this](auto first, auto last) { combine(first, last); }}))
      throw InternalError("law 'body accesses' is broken: threads of the AST wait for threads that do not come");
  }
  return memory_;
}

std::string SymbolicAst::writer(const std::string& buffer, std::int64_t address) const {
  auto found = writers_.find({buffer, address});
  return found == writers_.end() ? "nothing" : ast_.sites[static_cast<std::size_t>(found->second)].statement;
}

std::optional<Meeting> SymbolicAst::advance(std::int64_t number) {
  thread_ = number;
  auto& thread = threads_[static_cast<std::size_t>(number)];
  while (auto run = thread.loops.next()) {
    const auto& site = site_of(*run);
    if (!site.statement) {
      const auto& name = ast_.sites[static_cast<std::size_t>(run->site)].statement;
      if (!polyhedral::is_barrier(name)) continue;
      flush();
      bool of_warp = name.rfind(polyhedral::warp_barrier, 0) == 0;
      return Meeting{&site, of_warp ? grid_.warp_size : grid_.threads()};
    }
    if (site.statement->combined_iterator < 0) {
      visit(*run);
      continue;
    }
    flush();
    auto place = run->iterators.at(static_cast<std::size_t>(site.statement->combined_iterator));
    thread.writes = site.statement->combined_in_all || place % site.statement->combined_lanes == 0;
    thread.combines = {run->site, *run->write, value(site, *run)};
    return Meeting{&site, site.statement->combined_lanes};
  }
  flush();
  return std::nullopt;
}

/// What the threads bring together is what one of them writes. To a barrier they bring nothing.
void SymbolicAst::combine(std::int64_t first, std::int64_t last) {
  auto thread = [&](std::int64_t number) -> Thread& { return threads_[static_cast<std::size_t>(number)]; };
  if (!thread(first).combines) return;
  auto all = thread(first).combines->value;
  const auto op = sites_[static_cast<std::size_t>(thread(first).combines->site)].statement->op;
  for (auto i = first + 1; i < last; ++i) all = combined(op, all, thread(i).combines->value);
  for (thread_ = first; thread_ < last; ++thread_) {
    auto write = std::exchange(thread(thread_).combines, std::nullopt);
    write->value = all;
    if (thread(thread_).writes) store(*write);
  }
}

/// Lanes of a vector read before any of them writes; those that write one element write it once.
void SymbolicAst::visit(const SiteRun& run) {
  auto& thread = threads_[static_cast<std::size_t>(thread_)];
  const auto& site = site_of(run);
  int vector = site.statement->vector_lanes > 1 ? run.vector : -1;
  if (vector < 0 || vector != thread.vector) flush();
  thread.vector = vector;
  auto made = value(site, run);
  auto same = std::find_if(thread.pending.begin(), thread.pending.end(),
                           [&](const Write& write) { return write.site == run.site && write.address == *run.write; });
  if (same == thread.pending.end())
    thread.pending.push_back({run.site, *run.write, std::move(made)});
  else
    same->value = combined(site.statement->op, same->value, made);
  if (vector < 0) flush();
}

void SymbolicAst::flush() {
  auto& pending = threads_[static_cast<std::size_t>(thread_)].pending;
  for (const auto& write : pending) store(write);
  pending.clear();
}

void SymbolicAst::store(const Write& write) {
  const auto& site = sites_.at(static_cast<std::size_t>(write.site));
  auto made = write.value;
  if (site.statement->accumulates)
    made = combined(site.statement->op, made, {std::nullopt, {memory_.read(site.target, write.address, thread_)}});
  memory_.write(site.target, write.address, made.from, thread_);
  writers_[{site.target, write.address}] = write.site;
}

SymbolicLane SymbolicAst::value(const Site& site, const SiteRun& run) {
  run_ = &run;
  site_ = &site;
  if (site.statement->body == Statement::Body::Identity) return {};
  if (site.statement->body == Statement::Body::Copy) return {std::nullopt, copied(site, run)};
  if (!site.source || site.source->ragged) throw Undecided();
  for (std::size_t i = 0; i < site.source->iterators.size(); ++i)
    evaluator_.variables[site.source->iterators[i]] = {{run.iterators.at(i), {}}};
  next_read_ = 0;
  return evaluator_(site.source->value).at(0);
}

Symbols SymbolicAst::copied(const Site& site, const SiteRun& run) const {
  Symbols result;
  std::size_t first = site.statement->source_read < 0 ? run.reads.size() - 1 : 0;
  for (std::size_t i = first; i < run.reads.size(); ++i)
    result.insert(run.reads[i] ? memory_.read(site.buffers[i], *run.reads[i], thread_)
                               : SymbolicMemory::any_of(site.buffers[i]));
  return result;
}

/// Subscripts that no address counts are not computed.
SymbolicLane SymbolicAst::element(const ir::Call& read, const SymbolicValue& subscripts) {
  const auto number = next_read_++;
  const auto& exact = run_->reads.at(number);
  const auto& buffer = site_->buffers.at(number);
  if (exact) return {std::nullopt, {memory_.read(buffer, *exact, thread_)}};
  const auto& tensor = scop_.tensor(read.name);
  if (contains(tensor.extent, 0)) return {std::nullopt, {SymbolicMemory::any_of(buffer)}};
  std::optional<std::int64_t> address = 0;
  Symbols from;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    if (tensor.extent[i] == 1 || tensor.strides[i] == 0) continue;
    from.insert(subscripts[i].from.begin(), subscripts[i].from.end());
    if (address && subscripts[i].number)
      *address += (*subscripts[i].number - tensor.min[i]) * tensor.strides[i];
    else
      address.reset();
  }
  from.insert(address ? memory_.read(buffer, *address, thread_) : SymbolicMemory::any_of(buffer));
  return {std::nullopt, from};
}

}  // namespace tc::halide_bridge
