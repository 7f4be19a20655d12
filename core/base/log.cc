// SPDX-License-Identifier: Apache-2.0
// The log ring: fixed lines, the oldest lost first.
#include "core/base/log.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "core/base/fork.h"

namespace gufunc::base {
namespace {

struct Line {
  LogLevel level;
  char text[kLogWidth];
};

struct Ring {
  ForkLock lock;
  uint64_t written = 0;
  uint64_t taken = 0;
  Line lines[kLogLines] = {};
};
constinit Ring ring;

// Copies at most `room - 1` bytes and keeps the text valid UTF-8.
void copy_cut(char *to, size_t room, const char *from) {
  size_t length = strnlen(from, room - 1);
  const bool cut = from[length] != '\0';
  while (cut && length > 0 && (static_cast<unsigned char>(from[length]) & 0xC0U) == 0x80U) --length;
  std::memcpy(to, from, length);
  to[length] = '\0';
}

}  // namespace

void log_text(LogLevel level, const char *message) {
  const std::lock_guard<ForkLock> hold(ring.lock);
  Line &line = ring.lines[ring.written % kLogLines];
  line.level = level;
  copy_cut(line.text, sizeof line.text, message);
  ++ring.written;
  ring.taken = std::max(ring.taken, ring.written < kLogLines ? 0 : ring.written - kLogLines);
}

void log(LogLevel level, const char *format, ...) {
  char text[kLogWidth];
  va_list args;
  va_start(args, format);
  const int written = std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (written >= 0) log_text(level, text);
}

bool log_take(char *text, size_t capacity, LogLevel *out_level) {
  const std::lock_guard<ForkLock> hold(ring.lock);
  if (ring.taken == ring.written) return false;
  const Line &line = ring.lines[ring.taken % kLogLines];
  *out_level = line.level;
  copy_cut(text, capacity, line.text);
  ++ring.taken;
  return true;
}

}  // namespace gufunc::base
