// SPDX-License-Identifier: Apache-2.0
// posix_spawn with one pipe for both streams: the order of a compiler's messages is kept.
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

extern char **environ;

namespace gufunc::gufcc {
namespace {

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n > 0) {
      text.append(buffer, static_cast<size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      return text;
    }
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProcessResult run_process(const Command &command) {
  ProcessResult result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {-1, std::strerror(errno)};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  // Programs are interrupted as usual, whatever this one blocks.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char *> argv;
  for (const std::string &word : command) argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (failure != 0) {
    result.output = command[0] + ": " + std::strerror(failure) + "\n";
  } else {
    result.output = read_all(ends[0]);
    result.status = wait_for(child);
  }
  close(ends[0]);
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
  auto work = [&] {
    for (int i = next++; i < count && good; i = next++) {
      if (!job(i)) good = false;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < workers && i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread &thread : threads) thread.join();
  return good;
}

}  // namespace gufunc::gufcc
