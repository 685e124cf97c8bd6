#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tc {

struct Target;

/// What processors of one family can be compiled for, in levels: each has the instructions of those before it. The
/// sources named for a family (processor_x86.cpp; tc/cpu/machine) are all that know it: another family is other sources.
struct InstructionSet {
  const char* name;           ///< in texts of targets
  int register_bytes;         ///< of a vector
  int registers;              ///< for vectors
  bool fused_multiply_add;    ///< rounds once
  bool half_conversions;      ///< between float16 and float32
  bool byte_dots;             ///< sums of products of bytes pay as operations of their own
  int masked_load_bits;       ///< of the narrowest elements that loads take under a mask; 0: of none
  bool (*on_this_machine)();  ///< may code for it run here?
};

/// Instructions that some processors of a level have, by the word that adds them to a target's text.
struct InstructionFlag {
  const char* name;
  bool Target::* field;
  bool (*on_this_machine)(const InstructionSet&);  ///< has this machine them for vectors of that level?
};

/// The levels of this family, the least first.
std::span<const InstructionSet> instruction_sets();
/// The level of that name, nullptr where there is none.
const InstructionSet* find_instruction_set(std::string_view name);
/// The highest level that runs here; the least where none does.
const InstructionSet& instruction_set_here();

/// The flags of this family.
std::span<const InstructionFlag> instruction_flags();

/// What the processor calls itself, "" where it does not.
std::string processor_brand();

/// Cores of this family of which more is known than their instructions say, by the names that texts of targets have for them.
std::span<const std::string_view> processor_cores();
/// The core of this machine; "" where it is none of these.
std::string_view processor_core_here();

}  // namespace tc
