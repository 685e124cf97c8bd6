#pragma once

#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map_grid/map_to_grid.h"

/// The laws of a scheduled scop. Each throws InternalError that names the law and shows the offending pair or element.
///
///  - instances: the schedule executes each instance of each source statement exactly once
///  - dependences: every validity dependence goes strictly forward in the schedule's sequential order
///  - coincidence: no coincidence dependence is carried by a band member that is coincident or marked parallel
///  - bounds: every access, guards included, stays inside its tensor's box
///  - marks: the grammar of marks.h (trip counts below `register` are constant because all domains are); every lane of a
///    vector exists in a padded buffer
///  - promotion: what a Local buffer's readers see is what was written to it in the same execution of its allocate mark.
///    Every use of the temporary it replaces goes to it; each element belongs to one execution and has a place of its
///    own there; every read follows a write; copies out, and combinations of lanes, follow all writes, copies in precede
///    all uses. A lane of a vector that does not run leaves alone what instances use. Threads that share a buffer never
///    touch one place that one of them writes. Where a place serves several elements in turn, iterations of the bands
///    right below the mark count as executions, or all accesses of one element come before those of the other (take_turns.h)
///  - copies: a copy out of a buffer, or a combination of lanes, runs before the users of what it writes that depend on the
///    writers of what it reads; a copy in runs after the writers its users depend on
///  - gathers: an indirect read (indirect_reads.h) that goes to a copy finds there the element that it would find in its
///    own tensor; copies follow only subscripts that the program follows, which alone are known to be inside the tensor
namespace tc::polyhedral {

/// One law each (docs/architecture.md, Stages); they throw InternalError where it is broken.
void verify_instances(const Scop& scop);
void verify_dependences(const Scop& scop, const Dependences& dependences);
void verify_coincidence(const Scop& scop, const Dependences& dependences);
void verify_bounds(const Scop& scop);
void verify_marks(const Scop& scop);
void verify_promotion(const Scop& scop);
void verify_copies(const Scop& scop, const Dependences& dependences);
void verify_gathers(const Scop& scop);

/// The laws of a kernel: instances, bounds and marks as above; every dependence between instances of one thread goes
/// forward; blocks: instances of different blocks never touch one element that one of them writes; threads: instances
/// of different threads of a block that do have a barrier between them that all threads of the block (of the warp, if
/// they are of one warp) reach, and run in program order around it unless they accumulate; promotion: every use of a
/// temporary that a buffer replaces goes to the buffer, and what is read at a place of it, of one block or in registers
/// of one thread, is what was written there for the same element, after any other element; waits: what an asynchronous
/// copy writes is touched again only behind a wait for its group, by another thread behind a barrier after this wait.
void verify_kernel(const GridKernel& kernel);
/// The laws of a kernel whose threads do not wait for each other yet: all of these but threads and waits.
void verify_unsynchronised_kernel(const GridKernel& kernel);
void verify_threads(const GridKernel& kernel);
void verify_kernel_promotion(const GridKernel& kernel);
/// As verify_gathers; and nothing in the kernel writes what is copied through index tensors.
void verify_kernel_gathers(const GridKernel& kernel);

/// All laws that apply to the state of \p scop; \p dependences may be of the scop before promotion.
void verify(const Scop& scop, const Dependences& dependences);

}  // namespace tc::polyhedral
