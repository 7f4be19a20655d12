// SPDX-License-Identifier: Apache-2.0
// Log messages, in a ring that the program reads with guf_log_read. The library never prints.
#ifndef GUFUNC_CORE_BASE_LOG_H
#define GUFUNC_CORE_BASE_LOG_H

#include <cstddef>
#include <cstdint>

namespace gufunc::base {

enum class LogLevel : int32_t { kError = 0, kWarning = 1, kInformation = 2 };

inline constexpr size_t kLogLines = 128;  // number of lines; a full ring drops its oldest line
inline constexpr size_t kLogWidth = 248;  // bytes per line; longer messages are truncated

// Writes a line. Allocates nothing. Must not be used on hot paths, because it copies the text under
// a lock.
void log_text(LogLevel level, const char *message);
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char *format, ...);

// Moves the oldest line to `text`, truncated to `capacity` bytes (> 0). Returns false if the ring
// is empty.
bool log_take(char *text, size_t capacity, LogLevel *out_level);

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_LOG_H
