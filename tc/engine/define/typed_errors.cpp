#include "tc/engine/define/typed_errors.h"

#include <cxxabi.h>

#include <new>
#include <string_view>
#include <system_error>

#include "tc/base/error.h"
#include "tc/base/plain_text.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::engine {
namespace {

constexpr std::size_t most_text = 1 << 16;

/// An InternalError that says how to see it again.
struct ReproducibleError : InternalError {
  using InternalError::InternalError;
};

/// \p reproduction's text, or nothing where writing it fails too.
std::string written(const Reproduction& reproduction) {
  try {
    return str("\nPlease report this bug of the compiler with what follows.\n", reproduction());
  } catch (const std::exception&) {
    return {};
  }
}

[[noreturn]] void out_of_memory(const char* where) {
  throw ResourceError(str("the memory of this process is exhausted in ", where));
}

}  // namespace

void rethrow_typed(const char* where, const Reproduction& reproduction) {
  std::string cause;
  try {
    throw;
  } catch (const ReproducibleError&) {
    throw;
  } catch (const InternalError& error) {
    throw ReproducibleError(error.what() + written(reproduction));
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    out_of_memory(where);
  } catch (const isl::exception_alloc&) {
    out_of_memory(where);
  } catch (const std::system_error& error) {
    throw ResourceError(str("the system refused what is needed in ", where, ": ", error.what()));
  } catch (const isl::exception& error) {
    cause = str("isl failed: ", error.what());
  } catch (const Halide::Error& error) {
    cause = str("Halide failed: ", error.what());
  } catch (const std::exception& error) {
    cause = error.what();
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    cause = "an exception of an unknown type";
  }
  throw ReproducibleError(str("unexpected in ", where, ": ", cause, written(reproduction)));
}

std::string reproduction_of(const std::string& text, std::span<const TensorSpec> tensors, const std::string& target,
                            const std::string& options) {
  TextStream out;
  if (!target.empty()) out << "target: " << target << "\n";
  if (!target.empty()) out << "options: " << (options.empty() ? "default" : options) << "\n";
  if (!target.empty()) out << "tensors:";
  for (const auto& tensor : tensors) out << " " << tensor << ";";
  if (!target.empty()) out << "\n";
  out << "text:\n" << plain_text(std::string_view(text).substr(0, most_text));
  if (text.size() > most_text) out << "\n... " << text.size() - most_text << " bytes more";
  return out.str();
}

}  // namespace tc::engine
