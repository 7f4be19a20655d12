// SPDX-License-Identifier: Apache-2.0
// Reports memory exhaustion where no handler can catch it (before main or in a destructor). The
// program prints a message and exits with a status instead of calling std::terminate.
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>

namespace {

[[noreturn]] void end_out_of_memory() {
  constexpr char kText[] = "gufcc: error: out of memory\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  ::_exit(1);
}

void end_uncaught() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc &) {
    end_out_of_memory();
  } catch (...) {
    std::abort();
  }
  std::abort();
}

// Runs before the initializers of all libraries.
void install() {
  std::set_new_handler(end_out_of_memory);
  std::set_terminate(end_uncaught);
}

__attribute__((section(".preinit_array"), used)) void (*const kInstaller)() = install;

}  // namespace
