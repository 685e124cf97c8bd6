#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/schedule_walk.h"
#include "tc/polyhedral/verify.h"

namespace tc::polyhedral {

void verify_promotion(const Scop&) {}

}  // namespace tc::polyhedral
