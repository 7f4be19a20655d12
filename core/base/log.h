// SPDX-License-Identifier: Apache-2.0
// Messages for the program, in a ring that it reads with guf_log_read. The library prints nothing.
#ifndef GUFUNC_CORE_BASE_LOG_H
#define GUFUNC_CORE_BASE_LOG_H

#include <cstddef>
#include <cstdint>

namespace gufunc::base {

enum class LogLevel : int32_t { kError = 0, kWarning = 1, kInformation = 2 };

inline constexpr size_t kLogLines = 128;  // when full, the oldest line is lost
inline constexpr size_t kLogWidth = 248;  // longer messages are cut

// Never on hot paths: it copies, under a lock of the length of that copy. Allocates nothing.
void log_text(LogLevel level, const char *message);
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char *format, ...);

// Takes the oldest line into `text` (capacity > 0, cut if need be). False when there is none.
bool log_take(char *text, size_t capacity, LogLevel *out_level);

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_LOG_H
