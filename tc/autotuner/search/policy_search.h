#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tc/autotuner/search/search.h"
#include "tc/autotuner/search/search_space.h"
#include "tc/autotuner/worker/message.h"

namespace tc::autotuner {

/// A policy of the caller, in another language for example: what it proposes depends only on its seed and on the calls
/// before.
struct Policy {
  std::function<std::vector<options::MappingOptions>(int)> ask;  ///< so many to measure next; none at the end
  std::function<void(const std::vector<Trial>&)> tell;
};

/// What makes a policy for a space, and the name by which a checkpoint knows it.
struct NamedPolicy {
  std::string name;
  std::function<Policy(const SearchSpace&)> make;
};

/// A search whose candidates a policy proposes; it keeps the invariants of a Search for it:
///
///   starts, then policy.ask -> without those that were asked for before -> measured -> policy.tell
///
/// Its state is the list of all calls so far. restore() makes the policy anew and repeats them, so that a policy needs no
/// state of its own; one that then proposes otherwise is an ArgumentError.
class PolicySearch : public Search {
 public:
  PolicySearch(std::function<Policy()> make, std::vector<options::MappingOptions> starts);

  std::vector<options::MappingOptions> ask(int count) override;
  void tell(const std::vector<Trial>& trials) override;
  int generation(int) const override { return 8; }
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  void repeat(const Message& call);

  std::function<Policy()> make_;
  std::vector<options::MappingOptions> starts_;
  Policy policy_;
  std::set<std::string> asked_;
  Message calls_;  ///< each a message: "ask", count, options...  or  "tell", options, seconds, options, seconds...
};

}  // namespace tc::autotuner
