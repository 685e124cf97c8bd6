#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tc/base/target.h"
#include "tc/layout/map/layout.h"
#include "tc/library/description/call.h"

/// Libraries as descriptions: what a library computes is said by TC defs, and a def is a call of a routine where both read
/// and write the same. A library is a folder with a function that returns its Library, named in registry.cpp; nothing
/// else knows it.
///
///   Library{"toy", 1, find, {Routine{
///       .name = "outer",
///       .def = "def outer(float(M) a, float(N) b) -> (C) { C(m,n) = a(m) * b(n) }",
///       .types = {{Float32, Float32, Float32}},
///       .prepare = [](const Call& call) { return std::make_unique<Outer>(call); }}}}
namespace tc::library {

/// A stream of a GPU that calls are put into. The device's context is current for the thread.
struct Queue {
  int device = 0;
  void* stream = nullptr;
  std::byte* workspace = nullptr;  ///< of as many bytes as Invocation::prepare() asks for
};

/// A call made ready. Any number of threads may run it at once. A library of processors implements run(), one of GPUs
/// prepare() and enqueue().
class Invocation {
 public:
  virtual ~Invocation() = default;
  /// Runs on \p operands, pointers to the elements of indices 0 of the operands of the call and of those of its post-ops,
  /// in at most \p threads threads. Throws DeviceError where the library reports a failure.
  virtual void run(void* const* operands, int threads) const;
  /// Makes the call ready for \p device, whose context is current, so that enqueue() allocates nothing there: the bytes of
  /// workspace that it needs. Throws DeviceError where the library refuses, ResourceError where memory runs out.
  virtual std::size_t prepare(int device) const;
  /// Puts the call on \p operands, pointers of the device, into \p queue and does not wait. Throws DeviceError.
  virtual void enqueue(void* const* operands, const Queue& queue) const;
  /// The same, where operands never change: \p operands are their pointers, null for one that each run gives. It may keep
  /// them in a layout of its own; run() takes pointers of all operands still. Null where it gains nothing.
  virtual std::unique_ptr<Invocation> hold(const std::vector<void*>& operands) const {
    static_cast<void>(operands);
    return nullptr;
  }
};

/// A function of a library.
struct Routine {
  std::string name;
  /// What it computes: one def of one return. Sizes are names in upper case; so are attributes, which stand in
  /// subscripts and ranges as sizes do: S*y + D*r - P is a window of stride S, dilation D and padding P.
  std::string def;
  /// Types of the parameters and the return that it takes.
  std::vector<std::vector<DType>> types;
  /// Does it take post-ops at all? Which, `accepts` says.
  bool post_ops = false;
  /// May iterators of the result that the def has not be loops around it?
  bool loops = false;
  /// Does it take operands whose dimensions lie in blocks (Operand::blocks)?
  bool blocks = false;
  /// Does it give what its def says also where a value on its way is infinite or NaN? One that does not computes only
  /// what is taken to be finite.
  bool special_values = true;
  /// Is its relu always 0 for a NaN, as fmax(x, 0) and x > 0 ? x : 0 are? Where not, it is called for no relu but those
  /// of what is taken to be finite.
  bool relu_drops_nan = false;
  /// Does it take PostOp::Kind::Gelu, of what is taken to be finite? And AtMost?
  bool gelu = false, at_most = false;
  /// Does it take \p call? Null: any.
  std::function<bool(const Call& call)> accepts = nullptr;
  /// The operands of \p call in the strides and blocks that it would copy them to in each run; an operand that it takes as it lies is
  /// unchanged. Null: it takes all as they lie.
  std::function<std::vector<Operand>(const Call& call)> guideline = nullptr;
  /// The post-op of \p call whose operand it copies to the result before it runs, unless it is there already: the call may run in place
  /// of it. Nothing: none. Null: none of any call.
  std::function<std::optional<std::size_t>(const Call& call)> in_place = nullptr;
  /// Seconds that a call may take on a GPU of these limits, not measured; null for libraries of processors.
  std::function<double(const Call& call, const GridLimits& limits)> seconds = nullptr;
  /// Makes a call ready that `accepts` took. Throws DeviceError where the library refuses it.
  std::function<std::unique_ptr<Invocation>(const Call& call)> prepare = nullptr;
};

/// Whether a library is on this machine.
struct Presence {
  std::string version;  ///< "": it is not
  std::string reason;   ///< why it is not
};

/// A layout by the name that a library has for it.
struct NamedLayout {
  std::string name;
  layout::Layout layout;
};

struct Library {
  std::string name;
  int priority = 0;  ///< among libraries of one price: the highest first
  /// Loads it, once a process.
  std::function<const Presence&()> find;
  std::vector<Routine> routines;  ///< the ones to be preferred first
  /// Layouts that routines are written for, whose defs are those of the tensors that hold the elements. A graph whose layouts are
  /// chosen is asked whether they take its nodes in these, operand by operand.
  std::vector<NamedLayout> layouts = {};
  Machine machine = Machine::Cpu;

  /// Null where it has none of that name.
  const Routine* routine(const std::string& name) const;
};

/// The number of elements of operand dimensions and the like that routines compute offsets in fit an int of C.
bool fits_int(std::int64_t value);

}  // namespace tc::library
