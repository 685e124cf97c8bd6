#include "cache.h"

#include <pybind11/stl.h>

#include "bind_class.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "tc/base/error.h"
#include "tc/base/plain_text.h"
#include "tc/base/str.h"
#include "tc/cache/build_id.h"
#include "tc/cache/environment.h"
#include "tc/cache/maintain.h"
#include "tc/engine/graph/derive_part.h"
#include "tc/engine/persistent.h"
#include "tc/engine/recheck.h"

namespace py = pybind11;

namespace tc::python {
namespace {

using CachePointer = std::shared_ptr<cache::Cache>;

CachePointer open(const std::string& folder, const std::string& mode, const std::string& override_folder,
                  const std::vector<std::string>& shared, const std::string& max_size) {
  cache::CacheSettings settings;
  settings.folder = folder;
  settings.writable = cache::parse_mode(mode);
  settings.override_folder = override_folder;
  settings.shared = shared;
  settings.max_bytes = cache::parse_size(max_size);
  return std::make_shared<cache::Cache>(std::move(settings));
}

/// Calls \p visit with the name and the value of each field of \p measured.
template <typename Measured, typename Visit>
void for_each_field(Measured& measured, Visit&& visit) {
  visit("median_ns", measured.median_ns);
  visit("least_ns", measured.least_ns);
  visit("spread_ns", measured.spread_ns);
  visit("runs", measured.runs);
  visit("cold", measured.cold);
  visit("checked", measured.checked);
  visit("threads", measured.threads);
  visit("machine", measured.machine);
  visit("build", measured.build);
  visit("taken_at", measured.taken_at);
}

py::object to_python(const std::optional<cache::Measurement>& measured) {
  if (!measured) return py::none();
  py::dict result;
  for_each_field(*measured, [&](const char* name, const auto& value) { result[name] = value; });
  return result;
}

/// The measurement that the items of \p values say. Throws ArgumentError.
cache::Measurement to_measurement(const py::dict& values) {
  cache::Measurement measured;
  for_each_field(measured, [&](const char* name, auto& value) {
    if (values.contains(name)) value = values[name].template cast<std::decay_t<decltype(value)>>();
  });
  if (!(measured.median_ns > 0)) throw ArgumentError("a measurement needs a median_ns greater than 0");
  return measured;
}

using namespace py::literals;

py::dict to_python(const cache::OptionsEntry& entry) {
  return py::dict("options"_a = entry.options, "injected"_a = entry.origin == cache::Origin::Injected,
                  "measured"_a = to_python(entry.measured), "created_at"_a = entry.created_at, "note"_a = entry.note,
                  "program"_a = entry.key.program, "tensors"_a = cache::tensors_text(entry.key),
                  "target"_a = entry.key.target);
}

/// The same in the names of the def of \p key.
py::dict to_python(const cache::OptionsEntry& entry, const CacheKey& key) {
  auto result = to_python(entry);
  result["options"] = engine::with_names_of(*key.function, entry.options);
  return result;
}

cache::Circumstances here(const CacheKey& key) { return engine::circumstances_here(Target::parse(key.key.target)); }

py::list find(cache::Cache& self, const CacheKey& key) {
  py::list result;
  for (const auto& entry : self.find(key.key, here(key))) result.append(to_python(entry, key));
  give_warnings(self);
  return result;
}

py::object nearest(cache::Cache& self, const CacheKey& key) {
  auto found = self.nearest(key.key, here(key));
  give_warnings(self);
  if (!found) return py::none();
  auto result = to_python(found->entry, key);
  result["distance"] = found->distance;
  return result;
}

/// Throws ArgumentError for a note that is no plain text, ResourceError where the cache does not take it.
void put(cache::Cache& self, const CacheKey& key, const options::MappingOptions& options, bool injected,
         const std::optional<py::dict>& measured, const std::string& note) {
  if (!self.settings().writable) throw ResourceError("the cache is only read: nothing can be put into it");
  if (!is_plain_text(note)) throw ArgumentError("note= must be plain text: UTF-8, without control characters");
  cache::OptionsEntry entry;
  entry.key = key.key;
  entry.options = engine::canonical(options, *key.function);
  entry.origin = injected ? cache::Origin::Injected : cache::Origin::Tuned;
  if (measured) entry.measured = to_measurement(*measured);
  entry.note = note;
  if (self.put(std::move(entry))) return;
  auto warnings = self.take_warnings();
  throw ResourceError(str("the cache did not take the options: ",
                          warnings.empty() ? "for a reason it has warned of before" : join(warnings)));
}

py::list entries(const cache::Cache& self) {
  py::list result;
  for (const auto& stored : cache::list_options(self.settings().folder)) {
    auto entry = to_python(stored.entry);
    entry["id"] = stored.id();
    result.append(entry);
  }
  return result;
}

py::dict to_python(const cache::StoredCode& stored) {
  const auto& entry = stored.entry;
  return py::dict(
      "id"_a = stored.id(), "options"_a = entry.options, "source"_a = entry.source, "generated"_a = entry.generated,
      "tensors"_a = cache::tensors_text(entry.key), "target"_a = entry.key.target, "build"_a = entry.build,
      "this_build"_a = cache::is_of_these_sources(entry.build), "verified_stages"_a = entry.verified_stages,
      "compile_ms"_a = entry.compile_milliseconds, "created_at"_a = entry.created_at, "bytes"_a = stored.bytes);
}

py::list code(const cache::Cache& self) {
  py::list result;
  for (const auto& stored : cache::list_code(self.settings().folder)) result.append(to_python(stored));
  return result;
}

py::dict to_python(const cache::Count& count) { return py::dict("files"_a = count.files, "bytes"_a = count.bytes); }

py::dict stat(const cache::Cache& self) {
  auto held = cache::stat(self.settings().folder);
  return py::dict("folder"_a = self.settings().folder, "keys"_a = held.keys, "options"_a = to_python(held.options),
                  "derivations"_a = to_python(held.derivations), "code"_a = to_python(held.code),
                  "code_of_other_builds"_a = to_python(held.code_of_other_builds),
                  "unfinished"_a = to_python(held.temporary));
}

std::vector<std::string> verify(const cache::Cache& self, bool recompile) {
  const Unlocked unlocked;
  std::vector<std::string> problems;
  for (const auto& finding : cache::verify(self.settings().folder)) problems.push_back(finding.problem);
  for (const auto& stored : cache::list_derivations(self.settings().folder))
    if (const auto why = engine::why_unproved(stored.entry); !why.empty())
      problems.push_back(str("'", stored.place.path(), "' proves nothing: ", why));
  if (!recompile) return problems;
  for (const auto& stored : cache::list_code(self.settings().folder)) {
    if (stored.entry.build != cache::compiler_build_id()) continue;
    auto problem = engine::recheck(stored.entry);
    if (!problem.empty()) problems.push_back(str("'", stored.place.path(), "': ", problem));
  }
  return problems;
}

const std::string& writable_folder(const cache::Cache& self) {
  if (!self.settings().writable) throw ResourceError("the cache is only read: its folder is not changed");
  return self.settings().folder;
}

py::dict to_python(const cache::Transfer& transfer) {
  return py::dict("taken"_a = transfer.taken, "present"_a = transfer.present, "refused"_a = transfer.refused);
}

py::dict collect(const cache::Cache& self, const std::optional<std::string>& max_size, std::size_t results_a_key) {
  cache::GcRules rules;
  rules.max_bytes = max_size ? cache::parse_size(*max_size) : self.settings().max_bytes;
  rules.results_a_key = results_a_key;
  auto report = cache::gc(writable_folder(self), rules);
  return py::dict("removed"_a = to_python(report.removed), "bytes_left"_a = report.bytes_left);
}

}  // namespace

void give_warnings(cache::Cache& cache) {
  for (const auto& warning : cache.take_warnings())
    if (PyErr_WarnEx(PyExc_RuntimeWarning, plain_text(str("tensor_comprehensions cache: ", warning)).c_str(), 1) != 0)
      throw py::error_already_set();
}

void bind_cache(py::module_& m) {
  bind_class<CacheKey>(m, "CacheKey", "A def, tensors and a target, as a cache names them.")
      .def(
          "of_layouts", [](const CacheKey& self) { return CacheKey{self.function, cache::of_layouts(self.key)}; },
          "The key under which layouts are kept.");
  bind_class<cache::Cache, CachePointer>(m, "Cache", "What was learnt about kernels, kept between processes.")
      .def(py::init(&open), py::arg("folder"), py::arg("mode"), py::arg("override"), py::arg("shared"),
           py::arg("max_size"))
      .def_property_readonly("folder", [](const cache::Cache& self) { return self.settings().folder; })
      .def_property_readonly("writable", [](const cache::Cache& self) { return self.settings().writable; })
      .def("find", &find, py::arg("key"))
      .def("nearest", &nearest, py::arg("key"))
      .def("put", &put, py::arg("key"), py::arg("options"), py::arg("injected"), py::arg("measured"), py::arg("note"))
      .def("entries", &entries)
      .def("code", &code)
      .def("stat", &stat)
      .def("verify", &verify, py::arg("recompile"))
      .def(
          "merge",
          [](const cache::Cache& self, const std::string& from) {
            return to_python(cache::merge(writable_folder(self), from));
          },
          py::arg("folder"))
      .def(
          "export_entries",
          [](const cache::Cache& self, const std::string& file, bool best_only) {
            return cache::export_entries(self.settings().folder, file, best_only);
          },
          py::arg("file"), py::arg("best_only"))
      .def(
          "import_entries",
          [](const cache::Cache& self, const std::string& file) {
            return to_python(cache::import_entries(writable_folder(self), file));
          },
          py::arg("file"))
      .def(
          "remove",
          [](const cache::Cache& self, const std::string& id) { return cache::remove(writable_folder(self), id); },
          py::arg("id"))
      .def("gc", &collect, py::arg("max_size"), py::arg("results_a_key"));
  m.def("environment_cache", &cache::from_environment,
        "The cache that the environment asks for; None where it is off.");
  m.def(
      "measurement_here", [] { return to_python(std::optional(cache::measurement_here())); },
      "The items of a measurement that say where and when.");
  m.def("compiler_build", &cache::compiler_build_id, "Equal for two processes whose compilers make the same code.");
}

}  // namespace tc::python
