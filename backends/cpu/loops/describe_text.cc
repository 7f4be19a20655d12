// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/loops/describe_text.h"

#include <cstdarg>
#include <cstdio>

#include "backends/cpu/base/cpu_isa.h"
#include "backends/cpu/base/thread_pool.h"
#include "backends/cpu/loops/work_split.h"

namespace gufunc::cpu {
namespace {

const char *reason_of(ThreadLimitSource by) {
  switch (by) {
    case ThreadLimitSource::kUser:
      return "GUFUNC_NUM_THREADS";
    case ThreadLimitSource::kQuota:
      return "the cgroup's quota";
    default:
      return "the processors that this process may use";
  }
}

}  // namespace

void TextBuffer::add(const char *format, ...) {
  if (left_ == 0) return;
  va_list arguments;
  va_start(arguments, format);
  const int written = std::vsnprintf(to_, left_, format, arguments);
  va_end(arguments);
  const size_t used = written < 0 ? 0 : static_cast<size_t>(written);
  const size_t step = used < left_ ? used : left_ - 1;
  to_ += step;
  left_ -= step;
}

void describe_one_thread(SerialReason serial, uint64_t work, TextBuffer *out) {
  out->add("threads: 1, ");
  switch (serial) {
    case SerialReason::kCallerThreadOnly:
      return out->add("as the loop must not run in threads of the backend\n");
    case SerialReason::kRequested:
      return out->add("as the call requests one\n");
    case SerialReason::kTooSmall:
      return out->add("as the work, %llu, is too small to share: the minimum is %llu\n",
                      static_cast<unsigned long long>(work),
                      static_cast<unsigned long long>(kParallelWork));
    case SerialReason::kOneThread:
      return out->add("by %s\n", reason_of(thread_pool().granted().by));
    default:
      return out->add("as all items are in one chunk\n");
  }
}

void describe_most_threads(uint32_t threads, uint64_t chunks, uint32_t max_threads,
                           const char *word, TextBuffer *out) {
  out->add("threads: up to %u, ", threads);
  if (threads == chunks) {
    out->add("one per %s", word);
  } else if (threads == max_threads) {
    out->add("as the call requests");
  } else {
    out->add("by %s", reason_of(thread_pool().granted().by));
  }
}

void describe_instructions(TextBuffer *out) {
  const int level = isa_level(), machine = machine_isa_level();
  out->add("instructions: up to %s", isa_target(level));
  if (level < machine) {
    out->add(", by GUFUNC_CPU_ISA; the processor has %s\n", isa_target(machine));
  } else {
    out->add(", the highest level of the processor\n");
  }
}

}  // namespace gufunc::cpu
