#include "tc/autotuner/worker/random_source.h"

#include <sstream>

#include "tc/base/str.h"

namespace tc::autotuner {

std::string RandomSource::state() const {
  TextStream out;
  out << engine_;
  return out.str();
}

bool RandomSource::restore(const std::string& state) {
  std::istringstream in(state);
  std::mt19937_64 engine;
  if (!(in >> engine)) return false;
  engine_ = engine;
  return true;
}

}  // namespace tc::autotuner
