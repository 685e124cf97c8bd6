#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tc/base/marked_line.h"
#include "tc/cpu/marked/buffer_uses.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::engine {

/// For each statement of \p scop, by its id, the statements of the program for which it runs: itself if \p ids
/// contains it, or the statement whose value it computes. A copy runs for the statements that read the copy, or that
/// write the data it copies out.
std::map<std::string, std::set<std::string>> run_for(const polyhedral::Scop& scop, const std::set<std::string>& ids);

/// The writes and reads of each statement of \p scop, and the statements of the program, named \p ids, for which it
/// runs.
std::vector<cpu::BufferUse> uses_of(const polyhedral::Scop& scop, const std::set<std::string>& ids);

/// The lines of \p text, CUDA C++ of a kernel that runs statements with \p uses, by the buffers that each line names;
/// a line that opens a block has the statements of the block.
std::vector<MarkedLine> marked_source(const std::string& text, const std::vector<cpu::BufferUse>& uses);

/// The lines of \p text, each with the statements of \p for_which for the names in it.
std::vector<MarkedLine> marked_names(const std::string& text,
                                     const std::map<std::string, std::set<std::string>>& for_which);

}  // namespace tc::engine
