#include "tc/library/onednn/primitive.h"

#include <algorithm>
#include <cstdlib>
#include <list>
#include <mutex>
#include <string_view>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/library/onednn/memory.h"

namespace tc::library {
namespace {

constexpr std::size_t alignment = 64;

std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Blocks of one size, kept for the next run.
class Blocks {
 public:
  explicit Blocks(std::size_t bytes) : bytes_(rounded(bytes)) {}
  ~Blocks() {
    for (auto* block : spare_) std::free(block);
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  std::byte* take() {
    if (bytes_ == 0) return nullptr;
    {
      std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        auto* block = spare_.back();
        spare_.pop_back();
        return block;
      }
    }
    auto* block = static_cast<std::byte*>(std::aligned_alloc(alignment, bytes_));
    if (!block) throw ResourceError("no memory for what oneDNN works with");
    return block;
  }
  void give_back(std::byte* block) {
    if (!block) return;
    std::lock_guard lock(mutex_);
    spare_.push_back(block);
  }

 private:
  std::size_t bytes_;
  ForkMutex mutex_;
  std::vector<std::byte*> spare_;
};

class Lease {
 public:
  explicit Lease(Blocks& blocks) : blocks_(blocks), block_(blocks.take()) {}
  ~Lease() { blocks_.give_back(block_); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  std::byte* block() const { return block_; }

 private:
  Blocks& blocks_;
  std::byte* block_;
};

Owner<dnnl_primitive> primitive_of(const Owner<dnnl_primitive_desc>& desc) {
  dnnl_primitive_t primitive = nullptr;
  shared_onednn().check(shared_onednn().primitive_create(&primitive, desc.get()), "make a primitive");
  return own(primitive);
}

/// A reorder from one layout to another, its scratchpad of bytes.
Owner<dnnl_primitive> reorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
  const auto& dnn = shared_onednn();
  dnnl_primitive_desc_t desc = nullptr;
  dnn.check(dnn.reorder_primitive_desc_create(&desc, &from, dnn.engine, &to, dnn.engine, nullptr), "describe a copy");
  return primitive_of(own(desc));
}

/// A tensor of a primitive that runs.
struct Place {
  int arg = 0;
  std::size_t operand = 0;
  dnnl_memory_desc_t given{}, used{};
  std::optional<std::size_t> copy;  ///< where a copy stands in the block, if each run makes one
  std::optional<std::size_t> into;  ///< the place, before this one, whose memory it is copied to: no argument itself
  std::shared_ptr<std::byte> kept;  ///< the copy of a tensor that never changes
  Owner<dnnl_primitive> before, behind;
  bool is_apart = false;  ///< the primitive reads it while it writes the result, which must be elsewhere
};

Owner<dnnl_memory> memory(const dnnl_memory_desc_t& desc, void* pointer) {
  const auto& dnn = shared_onednn();
  dnnl_memory_t made = nullptr;
  dnn.check(dnn.memory_create(&made, &desc, dnn.engine, pointer), "take a tensor");
  return own(made);
}

Owner<dnnl_stream> stream_here() {
  const auto& dnn = shared_onednn();
  dnnl_stream_t made = nullptr;
  dnn.check(dnn.stream_create(&made, dnn.engine, dnnl_stream_default_flags), "make a stream");
  return own(made);
}

void execute(const Owner<dnnl_primitive>& primitive, const std::vector<dnnl_exec_arg_t>& arguments,
             const Owner<dnnl_stream>& stream) {
  const auto& dnn = shared_onednn();
  dnn.check(dnn.primitive_execute(primitive.get(), stream.get(), static_cast<int>(arguments.size()), arguments.data()),
            "run");
}

void copy(const Owner<dnnl_primitive>& reorder, const Owner<dnnl_memory>& from, const Owner<dnnl_memory>& to,
          const Owner<dnnl_stream>& stream) {
  execute(reorder, {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}}, stream);
}

/// A primitive for one number of threads, which oneDNN builds into it.
class PreparedPrimitive {
 public:
  PreparedPrimitive(std::vector<Place> places, std::size_t result, Owner<dnnl_primitive> primitive,
                    const dnnl_memory_desc_t& scratchpad, std::size_t scratchpad_offset, std::size_t bytes)
      : places_(std::move(places)),
        result_(result),
        primitive_(std::move(primitive)),
        scratchpad_(scratchpad),
        scratchpad_offset_(scratchpad_offset),
        blocks_(bytes) {}

  void run(void* const* operands) const {
    const auto& dnn = shared_onednn();
    Lease lease(blocks_);
    const auto stream = stream_here();
    std::vector<Owner<dnnl_memory>> given, used;
    std::vector<dnnl_exec_arg_t> arguments;
    for (const auto& place : places_) {
      if (place.is_apart && operands[place.operand] == operands[result_])
        throw DeviceError("oneDNN does not compute this sum in place in this number of threads");
      given.push_back(memory(place.given, operands[place.operand]));
      auto* other = place.kept ? place.kept.get() : place.copy ? lease.block() + *place.copy : nullptr;
      used.push_back(place.into ? used[*place.into] : other ? memory(place.used, other) : given.back());
      if (place.before && !is_there(place, operands)) copy(place.before, given.back(), used.back(), stream);
      if (!place.into) arguments.push_back({place.arg, used.back().get()});
    }
    const auto scratchpad = memory(scratchpad_, lease.block() + scratchpad_offset_);
    arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad.get()});
    execute(primitive_, arguments, stream);
    for (std::size_t p = 0; p < places_.size(); ++p)
      if (places_[p].behind) copy(places_[p].behind, used[p], given[p], stream);
    dnn.check(dnn.stream_wait(stream.get()), "run");
  }

 private:
  /// Is \p place the memory that it is copied into?
  bool is_there(const Place& place, void* const* operands) const {
    if (!place.into) return false;
    const auto& into = places_[*place.into];
    return !into.copy && operands[place.operand] == operands[into.operand] &&
           shared_onednn().memory_desc_equal(&place.given, &into.given);
  }

  std::vector<Place> places_;
  std::size_t result_;  ///< the operand that is written
  Owner<dnnl_primitive> primitive_;
  dnnl_memory_desc_t scratchpad_;
  std::size_t scratchpad_offset_;
  mutable Blocks blocks_;
};

/// The descriptor of \p plan for slots that lie as \p descs say, its post-ops beginning with the slot \p summed if there is
/// one; null where oneDNN has none.
Owner<dnnl_primitive_desc> described(const PrimitivePlan& plan, const std::vector<dnnl_memory_desc_t>& descs,
                                     std::optional<std::size_t> summed) {
  const auto& dnn = shared_onednn();
  dnnl_primitive_attr_t made = nullptr;
  dnn.check(dnn.primitive_attr_create(&made), "make attributes");
  const auto attributes = own(made);
  dnn.check(dnn.primitive_attr_set_scratchpad_mode(made, dnnl_scratchpad_mode_user), "take a scratchpad");
  if (plan.post_ops) dnn.check(dnn.primitive_attr_set_post_ops(made, plan.post_ops(summed).get()), "take post-ops");
  return plan.describe(descs, made);
}

bool is_reference(const Owner<dnnl_primitive_desc>& desc) {
  const char* name = nullptr;
  shared_onednn().primitive_desc_query(desc.get(), dnnl_query_impl_info_str, 0, &name);
  return !name || std::string_view(name).substr(0, 3) == "ref";
}

/// Which slots lie in a layout that oneDNN chooses: none, weights, all that may.
enum class Converted { None, Weights, All };

bool is_converted(const Slot& slot, Converted which) {
  if (!slot.may_convert || which == Converted::None) return false;
  return which == Converted::All || slot.arg == DNNL_ARG_WEIGHTS;
}

/// The layouts of slots that \p which lets oneDNN choose left open.
std::vector<dnnl_memory_desc_t> open_layouts(const PrimitivePlan& plan, Converted which) {
  std::vector<dnnl_memory_desc_t> result;
  for (const auto& slot : plan.slots) result.push_back(is_converted(slot, which) ? any_layout(slot.desc) : slot.desc);
  return result;
}

std::size_t result_slot(const PrimitivePlan& plan) {
  return static_cast<std::size_t>(
      std::find_if(plan.slots.begin(), plan.slots.end(), [](const Slot& slot) { return slot.arg == DNNL_ARG_DST; }) -
      plan.slots.begin());
}

/// What may be summed in the result's memory, the best first.
std::vector<std::optional<std::size_t>> summed_slots(const PrimitivePlan& plan) {
  std::vector<std::optional<std::size_t>> result{std::nullopt};
  for (std::size_t s = plan.slots.size(); s-- > 0;)
    if (plan.likes_own_layouts && plan.slots[s].adds_to_all) result.insert(result.begin(), s);
  return result;
}

/// The primitive of \p plan with the layouts that \p which leaves to oneDNN; nothing where it has none or a reference.
std::optional<ChosenPrimitive> chosen_with(const PrimitivePlan& plan, Converted which,
                                           std::optional<std::size_t> summed) {
  ChosenPrimitive result{nullptr, open_layouts(plan, which), summed};
  result.desc = described(plan, result.descs, summed);
  if (!result.desc || is_reference(result.desc)) return std::nullopt;
  for (std::size_t s = 0; s < plan.slots.size(); ++s)
    if (is_converted(plan.slots[s], which))
      result.descs[s] =
          *shared_onednn().primitive_desc_query_md(result.desc.get(), dnnl_query_exec_arg_md, plan.slots[s].arg);
  if (summed) result.descs[*summed] = result.descs[result_slot(plan)];
  return result;
}

}  // namespace

std::optional<ChosenPrimitive> choose_primitive(const PrimitivePlan& plan, bool weights_are_held) {
  std::vector<Converted> ways{Converted::None, Converted::Weights, Converted::All};
  if (weights_are_held) std::swap(ways[0], ways[1]);
  if (plan.likes_own_layouts) std::reverse(ways.begin(), ways.end());
  for (auto which : ways)
    for (auto summed : summed_slots(plan))
      if (auto result = chosen_with(plan, which, summed)) return result;
  return std::nullopt;
}

namespace {

/// Pointers of operands that never change; null for others. Empty: none is known.
using Held = std::vector<void*>;

void* held_data(const Held& held, const Slot& slot) {
  return slot.operand < held.size() ? held[slot.operand] : nullptr;
}

/// The tensor at \p data, which lies as place.given, as place.used.
std::shared_ptr<std::byte> kept_copy(const Place& place, void* data) {
  const auto& dnn = shared_onednn();
  const auto bytes = rounded(dnn.memory_desc_get_size(&place.used));
  std::shared_ptr<std::byte> result(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)), std::free);
  if (!result) throw ResourceError("no memory for weights as oneDNN likes them");
  const auto stream = stream_here();
  copy(reorder(place.given, place.used), memory(place.given, data), memory(place.used, result.get()), stream);
  dnn.check(dnn.stream_wait(stream.get()), "copy weights");
  return result;
}

std::unique_ptr<const PreparedPrimitive> made_ready(const PrimitivePlan& plan, const ChosenPrimitive& chosen,
                                                    const Held& held) {
  const auto& dnn = shared_onednn();
  std::vector<Place> places;
  std::size_t bytes = 0;
  for (std::size_t s = 0; s < plan.slots.size(); ++s) {
    const auto& slot = plan.slots[s];
    Place place{slot.arg,     slot.operand, slot.desc, chosen.descs[s], std::nullopt,
                std::nullopt, nullptr,      nullptr,   nullptr};
    if (s == chosen.summed) {
      place.into = result_slot(plan);
      place.before = reorder(place.given, place.used);
      if (is_same_memory(place.given, place.used)) place.given = place.used;
      places.push_back(std::move(place));
      continue;
    }
    place.is_apart = slot.adds_to_all;
    if (is_same_memory(place.given, place.used)) {
      place.given = place.used;
      places.push_back(std::move(place));
      continue;
    }
    if (auto* data = held_data(held, slot)) {
      place.kept = kept_copy(place, data);
      places.push_back(std::move(place));
      continue;
    }
    place.copy = bytes;
    bytes += rounded(dnn.memory_desc_get_size(&place.used));
    if (slot.arg == DNNL_ARG_DST)
      place.behind = reorder(place.used, place.given);
    else
      place.before = reorder(place.given, place.used);
    places.push_back(std::move(place));
  }
  const auto* scratchpad = dnn.primitive_desc_query_md(chosen.desc.get(), dnnl_query_scratchpad_md, 0);
  const auto offset = bytes;
  bytes += dnn.memory_desc_get_size(scratchpad);
  const auto result = plan.slots[result_slot(plan)].operand;
  return std::make_unique<PreparedPrimitive>(std::move(places), result, primitive_of(chosen.desc), *scratchpad, offset,
                                             bytes);
}

/// A primitive for each number of threads that it is run with. OpenMP loses its threads in a forked child: there it is
/// another one, for one thread.
class PrimitiveOfThreads : public Invocation {
 public:
  explicit PrimitiveOfThreads(PrimitivePlan plan, Held held = {}) : plan_(std::move(plan)), held_(std::move(held)) {}

  void run(void* const* operands, int threads) const override {
    const int own = fork_generation() == 0 ? threads : 1;
    OmpThreads scope(own);
    primitive_for(own).run(operands);
  }

  std::unique_ptr<Invocation> hold(const std::vector<void*>& operands) const override {
    const auto may_gain = [&](const Slot& slot) { return slot.may_convert && held_data(operands, slot); };
    if (std::none_of(plan_.slots.begin(), plan_.slots.end(), may_gain)) return nullptr;
    return std::make_unique<PrimitiveOfThreads>(plan_, operands);
  }

 private:
  struct Made {
    int threads = 0;
    std::uint64_t generation = 0;
    std::unique_ptr<const PreparedPrimitive> primitive;
  };

  const PreparedPrimitive* find(int threads) const {
    std::lock_guard lock(mutex_);
    for (const auto& made : made_)
      if (made.threads == threads && made.generation == fork_generation()) return made.primitive.get();
    return nullptr;
  }

  const PreparedPrimitive& primitive_for(int threads) const {
    if (const auto* known = find(threads)) return *known;
    const auto chosen = choose_primitive(plan_, holds_weights());
    if (!chosen) throw DeviceError("oneDNN has no implementation for this number of threads");
    auto made = made_ready(plan_, *chosen, held_);
    std::lock_guard lock(mutex_);
    made_.push_back({threads, fork_generation(), std::move(made)});
    return *made_.back().primitive;
  }

  bool holds_weights() const {
    return std::any_of(plan_.slots.begin(), plan_.slots.end(),
                       [&](const Slot& slot) { return slot.arg == DNNL_ARG_WEIGHTS && held_data(held_, slot); });
  }

  PrimitivePlan plan_;
  Held held_;
  mutable ForkMutex mutex_;
  mutable std::list<Made> made_;
};

}  // namespace

std::unique_ptr<Invocation> make_invocation(PrimitivePlan plan) {
  return std::make_unique<PrimitiveOfThreads>(std::move(plan));
}

}  // namespace tc::library
