#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/base/matrix_unit.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

/// How an access through index tensors finds its element: T[l + I[i, j], k] reads I right before T, and depends on i, j,
/// k and l. Of a read nothing but its iterators decides whether it happens. A write that scatters depends on the
/// iterators in the subscripts that are not affine; the reads in these are the last of Statement::reads.
struct Indirection {
  std::vector<int> iterators;  ///< of the source statement, on which the element depends
  int subscript_reads = 0;     ///< of a read: those right before it in Statement::reads that stand in its subscripts
};

/// How a statement instance reads or writes one element.
struct Access {
  isl::map relation;  ///< S[i] -> T[x]: exact, or all elements it may touch; guards restrict it
  bool exact = true;  ///< false: data-dependent or not affine
  /// S[i] -> T[x] as a total function on the domain; promotion redirects it to a buffer. Null of a read that is not
  /// exact; of a write that is not, subscripts that are not affine are the first of their dimensions.
  Nullable<isl::pw_multi_aff> function;
  /// Of a read of the source statement that is not exact, or was before it went to a copy: how it finds its element, if
  /// it may be copied ahead (indirect_reads.h). Of a write that is not exact: how it finds its element.
  std::optional<Indirection> indirection = {};
};

/// Instances of one assignment. What it does, with `value` the opaque right-hand side of the source statement
/// (Source), the identity of `op` (Identity) or the element of its last read (Copy):
///   accumulates: write = write op value       otherwise: write = value
/// The read of the accumulator is implied by `accumulates`; it is no entry of `reads`. An accumulating statement's
/// instances that write one element may run in any order.
struct Statement {
  enum class Body { Source, Identity, Copy };
  /// A loop around it whose iterations run in order, each of them all statements of the loop.
  struct OrderedLoop {
    int id = 0;        ///< statements with one id are in one loop; they are neighbours
    int iterator = 0;  ///< of the domain's dimensions

    bool operator==(const OrderedLoop&) const = default;
  };
  std::string id;   ///< the tuple name of its instances
  isl::set domain;  ///< { S[i] }
  Body body = Body::Source;
  std::string source;  ///< id of the source statement whose value it computes (Body::Source), or an element of it
  std::vector<std::string> iterators;    ///< names of the domain's dimensions
  Nullable<isl::multi_aff> origin = {};  ///< { S[i] -> S[j] }: Source at iterators j; null: at those of the instance
  bool accumulates = false;
  ReductionOp op = ReductionOp::Sum;
  Access write;
  bool product = false;       ///< its value is the product of its two reads, in the type of what it writes
  std::vector<Access> reads;  ///< Source: in the order the right-hand side names them, left to right, depth first
  int vector_lanes = 0;       ///< lanes of the vector loop around it, 0 without one
  /// The unit that multiplies its two reads, and its iterators that count rows, columns and steps; null: none.
  const MatrixUnit* unit = nullptr;
  std::array<int, 3> unit_iterators = {-1, -1, -1};
  /// Neighbouring threads, `combined_lanes` of them along this iterator, combine their values with `op` without memory;
  /// the first of them writes, or each if `combined_in_all`. -1: each instance writes its own value.
  int combined_iterator = -1;
  int combined_lanes = 0;
  bool combined_in_all = false;
  /// Copy: the read of the source statement whose element it moves, after those in its subscripts; -1: its only read.
  int source_read = -1;
  /// Copy in a kernel: an instance only begins; its value is there after a wait (pipeline_copies.h).
  bool asynchronous = false;
  /// Runs beyond the instances that are asked for, on operands with zeros (pad_product.h): statements with less of them stand
  /// in its loops.
  bool padded = false;
  std::vector<OrderedLoop> loops = {};  ///< outermost first
  /// The iterators that decide how many iterations a loop inside of an instance has: no lanes run along them.
  std::vector<int> uneven = {};
};

/// An array: logical indices in a box, stored at (index - min) . strides, elements.
/// Argument: a pointer the caller passes. Workspace: a temporary in memory. Local: a buffer allocated at its
/// `allocate_<name>` mark, one for each execution of what stands below.
struct Tensor {
  enum class Storage { Argument, Workspace, Local };
  std::string name;
  DType type = DType::Float32;
  std::vector<std::int64_t> min, extent;
  std::vector<std::int64_t> strides;  ///< elements
  Storage storage = Storage::Argument;
  bool aligned = true;    ///< Argument: begins at a multiple of what a thread of a grid moves at once
  bool live_in = false;   ///< holds values before the scop that it may read
  bool live_out = false;  ///< its values are used after the scop
  bool padded = false;    ///< Local: every lane of a full vector exists, so no access needs a mask unless `combined`
  bool shared = false;    ///< Local: one for all threads of a block, not one for each thread
  bool in_registers = false;  ///< Local: constant indices after unrolling, kept in registers
  bool combined =
      false;  ///< Local: a masked-off lane must keep its value, as lanes are combined later or hold another's
  /// T[x]: its elements where symbolic sizes decide how many there are, of which `extent` has the most; null: all of the box.
  Nullable<isl::set> elements = {};
  /// One a dimension, or none at all: the variable that tells the stride in a run; "": `strides` does.
  std::vector<std::string> stride_variables = {};
};

/// Do all elements of \p tensor whose innermost index is its least one lie at multiples of \p elements of these, in every run?
bool has_rows_of(const Tensor& tensor, std::int64_t elements);

/// The parameter that is the symbolic size \p name: "size_N".
std::string size_parameter(const std::string& name);
/// Is \p parameter a symbolic size?
bool is_size_parameter(const std::string& parameter);
/// The name of the size that it is.
std::string size_of_parameter(const std::string& parameter);

/// A parameter of a schedule: min <= name <= max. Coordinates of a grid, which a context node says too, and symbolic sizes.
struct Parameter {
  std::string name;
  std::int64_t min = 0, max = 0;
};

/// Statements in program order, their tensors, and the current schedule. A value; passes take one and return one.
struct Scop {
  std::shared_ptr<Context> context;  ///< first member: outlives the isl objects
  std::vector<Statement> statements;
  std::vector<Tensor> tensors;
  Nullable<isl::schedule> schedule;        ///< initially program order: a sequence of bands
  std::vector<Parameter> parameters = {};  ///< of the schedule: coordinates of blocks and threads, symbolic sizes
  Nullable<isl::set> sizes = {};           ///< { : } the values of symbolic sizes in a run; null: there are none

  isl::ctx ctx() const { return *context; }
  /// The statement or tensor of that name, which there is.
  const Statement& statement(const std::string& id) const;
  const Tensor& tensor(const std::string& name) const;
  Statement& statement(const std::string& id);
  Tensor& tensor(const std::string& name);
  bool has_tensor(const std::string& name) const;
  isl::union_set domain() const;
  /// Exact and over-approximated accesses; accumulators count as read and written.
  isl::union_map reads() const;
  isl::union_map writes() const;
};

/// The values the parameters of \p scop take: [block_x] -> { : 0 <= block_x <= 31 }, and scop.sizes.
isl::set parameter_bounds(const Scop& scop);

/// The loops that \p a and \p b are both in, outermost first, by their number.
std::size_t common_loops(const Statement& a, const Statement& b);

/// The schedule of program order: a sequence over the statements, below each one band of its iterators; around the statements of a loop
/// a band of its iterator.
isl::schedule program_order(const Scop& scop);

}  // namespace tc::polyhedral
