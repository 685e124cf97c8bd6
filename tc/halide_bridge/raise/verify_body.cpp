#include "tc/halide_bridge/raise/verify_body.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/raise/symbolic_value.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/generate/run_ast.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;
using polyhedral::Scop;
using polyhedral::Statement;
using polyhedral::Tensor;

/// Thrown where data choose what runs.
struct Undecided {};

[[noreturn]] void broken(const std::string& what) { throw InternalError(str("law 'body accesses' is broken: ", what)); }

/// The addresses that elements of \p tensor have: first and last.
std::pair<std::int64_t, std::int64_t> addresses_of(const Tensor& tensor) {
  std::int64_t low = 0, high = 0;
  for (std::size_t i = 0; i < tensor.extent.size(); ++i) {
    if (tensor.extent[i] == 1) continue;
    auto last = (tensor.extent[i] - 1) * tensor.strides[i];
    (last < 0 ? low : high) += last;
    if (tensor.extent[i] <= 0) return {0, -1};
  }
  return {low, high};
}

/// What the AST leaves in memory.
class AstSide {
 public:
  AstSide(const polyhedral::Ast& ast, const Scop& scop, const Program& program)
      : ast_(ast),
        scop_(scop),
        evaluator_(
            [](const auto&, const auto&, const auto&, bool) -> SymbolicValue { throw Undecided(); },
            [this](const ir::Call& read, const SymbolicValue& subscripts) { return element(read, subscripts); }) {
    evaluator_.skip = [this](const Expr& expr) { next_read_ += count_reads(expr); };
    for (const auto& site : ast.sites) {
      const auto& statement = scop.statement(site.statement);
      if (!statement.write.exact) throw Undecided();
      Site prepared{&statement, source_of(program, statement), polyhedral::range_name(statement.write.function), {}};
      for (const auto& read : statement.reads)
        prepared.buffers.push_back(read.exact ? polyhedral::range_name(read.function)
                                              : polyhedral::range_name(read.relation));
      sites_.push_back(std::move(prepared));
    }
  }

  const SymbolicMemory& run() {
    polyhedral::run_ast(ast_, scop_, [&](const polyhedral::SiteRun& run) { visit(run); });
    flush();
    return memory_;
  }

  /// The site that wrote an element last.
  std::string writer(const std::string& buffer, std::int64_t address) const {
    auto found = writers_.find({buffer, address});
    return found == writers_.end() ? "nothing" : ast_.sites[found->second].statement;
  }

 private:
  struct Site {
    const Statement* statement;
    const ProgramStatement* source;
    std::string target;
    std::vector<std::string> buffers;  ///< of the reads
  };
  struct Write {
    int site;
    std::int64_t address;
    Symbols from;
  };

  static const ProgramStatement* source_of(const Program& program, const Statement& statement) {
    for (const auto& launch : program.launches)
      for (const auto& source : launch.statements)
        if (source.id == statement.source) return &source;
    return nullptr;
  }

  static std::size_t count_reads(const Expr& expr) {
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

  /// Lanes of a vector read before any of them writes; those that write one element write it once.
  void visit(const polyhedral::SiteRun& run) {
    const auto& site = sites_.at(static_cast<std::size_t>(run.site));
    int vector = site.statement->vector_lanes > 1 ? run.vector : -1;
    if (vector < 0 || vector != vector_) flush();
    vector_ = vector;
    auto from = value(site, run);
    auto same = std::find_if(pending_.begin(), pending_.end(),
                             [&](const Write& write) { return write.site == run.site && write.address == run.write; });
    if (same == pending_.end())
      pending_.push_back({run.site, run.write, std::move(from)});
    else
      same->from.insert(from.begin(), from.end());
    if (vector < 0) flush();
  }

  void flush() {
    for (auto& write : pending_) {
      const auto& site = sites_.at(static_cast<std::size_t>(write.site));
      if (site.statement->accumulates) write.from.insert(memory_.read(site.target, write.address));
      memory_.write(site.target, write.address, write.from);
      writers_[{site.target, write.address}] = static_cast<std::size_t>(write.site);
    }
    pending_.clear();
  }

  Symbols value(const Site& site, const polyhedral::SiteRun& run) {
    run_ = &run;
    site_ = &site;
    if (site.statement->body == Statement::Body::Identity) return {};
    if (site.statement->body == Statement::Body::Copy) return copied(site, run);
    if (!site.source) throw Undecided();
    for (std::size_t i = 0; i < site.source->iterators.size(); ++i)
      evaluator_.variables[site.source->iterators[i]] = {{run.iterators.at(i), {}}};
    next_read_ = 0;
    return evaluator_(site.source->value).at(0).from;
  }

  Symbols copied(const Site& site, const polyhedral::SiteRun& run) const {
    Symbols result;
    std::size_t first = site.statement->source_read < 0 ? run.reads.size() - 1 : 0;
    for (std::size_t i = first; i < run.reads.size(); ++i)
      result.insert(run.reads[i] ? memory_.read(site.buffers[i], *run.reads[i])
                                 : SymbolicMemory::any_of(site.buffers[i]));
    return result;
  }

  /// Subscripts that no address counts are not computed.
  SymbolicLane element(const ir::Call& read, const SymbolicValue& subscripts) {
    const auto number = next_read_++;
    const auto& exact = run_->reads.at(number);
    const auto& buffer = site_->buffers.at(number);
    if (exact) return {std::nullopt, {memory_.read(buffer, *exact)}};
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
    from.insert(address ? memory_.read(buffer, *address) : SymbolicMemory::any_of(buffer));
    return {std::nullopt, from};
  }

  const polyhedral::Ast& ast_;
  const Scop& scop_;
  SymbolicEvaluator evaluator_;
  SymbolicMemory memory_;
  std::vector<Site> sites_;
  std::vector<Write> pending_;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> writers_;
  int vector_ = -1;
  const polyhedral::SiteRun* run_ = nullptr;
  const Site* site_ = nullptr;
  std::size_t next_read_ = 0;
};

/// What a statement leaves in memory.
class BodySide : public ir::IRVisitor {
 public:
  explicit BodySide(const Scop& scop)
      : evaluator_([this](const ir::Load& load, const SymbolicValue& address, const SymbolicValue& runs,
                          bool certain) { return read(load, address, runs, certain); },
                   [](const auto&, const auto&) -> SymbolicLane { throw Undecided(); }) {
    for (const auto& tensor : scop.tensors) addresses_[tensor.name] = addresses_of(tensor);
  }

  const SymbolicMemory& run(const Stmt& body) {
    body.accept(this);
    return memory_;
  }

 private:
  using ir::IRVisitor::visit;

  std::int64_t number(const Expr& expr) {
    auto value = evaluator_(expr);
    if (value.size() != 1 || !value[0].number) throw Undecided();
    return *value[0].number;
  }

  void check(const std::string& buffer, std::int64_t address, const char* what) const {
    auto found = addresses_.find(buffer);
    if (found == addresses_.end()) broken(str("the body ", what, " '", buffer, "', which is no tensor"));
    if (address < found->second.first || address > found->second.second)
      broken(str("the body ", what, " ", buffer, "[", address, "], outside of it"));
  }

  /// Has \p buffer no elements? What reads one does not run: the check of the subscript that finds it fails.
  bool is_empty(const std::string& buffer) const {
    auto found = addresses_.find(buffer);
    return found != addresses_.end() && found->second.first > found->second.second;
  }

  SymbolicValue read(const ir::Load& load, const SymbolicValue& address, const SymbolicValue& runs,
                     bool certain) const {
    if (is_empty(load.name)) return SymbolicValue(address.size(), {std::nullopt, {SymbolicMemory::any_of(load.name)}});
    SymbolicValue result;
    for (std::size_t i = 0; i < address.size(); ++i) {
      const auto& runs_here = runs[runs.size() == 1 ? 0 : i];
      SymbolicLane lane;
      if (runs_here.number != 0) {
        lane.from = address[i].from;
        lane.from.insert(runs_here.from.begin(), runs_here.from.end());
        if (address[i].number && certain && runs_here.number == 1) check(load.name, *address[i].number, "reads");
        lane.from.insert(address[i].number ? memory_.read(load.name, *address[i].number)
                                           : SymbolicMemory::any_of(load.name));
      }
      result.push_back(std::move(lane));
    }
    return result;
  }

  static bool is_strict(const Expr& value) {
    const auto* call = value.as<ir::Call>();
    return call && call->is_intrinsic(ir::Call::strict_float);
  }

  /// Which lanes of \p op write: one that a store masks, by selecting what its element holds, leaves it (element.h). A
  /// statement may select that too, inside of its strict_float.
  SymbolicValue running(const ir::Store* op) {
    const auto* masked = is_strict(op->value) ? op->value.as<ir::Call>()->args[0].as<ir::Select>() : nullptr;
    const auto* kept = masked && is_strict(masked->true_value) ? masked->false_value.as<ir::Load>() : nullptr;
    bool keeps = kept && kept->name == op->name && ir::equal(kept->index, op->index);
    return evaluator_(keeps ? masked->condition : op->predicate);
  }

  void visit(const ir::Store* op) override {
    auto value = evaluator_(op->value), index = evaluator_(op->index), runs = running(op);
    for (std::size_t i = 0; i < index.size(); ++i) {
      const auto& runs_here = runs[runs.size() == 1 ? 0 : i];
      if (!runs_here.number || !index[i].number) throw Undecided();
      if (!*runs_here.number) continue;
      check(op->name, *index[i].number, "writes");
      memory_.write(op->name, *index[i].number, value[value.size() == 1 ? 0 : i].from);
    }
  }

  void visit(const ir::For* op) override {
    auto first = number(op->min), count = number(op->extent);
    for (std::int64_t i = first; i < first + count; ++i) {
      evaluator_.variables[op->name] = {{i, {}}};
      op->body.accept(this);
    }
  }

  void visit(const ir::IfThenElse* op) override {
    if (number(op->condition))
      op->then_case.accept(this);
    else if (op->else_case.defined())
      op->else_case.accept(this);
  }

  void visit(const ir::LetStmt* op) override {
    evaluator_.variables[op->name] = evaluator_(op->value);
    op->body.accept(this);
  }

  void visit(const ir::Block* op) override {
    op->first.accept(this);
    op->rest.accept(this);
  }

  void visit(const ir::Allocate* op) override { op->body.accept(this); }
  void visit(const ir::Evaluate*) override {}

  SymbolicEvaluator evaluator_;
  SymbolicMemory memory_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> addresses_;
};

/// How many instances the statements of \p scop have, at most `most_counted` of each.
std::int64_t instance_count(const Scop& scop) {
  std::int64_t result = 0;
  for (const auto& statement : scop.statements) result += polyhedral::instance_count(statement.domain);
  return result;
}

void compare(const Stmt& body, const polyhedral::Ast& ast, const Scop& scop, const Program& program) {
  AstSide ast_side(ast, scop, program);
  const auto& wanted = ast_side.run();
  BodySide body_side(scop);
  const auto& made = body_side.run(body);
  for (const auto& tensor : scop.tensors) {
    if (tensor.storage == Tensor::Storage::Local) continue;
    auto addresses = wanted.written(tensor.name);
    addresses.merge(made.written(tensor.name));
    for (auto address : addresses)
      if (wanted.read(tensor.name, address) != made.read(tensor.name, address))
        broken(str("the body computes ", tensor.name, "[", address, "], which ", ast_side.writer(tensor.name, address),
                   " writes, from other elements than the scop"));
  }
}

}  // namespace

void verify_body(const Stmt& body, const polyhedral::Ast& ast, const Scop& scop, const Program& program,
                 std::int64_t most_runs) {
  if (!scop.parameters.empty() || instance_count(scop) > most_runs) return;
  try {
    compare(body, ast, scop, program);
  } catch (const Undecided&) {
  } catch (const InternalError& error) {
    throw InternalError(str(error.what(), "; the AST is\n", polyhedral::print(ast), "the body is\n", body));
  }
}

}  // namespace tc::halide_bridge
