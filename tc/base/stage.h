#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tc/base/cancellation.h"
#include "tc/base/error.h"
#include "tc/base/log.h"
#include "tc/base/str.h"

namespace tc {

/// One step of a pipeline over a State: a name and functions; only `run` is required.
template <typename State>
struct Stage {
  std::string name;       ///< another one for each stage of a list
  std::string step = {};  ///< what it does, where several do so to parts of the state
  std::function<void(State&)> run;
  std::function<std::string(const State&)> print;         ///< the result as text
  std::function<void(State&, const std::string&)> parse;  ///< takes a text as the result
  std::function<void(const State&)> verify;               ///< throws InternalError on a broken law
};

/// What happened in one stage.
struct StageRecord {
  std::string name;
  double milliseconds = 0;
  std::string text;  ///< empty unless texts were asked for
  std::string step = {};
};

/// How a pipeline is run.
template <typename State>
struct StageOptions {
  bool verify = false;                 ///< run the laws after each stage
  bool keep_text = false;              ///< fill StageRecord::text
  std::set<std::string> keep_text_of;  ///< the same for these steps alone
  std::string dump_directory;          ///< write NN_name.txt files there, of texts that are not empty; empty: none
  int first_number = 0;                ///< NN of the first stage
  std::map<std::string, std::string> replace;  ///< stage name or step -> text taken as its result
  /// Called after each stage, before its laws. It owns all that it writes to, because a compile that reached a limit may be in it
  /// when the caller already has the error.
  std::function<void(const std::string& stage, State&)> mutate;
  Cancellation cancellation;
};

/// Writes \p text to directory/NN_name.txt; throws ResourceError when it cannot.
void write_stage_dump(const std::string& directory, int number, const std::string& name, const std::string& text);

/// Runs the laws of \p stage over \p state; an InternalError says behind which stage a law is broken.
template <typename State>
void verify_stage(const Stage<State>& stage, const State& state) {
  try {
    if (stage.verify) stage.verify(state);
  } catch (const InternalError& error) {
    throw InternalError(str("behind stage '", stage.name, "': ", error.what()));
  }
}

/// Runs \p stages in order over \p state and returns one record a stage.
/// Throws what a stage throws, OptionsError for a replacement of a stage without a text form or an unknown stage.
template <typename State>
std::vector<StageRecord> run_stages(const std::vector<Stage<State>>& stages, State& state,
                                    const StageOptions<State>& options) {
  std::vector<StageRecord> records;
  for (const auto& [name, text] : options.replace) {
    bool known = false;
    for (const auto& stage : stages) known = known || ((stage.name == name || stage.step == name) && stage.parse);
    if (!known) throw OptionsError(str("stage '", name, "' cannot be replaced by a text"));
  }
  for (const auto& stage : stages) {
    options.cancellation.check(stage.name.c_str());
    auto start = std::chrono::steady_clock::now();
    auto replacement = options.replace.find(stage.name);
    if (replacement == options.replace.end()) replacement = options.replace.find(stage.step);
    if (replacement != options.replace.end())
      stage.parse(state, replacement->second);
    else
      stage.run(state);
    StageRecord record{stage.name, 0, {}, stage.step};
    record.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (options.mutate) options.mutate(stage.name, state);
    bool wants_text =
        options.keep_text || !options.dump_directory.empty() || options.keep_text_of.count(stage.step) > 0;
    if (wants_text && stage.print) record.text = stage.print(state);
    if (!options.dump_directory.empty() && !record.text.empty())
      write_stage_dump(options.dump_directory, options.first_number + static_cast<int>(records.size()), stage.name,
                       record.text);
    if (options.verify) verify_stage(stage, state);
    if (logging()) log(LogLevel::Debug, str("stage ", stage.name, ": ", record.milliseconds, " ms"));
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace tc
