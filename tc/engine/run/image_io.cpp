#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "tc/base/check_tensor.h"
#include "tc/base/error.h"
#include "tc/engine/run/bytes.h"
#include "tc/engine/run/executable.h"

/// The bytes of an Image: a magic word with the version, a checksum and the fields in order; numbers are 64-bit little
/// endian, texts and lists carry their length first.
namespace tc::engine {
namespace {

constexpr char magic[] = "TCIMAGEB";
constexpr std::size_t magic_size = 8;

/// FNV-1a of \p bytes.
std::uint64_t checksum(const char* bytes, std::size_t size) {
  std::uint64_t hash = 14695981039346656037ull;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 1099511628211ull;
  return hash;
}

[[noreturn]] void damaged() { throw ArgumentError("the bytes of an executable are damaged"); }

DType read_type(ByteReader& in) {
  auto type = parse_dtype(in.text());
  if (!type) throw ArgumentError("the bytes of an executable name an unknown type");
  return *type;
}

TensorSpec read_spec(ByteReader& in) {
  TensorSpec spec;
  spec.dtype = read_type(in);
  spec.shape = in.numbers();
  spec.strides = in.numbers();
  if (spec.strides.size() != spec.shape.size()) damaged();
  return spec;
}

void put_spec(ByteWriter& out, const TensorSpec& spec) {
  out.put(std::string(name(spec.dtype)));
  out.put(spec.shape);
  out.put(spec.strides);
}

/// The bytes of memory that the elements of \p spec span, and how many of them stand before the first element.
struct Extent {
  std::size_t bytes = 0, before = 0;
};
Extent extent_of(const TensorSpec& spec) {
  const auto span = element_span(spec);
  const auto size = byte_size(spec.dtype);
  return {static_cast<std::size_t>((span.high + 1 - span.low) * size), static_cast<std::size_t>(-span.low * size)};
}

void put_constant(ByteWriter& out, const Constant& constant) {
  out.put(constant.name);
  put_spec(out, constant.spec);
  out.put(constant.parameter ? static_cast<std::int64_t>(*constant.parameter) : -1);
  const auto extent = extent_of(constant.spec);
  out.put(std::string(static_cast<const char*>(constant.data.get()) - extent.before, extent.bytes));
}

Constant read_constant(ByteReader& in) {
  Constant constant;
  constant.name = in.text();
  constant.spec = read_spec(in);
  check_tensor(constant.spec, "a constant of an executable");
  if (const auto parameter = in.number(); parameter >= 0) constant.parameter = static_cast<std::size_t>(parameter);
  const auto extent = extent_of(constant.spec);
  const auto bytes = in.text();
  if (bytes.size() != extent.bytes) damaged();
  auto memory = allocate_constant({}, contiguous(DType::UInt8, {static_cast<std::int64_t>(extent.bytes)})).data;
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  constant.data = {memory, static_cast<char*>(memory.get()) + extent.before};
  return constant;
}

Argument read_argument(ByteReader& in) {
  Argument argument;
  argument.name = in.text();
  argument.spec = read_spec(in);
  argument.output = in.number() != 0;
  argument.read = in.number() != 0;
  argument.mins = in.numbers();
  argument.aligned = in.number() != 0;
  return argument;
}

/// Alternative \p kind of \p Variant, as its index() says, made by the reader of that place among \p readers.
template <typename Variant, typename... Readers>
Variant read_variant(ByteReader& in, Readers&&... readers) {
  const auto kind = in.number();
  std::int64_t at = 0;
  std::optional<Variant> result;
  ((at++ == kind ? void(result = readers()) : void()), ...);
  if (!result) damaged();
  return *result;
}

std::size_t read_size(ByteReader& in) { return static_cast<std::size_t>(in.number()); }

Slot read_slot(ByteReader& in) {
  return read_variant<Slot>(
      in, [&] { return ArgumentSlot{read_size(in)}; }, [&] { return WorkspaceSlot{read_size(in)}; },
      [&] { return ConstantSlot{read_size(in)}; });
}

LaunchCode read_code(ByteReader& in) {
  return read_variant<LaunchCode>(
      in, [&] { return FunctionCall{read_size(in)}; },
      [&] {
        auto module = read_size(in);
        return KernelCall{module, read_size(in)};
      },
      [&] { return RoutineCall{read_size(in)}; });
}

library::Operand read_operand(ByteReader& in) {
  library::Operand operand;
  operand.argument = read_size(in);
  operand.type = read_type(in);
  operand.offset = in.number();
  operand.strides = in.numbers();
  operand.steps = in.numbers();
  operand.constant = in.number() != 0;
  const auto blocks = in.numbers();
  if (blocks.size() % 2 != 0 || (!blocks.empty() && blocks.size() != 2 * operand.strides.size())) damaged();
  for (std::size_t b = 0; b < blocks.size(); b += 2) operand.blocks.push_back({blocks[b], blocks[b + 1]});
  return operand;
}

library::PostOp read_post_op(ByteReader& in) {
  library::PostOp op;
  const auto kind = in.number();
  if (kind < 0 || kind > static_cast<std::int64_t>(library::PostOp::Kind::AtMost)) damaged();
  op.kind = static_cast<library::PostOp::Kind>(kind);
  if (in.number() != 0) op.operand = read_operand(in);
  op.limit = std::bit_cast<double>(in.number());
  return op;
}

library::Call read_call(ByteReader& in) {
  library::Call call;
  call.library = in.text();
  call.version = in.text();
  call.routine = in.text();
  for (auto& [name, value] : in.list<std::pair<std::string, std::int64_t>>([&] {
         auto name = in.text();
         return std::pair(name, in.number());
       }))
    call.numbers[name] = value;
  call.operands = in.list<library::Operand>([&] { return read_operand(in); });
  call.post_ops = in.list<library::PostOp>([&] { return read_post_op(in); });
  call.loops = in.numbers();
  call.machine = in.number() != 0 ? library::Machine::Cuda : library::Machine::Cpu;
  return call;
}

Launch read_launch(ByteReader& in) {
  Launch launch;
  launch.code = read_code(in);
  launch.slots = in.list<Slot>([&] { return read_slot(in); });
  launch.tests = in.list<FlagTest>([&] {
    auto offset = read_size(in);
    return FlagTest{offset, in.text()};
  });
  launch.part = in.text();
  return launch;
}

/// Does \p call speak of its own operands, all among \p count buffers, by as many loops as it has?
bool has_operands(const library::Call& call, std::size_t count) {
  auto good = [&](const library::Operand& operand) {
    return operand.argument < count && operand.steps.size() == call.loops.size();
  };
  return !call.operands.empty() && std::all_of(call.operands.begin(), call.operands.end(), good) &&
         std::all_of(call.post_ops.begin(), call.post_ops.end(),
                     [&](const auto& op) { return !op.operand || good(*op.operand); });
}

/// Does \p spec hold \p count numbers of a run?
bool holds_numbers(const TensorSpec& spec, std::size_t count) {
  return spec.dtype == DType::Int64 && spec.element_count() >= static_cast<std::int64_t>(count);
}

/// Is the last buffer of \p launch a constant with \p count numbers of a run, or the argument that will tell them?
bool tells(const Launch& launch, std::size_t count, const Image& image) {
  if (launch.slots.empty()) return false;
  if (const auto* slot = std::get_if<ConstantSlot>(&launch.slots.back()))
    return slot->index < image.constants.size() && holds_numbers(image.constants[slot->index].spec, count);
  const auto* slot = std::get_if<ArgumentSlot>(&launch.slots.back());
  return slot && slot->index + 1 == image.arguments.size() && !image.symbolic.empty() && !image.told &&
         holds_numbers(image.arguments.back().spec, count);
}

/// Are the ranges of \p image ranges, and is what tells the values in them where it has to be?
bool has_ranges(const Image& image) {
  if (image.symbolic.empty()) return !image.told;
  for (const auto& [name, range] : image.symbolic)
    if (name.empty() || range.min < 1 || range.max < range.min) return false;
  if (!image.told) return !image.arguments.empty() && holds_numbers(image.arguments.back().spec, image.symbolic.size());
  return *image.told < image.constants.size() && !image.constants[*image.told].parameter &&
         holds_numbers(image.constants[*image.told].spec, image.symbolic.size());
}

/// Does \p launch name code that \p image has, and as many pointers as that asks to be aligned?
bool has_code(const Launch& launch, const Image& image) {
  if (const auto* call = std::get_if<FunctionCall>(&launch.code))
    return !image.is_for_gpu() && call->function < image.functions.size();
  if (const auto* call = std::get_if<RoutineCall>(&launch.code))
    return call->call < image.calls.size() && has_operands(image.calls[call->call], launch.slots.size());
  const auto& call = std::get<KernelCall>(launch.code);
  if (call.module >= image.modules.size() || call.kernel >= image.modules[call.module].kernels.size()) return false;
  const auto& kernel = image.modules[call.module].kernels[call.kernel];
  const auto& aligned = kernel.aligned;
  if (kernel.is_told() && !tells(launch, kernel.number_count, image)) return false;
  return std::all_of(aligned.begin(), aligned.end(), [&](int pointer) {
    return pointer >= 0 && static_cast<std::size_t>(pointer) < launch.slots.size();
  });
}

bool has_place(const Slot& slot, const Image& image) {
  if (const auto* argument = std::get_if<ArgumentSlot>(&slot)) return argument->index < image.arguments.size();
  if (const auto* constant = std::get_if<ConstantSlot>(&slot)) return constant->index < image.constants.size();
  return std::get<WorkspaceSlot>(slot).offset < image.workspace_bytes;
}

/// Do the bound constants of \p image stand in the order of their parameters, each at a place there is?
bool has_order(const Image& image) {
  std::size_t places = image.arguments.size(), first = 0;
  for (const auto& constant : image.constants) {
    if (!constant.parameter) continue;
    if (*constant.parameter < first || *constant.parameter > places++) return false;
    first = *constant.parameter + 1;
  }
  return true;
}

/// Throws ArgumentError unless every index and offset of \p image points at something.
void validate(const Image& image) {
  auto count = static_cast<int>(image.arguments.size());
  bool good = true;
  for (const auto& argument : image.arguments) good = good && argument.mins.size() == argument.spec.shape.size();
  good = good && has_order(image) && has_ranges(image);
  for (const auto& pair : image.in_place)
    good = good && pair.input >= 0 && pair.input < count && pair.output >= 0 && pair.output < count;
  for (const auto& launch : image.launches) {
    good = good && has_code(launch, image);
    for (const auto& slot : launch.slots) good = good && has_place(slot, image);
    for (const auto& test : launch.tests) good = good && test.offset < image.workspace_bytes;
  }
  if (!good) damaged();
}

void put_slot(ByteWriter& out, const Slot& slot) {
  out.put(static_cast<std::int64_t>(slot.index()));
  std::visit(overloaded{[&](const ArgumentSlot& x) { out.put(static_cast<std::int64_t>(x.index)); },
                        [&](const WorkspaceSlot& x) { out.put(static_cast<std::int64_t>(x.offset)); },
                        [&](const ConstantSlot& x) { out.put(static_cast<std::int64_t>(x.index)); }},
             slot);
}

void put_code(ByteWriter& out, const LaunchCode& code) {
  out.put(static_cast<std::int64_t>(code.index()));
  std::visit(overloaded{[&](const FunctionCall& x) { out.put(static_cast<std::int64_t>(x.function)); },
                        [&](const KernelCall& x) {
                          out.put(static_cast<std::int64_t>(x.module));
                          out.put(static_cast<std::int64_t>(x.kernel));
                        },
                        [&](const RoutineCall& x) { out.put(static_cast<std::int64_t>(x.call)); }},
             code);
}

void put_operand(ByteWriter& out, const library::Operand& operand) {
  out.put(static_cast<std::int64_t>(operand.argument));
  out.put(std::string(name(operand.type)));
  out.put(operand.offset);
  out.put(operand.strides);
  out.put(operand.steps);
  out.put(std::int64_t(operand.constant));
  std::vector<std::int64_t> blocks;
  for (const auto& block : operand.blocks) blocks.insert(blocks.end(), {block.size, block.stride});
  out.put(blocks);
}

void put_call(ByteWriter& out, const library::Call& call) {
  out.put(call.library);
  out.put(call.version);
  out.put(call.routine);
  const std::vector<std::pair<std::string, std::int64_t>> numbers(call.numbers.begin(), call.numbers.end());
  out.put_list(numbers, [&](const auto& number) {
    out.put(number.first);
    out.put(number.second);
  });
  out.put_list(call.operands, [&](const library::Operand& operand) { put_operand(out, operand); });
  out.put_list(call.post_ops, [&](const library::PostOp& op) {
    out.put(static_cast<std::int64_t>(op.kind));
    out.put(std::int64_t(op.operand.has_value()));
    if (op.operand) put_operand(out, *op.operand);
    out.put(std::bit_cast<std::int64_t>(op.limit));
  });
  out.put(call.loops);
  out.put(std::int64_t(call.machine == library::Machine::Cuda));
}

}  // namespace

std::string Image::serialise() const {
  ByteWriter out;
  out.put(function);
  out.put(source);
  out.put(target);
  out.put(options);
  out.put_list(arguments, [&](const Argument& argument) {
    out.put(argument.name);
    put_spec(out, argument.spec);
    out.put(std::int64_t(argument.output));
    out.put(std::int64_t(argument.read));
    out.put(argument.mins);
    out.put(std::int64_t(argument.aligned));
  });
  out.put_list(constants, [&](const Constant& constant) { put_constant(out, constant); });
  out.put_list(in_place, [&](const InPlace& pair) {
    out.put(std::int64_t(pair.input));
    out.put(std::int64_t(pair.output));
  });
  out.put(static_cast<std::int64_t>(workspace_bytes));
  out.put(static_cast<std::int64_t>(parts));
  out.put_list(launches, [&](const Launch& launch) {
    put_code(out, launch.code);
    out.put_list(launch.slots, [&](const Slot& slot) { put_slot(out, slot); });
    out.put_list(launch.tests, [&](const FlagTest& test) {
      out.put(static_cast<std::int64_t>(test.offset));
      out.put(test.message);
    });
    out.put(launch.part);
  });
  out.put_list(functions, [&](const cpu::ObjectCode& code) { out.put(code.serialise()); });
  out.put_list(modules, [&](const cuda::DeviceCode& code) { out.put(code.serialise()); });
  out.put_list(calls, [&](const library::Call& call) { put_call(out, call); });
  out.put_list(evidence, [&](const std::string& bytes) { out.put(bytes); });
  const std::vector<std::pair<std::string, lang::SizeRange>> ranges(symbolic.begin(), symbolic.end());
  out.put_list(ranges, [&](const auto& range) {
    out.put(range.first);
    out.put(range.second.min);
    out.put(range.second.max);
  });
  out.put(told ? static_cast<std::int64_t>(*told) : -1);
  ByteWriter head;
  head.put(static_cast<std::int64_t>(checksum(out.bytes().data(), out.bytes().size())));
  return std::string(magic, magic_size) + head.bytes() + out.bytes();
}

Image Image::deserialise(const std::string& bytes) {
  constexpr std::size_t head = magic_size + sizeof(std::int64_t);
  if (bytes.size() < head || bytes.compare(0, magic_size, magic) != 0)
    throw ArgumentError("these are not the bytes of an executable of this version");
  std::int64_t expected;
  std::memcpy(&expected, bytes.data() + magic_size, sizeof expected);
  if (static_cast<std::uint64_t>(expected) != checksum(bytes.data() + head, bytes.size() - head))
    throw ArgumentError("the bytes of an executable are damaged");
  ByteReader in(bytes.data() + head, bytes.data() + bytes.size());
  Image image;
  image.function = in.text();
  image.source = in.text();
  image.target = in.text();
  image.options = in.text();
  image.arguments = in.list<Argument>([&] { return read_argument(in); });
  image.constants = in.list<Constant>([&] { return read_constant(in); });
  image.in_place = in.list<InPlace>([&] {
    auto input = static_cast<int>(in.number());
    return InPlace{input, static_cast<int>(in.number())};
  });
  image.workspace_bytes = static_cast<std::size_t>(in.number());
  image.parts = read_size(in);
  image.launches = in.list<Launch>([&] { return read_launch(in); });
  image.functions = in.list<cpu::ObjectCode>([&] { return cpu::ObjectCode::deserialise(in.text()); });
  image.modules = in.list<cuda::DeviceCode>([&] { return cuda::DeviceCode::deserialise(in.text()); });
  image.calls = in.list<library::Call>([&] { return read_call(in); });
  image.evidence = in.list<std::string>([&] { return in.text(); });
  for (auto& [name, range] : in.list<std::pair<std::string, lang::SizeRange>>([&] {
         auto name = in.text();
         const auto min = in.number();
         return std::pair(name, lang::SizeRange{min, in.number()});
       }))
    image.symbolic[name] = range;
  if (const auto told = in.number(); told >= 0) image.told = static_cast<std::size_t>(told);
  if (!in.at_end()) damaged();
  validate(image);
  return image;
}

}  // namespace tc::engine
