#pragma once

#include <functional>
#include <string>

namespace tc {

enum class LogLevel { Debug, Info, Warning };

/// Where messages go. The library itself never prints; without a sink messages are dropped.
using LogSink = std::function<void(LogLevel, const std::string&)>;

/// Replaces the process-wide sink; thread-safe. An empty function drops messages.
void set_log_sink(LogSink sink);
/// Is there a sink? Lets callers skip building a message.
bool logging();
void log(LogLevel level, const std::string& message);

}  // namespace tc
