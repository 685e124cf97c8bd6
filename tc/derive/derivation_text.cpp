#include "tc/derive/derivation_text.h"

#include <sstream>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/derive/form/from_def.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/form/to_def.h"
#include "tc/polyhedral/core/isl_message.h"

namespace tc::derive {

std::string derivation_text(const Program& program, const std::vector<Step>& steps) {
  std::string text = str("program\n", to_text(program));
  for (const auto& step : steps) {
    text += str("step ", step.rule, ": ", step.what, "\n");
    std::istringstream maps(to_string(step.certificate));
    for (std::string line; std::getline(maps, line);) text += str("map ", line, "\n");
    text += str("program\n", to_text(step.after));
  }
  return text;
}

namespace {

/// A program of the text and what stands before it.
struct Link {
  std::string rule, maps, program;
};

bool starts(const std::string& line, const char* word) { return line.rfind(word, 0) == 0; }

std::vector<Link> links_of(const std::string& text) {
  std::vector<Link> links;
  std::string rule, maps;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (starts(line, "step ")) {
      rule = line.substr(5);
      maps.clear();
    } else if (starts(line, "map ")) {
      maps += line.substr(4) + "\n";
    } else if (line == "program") {
      links.push_back({rule, maps, ""});
    } else {
      if (links.empty()) throw Refusal{"a derivation begins with a program"};
      links.back().program += line + "\n";
    }
  }
  if (links.empty()) throw Refusal{"there is no program"};
  return links;
}

}  // namespace

DerivationOutline outline(const std::string& text) {
  const auto links = links_of(text);
  DerivationOutline result{links.front().program, links.back().program, {}};
  for (std::size_t l = 1; l < links.size(); ++l) result.rules.push_back(links[l].rule);
  return result;
}

namespace {

Verdict proved(const std::string& text, const ContextPtr& context) try {
  const auto links = links_of(text);
  auto before = from_text(links.front().program, context);
  if (const auto verdict = check(before); !verdict.equal) return {false, str("the first program: ", verdict.why)};
  for (std::size_t l = 1; l < links.size(); ++l) {
    auto after = from_text(links[l].program, context);
    const auto verdict = check_step(before, after, parse_certificate(links[l].maps, context));
    if (!verdict.equal) return {false, str("step ", l, ", ", links[l].rule, ": ", verdict.why)};
    before = std::move(after);
  }
  return {true, ""};
} catch (const Refusal& refusal) {
  return {false, refusal.why};
} catch (const Error& error) {
  return {false, error.what()};
} catch (const isl::exception& error) {
  return {false, str("isl: ", polyhedral::message_of(error))};
}

}  // namespace

Verdict check_derivation(const std::string& text, unsigned long operations) {
  const auto context = std::make_shared<polyhedral::Context>();
  polyhedral::OperationQuota quota(*context, operations);
  const auto verdict = proved(text, context);
  if (verdict.equal || quota.spent() < operations) return verdict;
  return {false, str("the proof takes more than ", operations, " operations of isl")};
}

}  // namespace tc::derive
