#include <gflags/gflags.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/plain_text.h"
#include "tc/base/str.h"
#include "tc/cache/build_id.h"
#include "tc/cache/environment.h"
#include "tc/cache/maintain.h"
#include "tc/engine/describe/proof_of.h"
#include "tc/engine/graph/derive_part.h"
#include "tc/engine/recheck.h"
#include "tools/flag_help.h"
#include "tools/json_text.h"

/// tc_cache: looks at cache folders and changes them. --help says all.

DEFINE_string(dir, "", "the cache's folder; without it that of TC_CACHE_DIR, else ~/.cache/tensor_comprehensions");
DEFINE_bool(json, false, "ls, show, stat: print JSON, one object a line");
DEFINE_bool(recompile, false, "verify: compile the code of this build again, ask all laws and compare");
DEFINE_bool(best_only, false, "export: only the best options of each key");
DEFINE_string(max_size, "1g", "gc: the size the folder may have afterwards, for example 500m");
DEFINE_int32(keep, 16, "gc: how many options of each key, machine and number of threads stay");

namespace {

using namespace tc;
using namespace tc::cache;
using tools::quoted;

using Words = std::vector<std::string>;

constexpr const char* help = R"(tc_cache looks at the compilation cache of tensor comprehensions, and changes it.

usage: tc_cache <command> [arguments] [flags]

  ls                 the options that were tuned or injected, best first for each program, prices of derived programs, and the machine code
  show <id>...       all of an entry; an id as ls prints it, or its first digits
  stat               numbers of files and bytes
  verify             reads every file, proves derived programs again, checks the evidence of machine code, and names what is wrong
                     (damaged, not proved, refused, or code that is not signed with your key); exit code 1 if anything is
  merge <folder>...  adds the options and prices of other folders to --dir; the order does not matter, nor doing it twice
  export <file>      writes the options and prices to one file, a new one, or in the place of an earlier export
  import <file>...   adds what is in files that export wrote
  remove <id>...     removes entries, for example options injected by mistake
  gc                 removes unfinished and damaged files, all but the best options of each key,
                     and the machine code least recently used while the folder is too large

A key is a program, the shapes, strides and types of its tensors, and a target. Options and measured prices of derived programs are
portable: merge, export and import take them to other machines. Machine code is never taken from elsewhere.

flags:
)";

constexpr const char* examples = R"(
examples:
  tc_cache ls
  tc_cache merge --dir=team_cache job1/cache job2/cache
  tc_cache export --dir=team_cache --best_only tuned.options
  TC_CACHE_DIR=/scratch/cache tc_cache gc --max_size=200m

exit codes: 0 done, 1 verify found something or an id is unknown, 2 it could not be done or was not understood
)";

struct UsageError : Error {
  using Error::Error;
};

/// Prints \p text, in which nothing commands the terminal, whoever wrote what it tells of.
void print(const std::string& text, std::ostream& out = std::cout) { out << plain_text(text); }

/// Fields of an entry with their values as JSON, and as people read them.
class Fields {
 public:
  Fields& text(const char* name, const std::string& value) { return add(name, quoted(value), value); }
  Fields& number(const char* name, double value, const std::string& shown = "") {
    return add(name, exact(value), shown.empty() ? exact(value) : shown);
  }
  Fields& flag(const char* name, bool value) { return add(name, value ? "true" : "false", value ? "yes" : "no"); }

  std::string json() const {
    Words parts;
    for (const auto& field : fields_) parts.push_back(str(quoted(field.name), ": ", field.json));
    return str("{", join(parts), "}\n");
  }
  std::string lines() const {
    std::string out;
    for (const auto& field : fields_) {
      bool block = field.shown.find('\n') != std::string::npos;
      out += str(field.name, std::string(std::max<std::size_t>(1, 14 - field.name.size()), ' '), block ? "\n" : "",
                 field.shown, "\n");
    }
    return out;
  }
  std::string all() const { return FLAGS_json ? json() : lines(); }

 private:
  static std::string exact(double value) {
    char text[40];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
  }

  struct Field {
    std::string name, json, shown;
  };
  Fields& add(const char* name, const std::string& json, const std::string& shown) {
    fields_.push_back({name, json, shown});
    return *this;
  }
  std::vector<Field> fields_;
};

/// The folder that merge and import may make.
std::string folder() {
  if (!FLAGS_dir.empty()) return FLAGS_dir;
  auto folder = default_folder();
  if (folder.empty()) throw UsageError("there is no cache folder: give one with --dir or TC_CACHE_DIR");
  return folder;
}

/// The folder that all others look at.
std::string known_folder() {
  auto result = folder();
  std::error_code unknown;
  if (!std::filesystem::is_directory(result, unknown)) throw UsageError(str("there is no folder '", result, "'"));
  return result;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10 << 10) return str(bytes, " bytes");
  if (bytes < 10 << 20) return str(bytes >> 10, " KiB");
  return str(bytes >> 20, " MiB");
}

std::string time_text(double nanoseconds) {
  char text[32];
  bool micro = nanoseconds < 1e6;
  std::snprintf(text, sizeof text, "%.2f %s", nanoseconds / (micro ? 1e3 : 1e6), micro ? "us" : "ms");
  return text;
}

/// Of the program that is taken.
double least_seconds(const MeasuredDerivation& entry) {
  double result = entry.seconds;
  for (const auto& other : entry.others)
    if (!entry.certificate.empty() && other.seconds > 0) result = std::min(result, other.seconds);
  return result;
}

std::string date_text(std::int64_t seconds) {
  char text[32] = "?";
  std::time_t time = seconds;
  std::tm parts;
  if (gmtime_r(&time, &parts)) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

Fields fields_of(const StoredOptions& stored) {
  const auto& entry = stored.entry;
  Fields fields;
  fields.text("id", stored.id()).text("kind", "options").text("options", entry.options.to_text());
  fields.text("tensors", tensors_text(entry.key)).text("target", entry.key.target).text("program", entry.key.program);
  fields.flag("injected", entry.origin == Origin::Injected);
  if (const auto& measured = entry.measured) {
    fields.number("median_ns", measured->median_ns, time_text(measured->median_ns));
    fields.number("least_ns", measured->least_ns, time_text(measured->least_ns));
    fields.number("spread_ns", measured->spread_ns, time_text(measured->spread_ns));
    fields.number("runs", static_cast<double>(measured->runs)).flag("cold", measured->cold);
    fields.flag("checked", measured->checked).number("threads", static_cast<double>(measured->threads));
    fields.text("machine", measured->machine).text("build", measured->build);
  }
  fields.number("created_at", static_cast<double>(entry.created_at), date_text(entry.created_at));
  return fields.text("note", entry.note).text("file", stored.place.path());
}

Fields fields_of(const StoredCode& stored) {
  const auto& entry = stored.entry;
  Fields fields;
  fields.text("id", stored.id()).text("kind", "code").text("options", entry.options);
  fields.text("tensors", tensors_text(entry.key)).text("target", entry.key.target);
  fields.text("build", entry.build).flag("this_build", is_of_these_sources(entry.build));
  fields.flag("verified", !entry.verified_stages.empty()).text("laws_after", join(entry.verified_stages, " "));
  fields.number("compile_ms", entry.compile_milliseconds);
  fields.number("created_at", static_cast<double>(entry.created_at), date_text(entry.created_at));
  fields.number("bytes", static_cast<double>(stored.bytes)).text("file", stored.place.path());
  return fields.text("source", entry.source).text("generated", entry.generated);
}

Fields fields_of(const StoredDerivation& stored) {
  const auto& entry = stored.entry;
  Fields fields;
  fields.text("id", stored.id()).text("kind", "derivation").text("program", entry.key.program);
  fields.text("constants", join(Words(entry.key.constants.begin(), entry.key.constants.end())));
  fields.text("target", entry.key.target).text("libraries", entry.key.libraries);
  fields.text("machine", entry.key.where.machine).number("threads", static_cast<double>(entry.key.where.threads));
  fields.number("median_ns", 1e9 * entry.seconds, time_text(1e9 * entry.seconds));
  fields.number("best_ns", 1e9 * least_seconds(entry), time_text(1e9 * least_seconds(entry)));
  fields.number("programs", static_cast<double>(entry.others.size()));
  fields.number("created_at", static_cast<double>(entry.taken_at), date_text(entry.taken_at));
  return fields.text("certificate", entry.certificate).text("file", stored.place.path());
}

std::string line_of(const StoredDerivation& stored) {
  const auto& entry = stored.entry;
  return str("  ", stored.id().substr(0, 12), "  ", time_text(1e9 * entry.seconds), "  ",
             entry.certificate.empty() ? "stays" : "derived: " + time_text(1e9 * least_seconds(entry)), "  ",
             entry.key.program.substr(0, entry.key.program.find(" {")), "\n");
}

std::string line_of(const StoredOptions& stored) {
  const auto& entry = stored.entry;
  auto options = entry.options.to_text();
  auto how = entry.origin == Origin::Injected ? "injected"
             : entry.measured                 ? time_text(entry.measured->median_ns)
                                              : "-";
  return str("  ", stored.id().substr(0, 12), "  ", how, "  ", options.empty() ? "(default options)" : options, "\n");
}

void list() {
  std::string last;
  for (const auto& stored : list_options(known_folder())) {
    auto key = stored.place.name.substr(0, stored.place.name.rfind('-'));
    if (!FLAGS_json && key != last)
      print(
          str(stored.entry.key.program, "\n  ", tensors_text(stored.entry.key), " on ", stored.entry.key.target, "\n"));
    last = key;
    print(FLAGS_json ? fields_of(stored).json() : line_of(stored));
  }
  bool first = true;
  for (const auto& stored : list_derivations(known_folder())) {
    if (first && !FLAGS_json) std::cout << "prices of derived programs\n";
    first = false;
    print(FLAGS_json ? fields_of(stored).json() : line_of(stored));
  }
  first = true;
  for (const auto& stored : list_code(known_folder())) {
    const auto& entry = stored.entry;
    if (FLAGS_json) {
      print(fields_of(stored).json());
      continue;
    }
    if (first) std::cout << "machine code\n";
    first = false;
    print(str("  ", stored.id().substr(0, 12), "  ", entry.source.substr(0, entry.source.find('{')), " ",
              tensors_text(entry.key), entry.options.empty() ? "" : "  " + entry.options,
              is_of_these_sources(entry.build) ? "" : "  (of another build)", "\n"));
  }
}

std::string no_entry(const std::string& id) {
  return str("tc_cache: there is no entry '", id, "' in '", folder(), "'\n");
}

int show(const Words& ids) {
  if (ids.empty()) throw UsageError("show takes the ids of entries, as ls prints them");
  int unknown = 0;
  for (const auto& id : ids) {
    int found = 0;
    auto print_if_named = [&](const auto& stored) {
      if (stored.id().compare(0, id.size(), id) != 0) return;
      print((found++ && !FLAGS_json ? "\n" : "") + fields_of(stored).all());
    };
    for (const auto& stored : list_options(known_folder())) print_if_named(stored);
    for (const auto& stored : list_derivations(known_folder())) print_if_named(stored);
    for (const auto& stored : list_code(known_folder())) print_if_named(stored);
    if (found == 0) print(no_entry(id), std::cerr);
    unknown += found == 0;
  }
  return unknown ? 1 : 0;
}

int remove_entries(const Words& ids) {
  if (ids.empty()) throw UsageError("remove takes the ids of entries, as ls prints them");
  int unknown = 0;
  for (const auto& id : ids) {
    auto removed = cache::remove(known_folder(), id);
    if (removed == 0) print(no_entry(id), std::cerr);
    unknown += removed == 0;
  }
  return unknown ? 1 : 0;
}

void statistics() {
  auto held = stat(known_folder());
  Fields fields;
  fields.text("folder", folder()).number("keys", static_cast<double>(held.keys));
  auto count = [&](const std::string& name, const Count& count) {
    fields.number(name.c_str(), static_cast<double>(count.files), str(count.files, " files, ", size_text(count.bytes)));
    if (FLAGS_json) fields.number((name + "_bytes").c_str(), static_cast<double>(count.bytes));
  };
  count("options", held.options);
  count("derivations", held.derivations);
  count("code", held.code);
  count("other_builds", held.code_of_other_builds);
  count("unfinished", held.temporary);
  print(fields.all());
}

int verify_all() {
  auto findings = verify(known_folder());
  for (const auto& finding : findings) print(finding.problem + "\n");
  std::size_t wrong = findings.size();
  for (const auto& stored : list_derivations(known_folder())) {
    const auto why = engine::why_unproved(stored.entry);
    if (why.empty()) continue;
    print(str("'", stored.place.path(), "' proves nothing: ", why, "\n"));
    ++wrong;
  }
  for (const auto& stored : list_code(known_folder())) {
    if (stored.entry.build != compiler_build_id()) continue;
    const auto verdict = engine::proof_of(engine::Image::deserialise(stored.entry.image));
    if (verdict.outcome != proof::Outcome::Refused) continue;
    print(str("'", stored.place.path(), "' is refused by the checker: ", proof::to_string(verdict), "\n"));
    ++wrong;
  }
  if (!FLAGS_recompile) return wrong ? 1 : 0;
  for (const auto& stored : list_code(known_folder())) {
    if (stored.entry.build != compiler_build_id()) continue;
    auto problem = engine::recheck(stored.entry);
    if (problem.empty()) continue;
    print(str("'", stored.place.path(), "': ", problem, "\n"));
    ++wrong;
  }
  return wrong ? 1 : 0;
}

void transfer(const Words& sources, const char* what, Transfer (*take)(const std::string&, const std::string&)) {
  if (sources.empty()) throw UsageError(what);
  for (const auto& source : sources) {
    auto result = take(folder(), source);
    auto refused = result.refused ? str(", ", result.refused, " refused (damaged or of another version)") : "";
    print(str(source, ": ", result.taken, " new, ", result.present, " known", refused, "\n"));
  }
}

void export_all(const Words& files) {
  if (files.size() != 1) throw UsageError("export takes the file to write");
  auto count = export_entries(known_folder(), files[0], FLAGS_best_only);
  print(str(count, " entries written to ", files[0], "\n"));
}

void collect() {
  if (FLAGS_keep < 1) throw UsageError("--keep must be at least 1");
  GcRules rules;
  rules.max_bytes = parse_size(FLAGS_max_size);
  rules.results_a_key = static_cast<std::size_t>(FLAGS_keep);
  auto report = gc(known_folder(), rules);
  std::cout << report.removed.files << " files removed (" << size_text(report.removed.bytes) << "), "
            << size_text(report.bytes_left) << " left\n";
}

int run(const std::string& command, const Words& words) {
  auto takes_nothing = [&] {
    if (!words.empty()) throw UsageError(str(command, " takes no arguments"));
  };
  if (command == "show") return show(words);
  if (command == "remove") return remove_entries(words);
  if (command == "merge") return transfer(words, "merge takes the folders to add", merge), 0;
  if (command == "import") return transfer(words, "import takes the files to add", import_entries), 0;
  if (command == "export") return export_all(words), 0;
  const std::map<std::string, std::function<int()>> others = {{"ls", [] { return list(), 0; }},
                                                              {"stat", [] { return statistics(), 0; }},
                                                              {"verify", verify_all},
                                                              {"gc", [] { return collect(), 0; }}};
  auto found = others.find(command);
  if (found == others.end()) throw UsageError(str("there is no command '", command, "'"));
  takes_nothing();
  return found->second();
}

void print_help() { std::cout << help << tools::flags_of(__FILE__) << examples; }

bool asks_for_help(const Words& words) {
  for (const auto& word : words)
    if (word == "--help" || word == "-help" || word == "-h" || word == "help") return true;
  return words.empty();
}

}  // namespace

int main(int count, char** arguments) {
  if (asks_for_help({arguments + 1, arguments + count})) {
    print_help();
    return count > 1 ? 0 : 2;
  }
  gflags::ParseCommandLineFlags(&count, &arguments, true);
  Words words(arguments + 1, arguments + count);
  try {
    if (words.empty()) throw UsageError("which command?");
    return run(words[0], {words.begin() + 1, words.end()});
  } catch (const UsageError& error) {
    print(str("tc_cache: ", error.what(), "; tc_cache --help says what there is\n"), std::cerr);
  } catch (const Error& error) {
    print(str("tc_cache: ", error.what(), "\n"), std::cerr);
  }
  return 2;
}
