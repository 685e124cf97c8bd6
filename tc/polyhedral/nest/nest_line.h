#pragma once

#include <string>

namespace tc::polyhedral {

/// The text of nests (nest_text.h) in one line, as the mapping option `nest` holds it: without indentation, '|' for the end of
/// a line and ';' for a comma.
///
///   nest of S0, S1                       nest of S0; S1|m0/512 on cores|S0:|S1: i2
///     m0/512 on cores
///       S0:
///       S1: i2
std::string nest_line(const std::string& text);

/// The text that nest_line() makes \p line of, but for indentation.
std::string text_of_nest_line(const std::string& line);

}  // namespace tc::polyhedral
