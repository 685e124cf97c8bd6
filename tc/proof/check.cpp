#include "tc/proof/check.h"

#include <chrono>
#include <optional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"
#include "tc/proof/laws.h"
#include "tc/proof/ranges.h"
#include "tc/proto/evidence.pb.h"

namespace tc::proof {
namespace {

proto::Evidence parsed(const std::string& bytes) {
  proto::Evidence evidence;
  if (!evidence.ParseFromString(bytes)) throw Refusal("form", "", "the bytes are no evidence");
  if (evidence.schema_version() != schema_version)
    throw Undecided("form", str("the evidence has version ", evidence.schema_version(),
                                " of the schema, and this checker knows ", schema_version));
  return evidence;
}

/// The def of \p text, which has one.
lang::Def checked_def(const std::string& text) {
  try {
    auto file = lang::check(lang::parse(text));
    if (file.defs.size() != 1) throw Undecided("text", str("the text has ", file.defs.size(), " defs"));
    return std::move(file.defs.front());
  } catch (const SyntaxError& error) {
    throw Refusal("text", "", error.what());
  } catch (const SemanticError& error) {
    throw Refusal("text", "", error.what());
  }
}

GivenRanges ranges_of(const proto::Evidence& evidence) {
  GivenRanges result;
  for (const auto& assignment : evidence.assignments()) {
    auto& ranges = result.assignments.emplace_back();
    for (const auto& range : assignment.ranges()) ranges[range.iterator()] = {range.min(), range.extent()};
  }
  for (const auto& box : evidence.boxes()) {
    if (box.min_size() != box.extent_size())
      throw Refusal("ranges", "", str("the box of '", box.tensor(), "' has two ranks"));
    auto& dimensions = result.boxes[box.tensor()];
    for (int d = 0; d < box.min_size(); ++d) dimensions.push_back({box.min(d), box.extent(d)});
  }
  return result;
}

void check_launch(const Launch& launch, const TextProgram& text) {
  Subject subject{text, launch, marks_of(launch.schedule), {}};
  check_instances(subject);
  check_body(subject);
  check_bounds(subject);
  check_storage(subject);
  check_partials(subject);
  check_order(subject);
  check_copies(subject);
  check_races(subject);
}

void check_all(const std::string& bytes, const Limits& limits) {
  const auto evidence = parsed(bytes);
  if (evidence.rewrites_size() > 0)
    throw Undecided("text", str("the pass ", evidence.rewrites(0), " rewrote the program before its loops were made"));
  const auto def = checked_def(evidence.text());
  lang::SizeMap sizes;
  for (const auto& size : evidence.sizes()) sizes[size.name()] = size.value();
  const auto ranges = ranges_of(evidence);
  const Context context(limits.operations);
  const auto text = read_text(context, def, sizes, ranges);
  // A law that is not decided does not hide one that is broken.
  std::optional<Undecided> open;
  try {
    check_ranges(context, def, sizes, ranges, text);
  } catch (const Undecided& law) {
    open = law;
  }
  if (evidence.launches_size() > 1)
    throw Undecided("text", str("the kernel has ", evidence.launches_size(), " launches"));
  if (evidence.launches_size() == 0 && !text.statements.empty())
    throw Refusal("instances", "", "the kernel has no launch, and the text has instances");
  if (evidence.launches_size() == 1) check_launch(read_launch(context, evidence.launches(0), text), text);
  if (open) throw *open;
}

Verdict verdict_of(const std::string& bytes, const Limits& limits) {
  try {
    check_all(bytes, limits);
    return {Outcome::Proved, "", "", "", 0};
  } catch (const Refusal& refusal) {
    return {Outcome::Refused, refusal.law, refusal.statement, refusal.what(), 0};
  } catch (const Undecided& open) {
    return {Outcome::NotDecided, open.law, "", open.what(), 0};
  } catch (const isl::exception_quota&) {
    return {Outcome::NotDecided, "", "", str("not proved within ", limits.operations, " operations of isl"), 0};
  } catch (const isl::exception& error) {
    return {Outcome::NotDecided, "", "", str("isl: ", error.what()), 0};
  } catch (const std::exception& error) {
    return {Outcome::NotDecided, "", "", error.what(), 0};
  }
}

}  // namespace

std::string to_string(Outcome outcome) {
  return outcome == Outcome::Proved ? "proved" : outcome == Outcome::Refused ? "refused" : "not decided";
}

std::string to_string(const Verdict& verdict) {
  auto line = to_string(verdict.outcome);
  if (!verdict.law.empty()) line += str(": law '", verdict.law, "'");
  if (!verdict.statement.empty()) line += str(", statement ", verdict.statement);
  if (!verdict.reason.empty()) line += str(": ", verdict.reason);
  return line;
}

Verdict check(const std::string& evidence, const Limits& limits) {
  const auto start = std::chrono::steady_clock::now();
  auto verdict = verdict_of(evidence, limits);
  verdict.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

}  // namespace tc::proof
