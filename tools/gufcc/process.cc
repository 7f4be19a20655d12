// SPDX-License-Identifier: Apache-2.0
// Uses posix_spawn with one pipe for stdout and stderr, to keep the order of a compiler's messages.
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "files.h"

extern char **environ;

namespace gufunc::gufcc {
namespace {

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void end(pid_t child) {
  kill(child, SIGKILL);
  wait_for(child);
}

ProcessResult failed(const char *what, const Command &command, int error) {
  return {-1, fmt::format("cannot {} {}: {}\n", what, command[0], std::strerror(error)), error};
}

// Starts a program with an empty standard input, and with stdout and stderr redirected to `output`.
// Returns 0 or an errno.
int start(char *const *argv, int output, pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure != 0) return failure;
  failure = posix_spawnattr_init(&attributes);
  const bool has_attributes = failure == 0;
  if (failure == 0)
    failure = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, output, stream);
  }
  if (failure == 0) {
    // The child must not inherit the signals that this process blocks.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    failure = posix_spawnp(child, argv[0], &actions, &attributes, argv, environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  if (has_attributes) posix_spawnattr_destroy(&attributes);
  return failure;
}

}  // namespace

ProcessResult run_process(const Command &command) {
  std::vector<char *> argv;
  for (const std::string &word : command) argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed("run", command, errno);
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  pid_t child = 0;
  const int failure = start(argv.data(), to.get(), &child);
  if (failure != 0) return failed("run", command, failure);
  to.close();
  ProcessResult result;
  int unread = 0;
  try {
    if (!read_descriptor(from, &result.output)) unread = errno;
  } catch (...) {
    end(child);
    throw;
  }
  if (unread != 0) {
    end(child);
    return failed("read the output of", command, unread);
  }
  result.status = wait_for(child);
  return result;
}

std::string command_line(const Command &command) {
  std::string line;
  for (const std::string &word : command) {
    if (!line.empty()) line += ' ';
    const bool plain = word.find_first_of(" \t\n\"'\\$&;|<>()*?[]#~`!{}") == std::string::npos;
    line += plain && !word.empty() ? word : "'" + word + "'";
  }
  return line;
}

bool run_parallel(int workers, int count, const std::function<bool(int)> &job) {
  std::atomic<int> next{0};
  std::atomic<bool> good{true};
  std::mutex mutex;
  std::exception_ptr thrown;
  auto work = [&] {
    try {
      for (int i = next++; i < count && good; i = next++) {
        if (!job(i)) good = false;
      }
    } catch (...) {
      good = false;
      const std::lock_guard<std::mutex> lock(mutex);
      if (thrown == nullptr) thrown = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(std::max(0, std::min(workers, count) - 1)));
  bool can_start = true;  // if no further thread can start, the running threads do all jobs
  while (can_start && threads.size() < threads.capacity()) {
    try {
      threads.emplace_back(work);
    } catch (const std::exception &) {
      can_start = false;
    }
  }
  work();
  for (std::thread &thread : threads) thread.join();
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return good;
}

}  // namespace gufunc::gufcc
