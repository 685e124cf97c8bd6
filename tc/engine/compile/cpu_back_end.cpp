#include <sstream>

#include "tc/base/str.h"
#include "tc/cpu/stmt/prefetch.h"
#include "tc/cpu/stmt/prefetch_panels.h"
#include "tc/engine/compile/back_end.h"
#include "tc/engine/compile/quota.h"
#include "tc/halide_bridge/raise/raise.h"
#include "tc/halide_bridge/raise/verify_body.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/laws/verify_ast.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/schedule/collapse.h"
#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/strategy/choose_collapse.h"
#include "tc/strategy/choose_fusion.h"
#include "tc/strategy/choose_mapping.h"

namespace tc::engine {
namespace {

polyhedral::MappingOptions schedule_options(const CompileState& state) { return state.mapping; }

std::unique_ptr<polyhedral::FusionCriterion> fusion_criterion(const CompileState& state, const polyhedral::Scop& scop) {
  return std::make_unique<strategy::ChooseFusion>(scop, state.target, state.mapping);
}

/// Makes one loop of those that are better tiled together.
void collapse_loops(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  with_quota(
      state, *launch.scop, "map", "loops are not collapsed", launch.scop->statements.size(),
      [&] {
        for (const auto& choice : strategy::choose_collapse(*launch.scop, state.target, state.mapping)) {
          auto scop = *launch.scop;
          auto dependences = *launch.dependences;
          polyhedral::collapse(scop, dependences, choice);
          launch.scop.emplace(std::move(scop));
          launch.dependences.emplace(std::move(dependences));
        }
      },
      [] {});
}

std::string names_of(const polyhedral::ClusterView& cluster) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (const auto& entry : cluster.statements) {
    if (names.size() == most) break;
    names.push_back(entry.id);
  }
  auto count = cluster.statements.size();
  return join(names) + (count > most ? str(" and ", count - most, " more") : "");
}

/// Maps each cluster with a quota of its own.
void map(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  if (!launch.dependences) return;
  collapse_loops(state, index);
  std::vector<polyhedral::ClusterView> clusters;
  with_quota(
      state, *launch.scop, "map", "loops are neither tiled nor parallel nor vectors", launch.scop->statements.size(),
      [&] {
        auto gathered = polyhedral::gather_coincident(*launch.scop);
        launch.scop->schedule = gathered;
        clusters = polyhedral::cluster_views(*launch.scop);
      },
      [] {});
  launch.mapping.emplace();
  launch.mapping->buffer_bytes = strategy::buffer_bytes(state.target, state.mapping);
  for (const auto& cluster : clusters) {
    auto& chosen = launch.mapping->clusters.emplace_back();
    with_quota(
        state, *launch.scop, "map",
        str("the loops of ", names_of(cluster), " are neither tiled nor parallel nor vectors"), 1,
        [&] {
          chosen = strategy::choose_cluster_mapping(*launch.scop, cluster, state.target, state.mapping);
          auto mapped = polyhedral::map_cluster_to_cpu(*launch.scop, cluster, chosen, launch.mapping->buffer_bytes);
          launch.scop.emplace(std::move(mapped));
        },
        [&] { chosen = {}; });
  }
}

std::string print_mapped(const LaunchState& launch) {
  return (launch.mapping ? polyhedral::to_string(*launch.mapping) + "\n" : std::string()) +
         polyhedral::print_block(launch.scop->schedule);
}

void generate(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  with_quota(
      state, *launch.scop, "generate", "program order is used, in one thread", launch.scop->statements.size(),
      [&] { launch.ast.emplace(polyhedral::generate_ast(*launch.scop)); },
      [&] {
        launch.scop.emplace(*launch.plain);
        launch.ast.emplace(polyhedral::generate_ast(*launch.scop));
      });
}

std::string print_generated(const LaunchState& launch) { return polyhedral::print(*launch.ast); }

void raise(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  auto body = halide_bridge::raise(*launch.ast, *launch.scop, *state.program);
  launch.body = std::make_shared<Halide::Internal::Stmt>(body);
  launch.buffers = buffers_of(*launch.scop, halide_bridge::buffer_names(body));
}

std::string print_body(const LaunchState& launch) {
  TextStream out;
  out << *launch.body;
  return out.str();
}

void emit(CompileState& state, std::size_t index) {
  auto& launch = state.launches[index];
  auto body = *launch.body;
  if (state.mapping.prefetch) {
    cpu::PrefetchOptions options{state.mapping.prefetch_distance};
    body = cpu::prefetch_panels(cpu::prefetch(body, state.target, options), state.target, options);
  }
  launch.code = cpu::emit_object(str("tc_", state.program->name, "_", index), body, launch.buffers, state.target);
}

std::string print_emitted(const LaunchState&) { return {}; }

void verify(const LaunchState& launch) {
  if (launch.dependences) polyhedral::verify(*launch.scop, *launch.dependences);
}

void verify_generated(const LaunchState& launch) {
  polyhedral::verify_ast(*launch.ast, *launch.scop);
  if (launch.dependences) polyhedral::verify_ast_order(*launch.ast, *launch.scop, *launch.dependences);
}

void verify_body(const LaunchState& launch, const halide_bridge::Program& program) {
  halide_bridge::verify_body(*launch.body, *launch.ast, *launch.scop, program);
}

}  // namespace

const BackEnd& cpu_back_end() {
  static const BackEnd back_end{schedule_options,
                                fusion_criterion,
                                map,
                                print_mapped,
                                generate,
                                print_generated,
                                raise,
                                print_body,
                                emit,
                                print_emitted,
                                verify,
                                verify_generated,
                                verify_body};
  return back_end;
}

}  // namespace tc::engine
