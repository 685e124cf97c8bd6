#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/proof/claims.h"
#include "tc/proof/order.h"
#include "tc/proof/text_program.h"

/// The laws that evidence must keep. Together they prove that the loops of a launch compute what the text means (docs/proofs.md):
///
///   instances   each instance of the text runs exactly once
///   body        each statement is one of the text, and its accesses are those of the text, also where they go to a copy
///   bounds      each access is inside of its tensor; the tensors are those of the text; offsets fit 64 bits
///   storage     a place in a local buffer holds one element at a time
///   partials    private accumulators start from the identity, and are joined exactly once
///   order       all dependences of the text go forward
///   copies      each read, of a tensor or of a copy, sees the last write of its element
///   races       threads of a parallel loop, and lanes of a vector, touch nothing that another of them writes
namespace tc::proof {

/// What the laws speak of, and what they learn of it.
struct Subject {
  const TextProgram& text;
  const Launch& launch;
  std::vector<Mark> marks;
  /// By name, { P[p] -> A[x] }: the element of the text whose value an element of P has, or contributes to.
  std::map<std::string, isl::map> means;

  /// The context of all isl objects.
  isl::ctx ctx() const { return launch.schedule.ctx(); }
  /// Is \p tensor a tensor of the text?
  bool is_of_text(const std::string& tensor) const { return text.tensors.count(tensor) > 0; }
  /// Is \p tensor a private accumulator: does an accumulating copy read it?
  bool is_partial(const std::string& tensor) const;
};

/// An access of a statement; number -1 is the write.
struct Use {
  const Statement* statement;
  int number;
  /// The element and its place.
  const Access& access() const {
    return number < 0 ? statement->write : statement->reads[static_cast<std::size_t>(number)];
  }
  /// Is it the write?
  bool writes() const { return number < 0; }
  /// Is it the write of an accumulating statement, which reads its element, too?
  bool accumulates() const { return number < 0 && statement->accumulates; }
};
/// All accesses of \p launch.
std::vector<Use> uses_of(const Launch& launch);

/// One law each; they throw Refusal and Undecided. check_body fills Subject::means, which the ones after it need.
void check_instances(const Subject& subject);
void check_body(Subject& subject);
void check_bounds(const Subject& subject);
void check_storage(const Subject& subject);
void check_partials(const Subject& subject);
void check_order(const Subject& subject);
void check_copies(const Subject& subject);
void check_races(const Subject& subject);

/// { instance -> [[execution] -> buffer[y]] }: the memory that \p access touches; of a local buffer, one for each execution of
/// its mark.
isl::union_map memory_of(const Subject& subject, const Access& access);

/// { instance of an update -> the instance that joins its value to the result }: itself, or the copy of its private accumulator.
isl::union_map joined_by(const Subject& subject, const Statement& update);

}  // namespace tc::proof
