// SPDX-License-Identifier: Apache-2.0
// The handlers use fixed storage only, and call only functions that signal-safety(7) lists.
#include "fatal_signals.h"

#include <gufunc/limits.h>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace gufunc::cli {
namespace {

struct Signal {
  int number;
  const char *name;
  bool crash;  // caused by the program itself; reported on standard error
};

constexpr Signal kSignals[] = {
    {SIGINT, "SIGINT", false},   {SIGTERM, "SIGTERM", false}, {SIGHUP, "SIGHUP", false},
    {SIGQUIT, "SIGQUIT", false}, {SIGXCPU, "SIGXCPU", false}, {SIGABRT, "SIGABRT", true},
    {SIGBUS, "SIGBUS", true},    {SIGSEGV, "SIGSEGV", true},  {SIGFPE, "SIGFPE", true},
    {SIGILL, "SIGILL", true},
};
struct sigaction previous_actions[std::size(kSignals)];

// A path in fixed storage. `ready` is set last and cleared first.
struct Temporary {
  std::atomic<bool> used = false;
  std::atomic<bool> ready = false;
  char path[PATH_MAX] = {};
};
constinit Temporary temporaries[GUF_MAX_OPERANDS];

struct NamedMapping {
  std::atomic<bool> used = false;
  std::atomic<uintptr_t> begin = 0;  // 0: not ready
  std::atomic<size_t> size = 0;
  char name[512] = {};
};
constinit NamedMapping mappings[3 * GUF_MAX_OPERANDS];  // inputs, outputs, indices
static_assert(std::atomic<uintptr_t>::is_always_lock_free);

// Collects one line and writes it with a single write(2).
class Line {
 public:
  void add(const char *text) {
    while (*text != '\0' && length_ < sizeof text_) text_[length_++] = *text++;
  }
  void add_address(uintptr_t value) {
    char digits[2 * sizeof value + 3] = "0x";
    for (size_t i = 0; i < 2 * sizeof value; ++i)
      digits[2 + i] = "0123456789abcdef"[(value >> (4 * (2 * sizeof value - 1 - i))) & 0xF];
    digits[sizeof digits - 1] = '\0';
    add(digits);
  }
  void write() {
    if (length_ == sizeof text_) --length_;
    text_[length_++] = '\n';
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text_, length_);
  }

 private:
  char text_[1024];
  size_t length_ = 0;
};

uintptr_t stack_pointer(const void *context) {
  const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return machine.sp;
#else
  (void)machine;
  return 0;
#endif
}

// Whether an address is close to the stack pointer. The first access of a function to its frame may
// be at the far end, several pages below the caller's frame, so the test allows 256 KiB.
bool is_stack_overflow(uintptr_t address, uintptr_t stack) {
  constexpr uintptr_t kNear = 256U << 10;
  return address + kNear > stack && address < stack + kNear;
}

const char *file_at(uintptr_t address) {
  for (const NamedMapping &mapping : mappings) {
    const uintptr_t begin = mapping.begin;
    if (begin != 0 && address >= begin && address - begin < mapping.size) return mapping.name;
  }
  return nullptr;
}

void describe(const siginfo_t &info, const void *context, Line *line) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  const char *const file = info.si_signo == SIGBUS && info.si_code > 0 ? file_at(address) : nullptr;
  if (file != nullptr) {
    line->add(file);
    line->add(" became shorter while it was read");
  } else if (info.si_code <= 0) {  // kill(2), raise(3), abort(3)
    line->add(info.si_signo == SIGABRT ? "the program aborted itself" : "sent by a program");
  } else if (info.si_signo == SIGFPE && info.si_code == FPE_INTDIV) {
    line->add("a kernel divided an integer by zero, or the quotient overflowed");
  } else if (info.si_signo == SIGSEGV && is_stack_overflow(address, stack_pointer(context))) {
    line->add("the stack overflowed");
  } else if (info.si_signo == SIGILL) {
    line->add("illegal instruction at ");
    line->add_address(address);
  } else {
    line->add("invalid use of address ");
    line->add_address(address);
  }
}

// Restores the previous action and raises the signal again. That action runs when this handler
// returns.
void end_program(int number, siginfo_t *info, void *context) {
  static std::atomic<bool> reported = false;
  remove_temporaries();
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i].number != number) continue;
    if (kSignals[i].crash && !reported.exchange(true)) {
      Line line;
      line.add("gufunc: ");
      line.add(kSignals[i].name);
      line.add(": ");
      describe(*info, context, &line);
      line.write();
    }
    ::sigaction(number, &previous_actions[i], nullptr);
  }
  ::raise(number);
}

}  // namespace

void handle_fatal_signals() {
  static char alternate[64U << 10];
  stack_t stack = {};
  if (::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0) {
    stack.ss_sp = alternate;
    stack.ss_size = sizeof alternate;
    stack.ss_flags = 0;
    ::sigaltstack(&stack, nullptr);
  }
  ::signal(SIGXFSZ, SIG_IGN);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction &previous = previous_actions[i];
    const int number = kSignals[i].number;
    if (::sigaction(number, nullptr, &previous) != 0 || previous.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_sigaction = end_program;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(number, &action, nullptr);
  }
}

void remove_on_signals(const char *path) {
  const size_t size = std::strlen(path) + 1;
  for (Temporary &temporary : temporaries) {
    if (size > sizeof temporary.path || temporary.used.exchange(true)) continue;
    std::memcpy(temporary.path, path, size);
    temporary.ready = true;
    return;
  }
}

void remove_temporaries() {
  for (const Temporary &temporary : temporaries) {
    if (temporary.ready) ::unlink(temporary.path);
  }
}

void forget_on_signals(const char *path) {
  for (Temporary &temporary : temporaries) {
    if (!temporary.ready || std::strcmp(path, temporary.path) != 0) continue;
    temporary.ready = false;
    temporary.used = false;
  }
}

void name_mapping(const void *begin, size_t size, const char *name) {
  for (NamedMapping &mapping : mappings) {
    if (mapping.used.exchange(true)) continue;
    const size_t length = strnlen(name, sizeof mapping.name - 1);
    std::memcpy(mapping.name, name, length);
    mapping.name[length] = '\0';
    mapping.size = size;
    mapping.begin = reinterpret_cast<uintptr_t>(begin);
    return;
  }
}

void forget_mapping(const void *begin) {
  for (NamedMapping &mapping : mappings) {
    if (begin == nullptr || mapping.begin != reinterpret_cast<uintptr_t>(begin)) continue;
    mapping.begin = 0;
    mapping.used = false;
  }
}

SignalsBlocked::SignalsBlocked() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const Signal &signal : kSignals) {
    if (!signal.crash) ::sigaddset(&set, signal.number);
  }
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}

SignalsBlocked::~SignalsBlocked() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace gufunc::cli
