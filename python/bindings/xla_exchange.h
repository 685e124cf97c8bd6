#pragma once

#include <cstddef>
#include <cstdint>

/// The parts of XLA's interface for foreign functions that a handler on a CPU needs, by the layout that its C header
/// (xla/ffi/api/c_api.h, major version 0) fixes: XLA keeps it stable, and every struct tells its size.
namespace tc::python::xla {

enum class DataType : std::int32_t {
  Bool = 1,
  Int8 = 2,
  Int16 = 3,
  Int32 = 4,
  Int64 = 5,
  UInt8 = 6,
  UInt16 = 7,
  UInt32 = 8,
  UInt64 = 9,
  Float16 = 10,
  Float32 = 11,
  Float64 = 12,
  BFloat16 = 16,
};

enum class ErrorCode : std::int32_t { InvalidArgument = 3, NotFound = 5, FailedPrecondition = 9, Internal = 13 };
enum class Stage : std::int32_t { Instantiate, Prepare, Initialise, Execute };

struct Extension {
  std::size_t struct_size;
  std::int32_t type;
  Extension* next;
};

struct ApiVersion {
  std::size_t struct_size;
  Extension* extensions;
  int major;
  int minor;
};

struct Metadata {
  std::size_t struct_size;
  ApiVersion version;
  std::uint32_t traits;
};

/// With this extension XLA asks for the version that a handler was written for, and for nothing else.
struct MetadataExtension {
  static constexpr std::int32_t type = 1;
  Extension base;
  Metadata* metadata;
};

struct Error;

struct ErrorArguments {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  ErrorCode code;
};

struct Api {
  std::size_t struct_size;
  Extension* extensions;
  ApiVersion version;
  const void* internal;
  Error* (*create_error)(ErrorArguments*);
};

struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  DataType dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};

/// Arguments or results: buffers all.
struct Buffers {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  std::int32_t* types;
  Buffer** buffers;
};

struct Scalar {
  DataType dtype;
  void* value;
};

struct Attributes {
  static constexpr std::int32_t scalar = 3;
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  std::int32_t* types;
  void** names;
  void** values;
};

struct CallFrame {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;
  void* context;
  Stage stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
};

}  // namespace tc::python::xla
