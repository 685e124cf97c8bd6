#include <pybind11/stl.h>

#include "bind_class.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "tc/engine/describe/roofline.h"

namespace py = pybind11;

namespace tc::python {
namespace {

using namespace py::literals;

py::dict dict_of(const strategy::Work& work) {
  return py::dict("adds"_a = work.adds, "multiplies"_a = work.multiplies, "fused"_a = work.fused,
                  "divisions"_a = work.divisions, "square_roots"_a = work.square_roots, "functions"_a = work.functions,
                  "comparisons"_a = work.comparisons, "integers"_a = work.integers);
}

py::dict dict_of(const strategy::Transfer& transfer) {
  return py::dict("read"_a = transfer.read, "written"_a = transfer.written);
}

/// What goes between each two levels, by \p level(number).
template <typename Level>
py::dict levels(Level&& level) {
  py::dict result;
  for (std::size_t i = 0; i < strategy::Traffic::names.size(); ++i)
    result[strategy::Traffic::names[i]] = dict_of(level(i));
  return result;
}

/// Seconds of one core by what takes them, and of the whole on all cores.
py::dict dict_of(const strategy::Price& price) {
  const auto seconds = [&](double cycles) { return cycles / price.hertz; };
  const auto& core = price.core;
  py::dict terms("operations"_a = seconds(core.operations), "loads"_a = seconds(core.loads),
                 "stores"_a = seconds(core.stores), "shuffles"_a = seconds(core.shuffles),
                 "instructions"_a = seconds(core.instructions), "latency"_a = seconds(core.latency),
                 "loops"_a = seconds(core.loops), "copies"_a = seconds(price.copy_cycles + price.copy_waits),
                 "stalls"_a = seconds(price.stalls), "from L2"_a = seconds(price.cycles[0]),
                 "from L3"_a = seconds(price.cycles[1]), "from memory"_a = seconds(price.cycles[2]),
                 "threads"_a = seconds(price.threads));
  return py::dict("seconds"_a = price.seconds, "cores"_a = price.busy, "terms"_a = terms);
}

/// Seconds of the busiest multiprocessor by what takes them, and of the whole with the launch.
py::dict dict_of(const strategy::GridPrice& price) {
  const auto seconds = [&](double cycles) { return cycles / price.hertz; };
  py::dict terms("instructions"_a = seconds(price.instructions), "operations"_a = seconds(price.operations),
                 "functions"_a = seconds(price.functions), "units"_a = seconds(price.units),
                 "shared memory"_a = seconds(price.rounds), "from L2"_a = seconds(price.l2),
                 "latency"_a = seconds(price.latency), "starts"_a = seconds(price.starts), "memory"_a = price.memory);
  return py::dict("seconds"_a = price.seconds, "occupancy"_a = price.occupancy, "terms"_a = terms,
                  "bytes"_a = py::dict("L2"_a = price.l2_bytes, "memory"_a = price.memory_bytes));
}

py::dict dict_of(const engine::WorkReport& report) {
  py::dict result;
  result["flops"] = report.work.flops();
  result["exact"] = report.work.exact;
  result["operations"] = dict_of(report.work);
  py::list prices;
  for (const auto& price : report.prices) prices.append(dict_of(price));
  for (const auto& price : report.grid_prices) prices.append(dict_of(price));
  result["prices"] = prices;
  result["not_predicted"] = report.traffic ? py::object(py::none()) : py::object(py::str(report.no_traffic));
  if (!report.traffic) return result;
  const auto& traffic = *report.traffic;
  result["bytes"] = levels([&](std::size_t level) { return traffic.total(static_cast<int>(level)); });
  result["compulsory_bytes"] = dict_of(traffic.compulsory());
  result["intensity"] = report.intensity();
  py::dict tensors;
  for (const auto& tensor : traffic.tensors) {
    py::dict entry = levels([&](std::size_t level) { return tensor.levels[level]; });
    entry["argument"] = tensor.argument;
    entry["unique"] = dict_of(tensor.unique);
    tensors[py::str(tensor.name)] = entry;
  }
  result["tensors"] = tensors;
  return result;
}

/// The position of a run as numbers, and as text.
py::tuple position(const engine::WorkReport& report, const std::string& target, double seconds) {
  engine::Roofline roofline;
  {
    const Unlocked unlocked;
    roofline = engine::roofline(report, Target::parse(target), seconds);
  }
  auto limit = [](double value) { return value > 0 ? py::object(py::float_(value)) : py::object(py::none()); };
  py::dict result(
      "seconds"_a = roofline.seconds, "threads"_a = roofline.threads, "gflops"_a = roofline.flops,
      "peak_gflops"_a = limit(roofline.limits.flops), "share_of_peak"_a = limit(roofline.share_of_peak()),
      "gbytes"_a = limit(roofline.bandwidth), "peak_gbytes"_a = limit(roofline.limits.bandwidth),
      "share_of_bandwidth"_a = limit(roofline.share_of_bandwidth()), "bound"_a = roofline.bound(),
      "cache"_a = roofline.cache > 0 ? py::object(py::str(str("L", roofline.cache))) : py::object(py::none()));
  return py::make_tuple(result, engine::to_string(roofline));
}

}  // namespace

void bind_work(py::module_& m) {
  bind_class<engine::WorkReport>(m, "WorkReport", "What one run of a def computes and moves.")
      .def("_as_dict", [](const engine::WorkReport& self) { return dict_of(self); })
      .def("_text", [](const engine::WorkReport& self) { return engine::to_string(self); })
      .def("_roofline", &position, py::arg("target"), py::arg("seconds"));
}

}  // namespace tc::python
