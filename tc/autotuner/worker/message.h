#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tc::autotuner {

/// What the tuner and its processes tell each other, and what checkpoints hold: texts, one after another, each with its
/// length.
using Message = std::vector<std::string>;

/// The bytes of \p message, for a socket; decode() takes them back.
std::string encode(const Message& message);
/// The inverse; nothing for bytes that encode() did not write.
std::optional<Message> decode(std::string_view bytes);

/// A number as text and back without loss; 0 for other texts.
std::string exact_text(double number);
double exact_number(const std::string& text);
std::int64_t whole_number(const std::string& text);

/// All of \p bytes into \p file, waiting where it must; false if that fails.
bool write_all(int file, std::string_view bytes);
/// \p message into \p file after its length, and the next such from it: nothing at its end or if that fails.
bool send(int file, const Message& message);
std::optional<Message> receive(int file);

}  // namespace tc::autotuner
