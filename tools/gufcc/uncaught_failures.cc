// SPDX-License-Identifier: Apache-2.0
// Memory that runs out where nothing can catch it, before main or in a destructor: a message and an
// exit status instead of std::terminate.
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

// Before the initialisers of all libraries.
void install() {
  std::set_new_handler(end_out_of_memory);
  std::set_terminate(end_uncaught);
}

__attribute__((section(".preinit_array"), used)) void (*const kInstaller)() = install;

}  // namespace
