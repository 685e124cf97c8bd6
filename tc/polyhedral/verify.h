#pragma once

#include "tc/polyhedral/dependences.h"
#include "tc/polyhedral/scop.h"

/// The laws of a scheduled scop. Each throws InternalError that names the law and shows the offending pair or element.
///
///  - instances: the schedule executes each instance of each source statement exactly once
///  - dependences: every validity dependence goes strictly forward in the schedule's sequential order
///  - coincidence: no coincidence dependence is carried by a band member that is coincident or marked parallel
///  - bounds: every access, guards included, stays inside its tensor's box
///  - marks: the grammar of marks.h
///  - promotion: what a Local buffer's readers see is what was written to it in the same execution of its allocate mark
namespace tc::polyhedral {

void verify_instances(const Scop& scop);
void verify_dependences(const Scop& scop, const Dependences& dependences);
void verify_coincidence(const Scop& scop, const Dependences& dependences);
void verify_bounds(const Scop& scop);
void verify_marks(const Scop& scop);
void verify_promotion(const Scop& scop);

/// All laws that apply to the state of \p scop; \p dependences may be of the scop before promotion.
void verify(const Scop& scop, const Dependences& dependences);

}  // namespace tc::polyhedral
