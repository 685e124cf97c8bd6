#include "tc/autotuner/worker/device.h"

#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/device.h"
#include "tc/engine/machine/machine_kind.h"

namespace tc::autotuner {
namespace {

using engine::Executable;

/// Those of \p pointers, one an argument of the def, that \p executable takes: constants are bound in it.
std::vector<void*> taken(const Executable& executable, void* const* pointers) {
  const auto& image = executable.image();
  std::set<std::size_t> bound;
  for (const auto& constant : image.constants)
    if (constant.parameter) bound.insert(*constant.parameter);
  std::vector<void*> result;
  for (std::size_t i = 0; i < image.arguments.size() + bound.size(); ++i)
    if (!bound.count(i)) result.push_back(pointers[i]);
  return result;
}

class Processor : public Device {
 public:
  explicit Processor(Tensors& tensors) : tensors_(tensors) {}

  void run(const Executable& executable) override {
    tensors_.poison();
    executable.run_unchecked(taken(executable, tensors_.pointers()).data());
  }

  Timing time(const Executable& executable, int calls) override {
    const auto pointers = taken(executable, tensors_.pointers());
    const auto run = [&] {
      for (int i = 0; i < calls; ++i) executable.run_unchecked(pointers.data());
    };
    return time_calls(run, calls);
  }

 private:
  Tensors& tensors_;
};

/// Memory of a GPU that mirrors memory of the host.
class Mirror {
 public:
  Mirror(cuda::Place place, char* host, std::size_t bytes) : place_(place), host_(host), bytes_(bytes) {
    cuda::InContext context(place_.device);
    cuda::driver().check(cuda::driver().allocate(&device_, bytes_), str("allocate ", bytes_, " bytes for a tensor"));
  }
  ~Mirror() { cuda::driver().release(device_); }
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  void to_device() const {
    cuda::driver().check(cuda::driver().copy_to_device(device_, host_, bytes_, place_.stream), "copy a tensor there");
  }
  void to_host() const {
    cuda::driver().check(cuda::driver().copy_to_host(host_, device_, bytes_, place_.stream), "copy a tensor back");
  }
  /// What is for the GPU what \p pointer is for the host.
  void* twin(const void* pointer) const {
    return reinterpret_cast<void*>(device_ + static_cast<std::size_t>(static_cast<const char*>(pointer) - host_));
  }

 private:
  cuda::Place place_;
  char* host_;
  std::size_t bytes_;
  cuda::Driver::Pointer device_ = 0;
};

class Gpu : public Device {
 public:
  Gpu(int ordinal, Tensors& tensors) : place_{ordinal, nullptr}, at_(place_), context_(ordinal), tensors_(tensors) {
    auto blocks = tensors.blocks();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      mirrors_.push_back(std::make_unique<Mirror>(place_, blocks[i].data(), blocks[i].size()));
      pointers_.push_back(mirrors_.back()->twin(tensors.pointers()[i]));
    }
  }

  void run(const Executable& executable) override {
    tensors_.poison();
    for (const auto& mirror : mirrors_) mirror->to_device();
    executable.prepare();
    executable.run_unchecked(pointers_.data());
    for (const auto& mirror : mirrors_) mirror->to_host();
    cuda::synchronise(place_);
  }

  Timing time(const Executable& executable, int calls) override {
    cuda::Timer timer(place_);
    for (int i = 0; i < calls; ++i) executable.run_unchecked(pointers_.data());
    const double seconds = static_cast<double>(timer.stop()) * 1e-9 / calls;
    return {seconds, seconds, seconds, seconds};  // by the clock of the device, which runs nothing else
  }

 private:
  cuda::Place place_;
  cuda::AtPlace at_;
  cuda::InContext context_;
  Tensors& tensors_;
  std::vector<std::unique_ptr<Mirror>> mirrors_;
  std::vector<void*> pointers_;
};

}  // namespace

std::unique_ptr<Device> make_device(const Target& target, int ordinal, Tensors& tensors) {
  if (!engine::machine_kind_of(target).own_memory) return std::make_unique<Processor>(tensors);
  return std::make_unique<Gpu>(ordinal, tensors);
}

std::vector<int> find_gpus(const Target& target, const std::vector<int>& wanted) {
  std::vector<int> found;
  std::vector<std::string> others;
  for (int i = 0; i < cuda::device_count(); ++i) {
    auto architecture = cuda::device_architecture(i);
    if (architecture == target.grid->architecture) found.push_back(i);
    others.push_back(architecture);
  }
  if (found.empty())
    throw DeviceError(
        str("tuning for ", to_string(target), " needs a GPU of that architecture; this machine has ", join(others)));
  std::set<int> given;
  for (int device : wanted) {
    if (std::find(found.begin(), found.end(), device) == found.end())
      throw OptionsError(
          str("device ", device, " is no ", target.grid->architecture, " of this machine; there are ", join(found)));
    if (!given.insert(device).second)
      throw OptionsError(str("device ", device, " is given twice: a GPU measures one candidate at a time"));
  }
  return wanted.empty() ? found : wanted;
}

}  // namespace tc::autotuner
