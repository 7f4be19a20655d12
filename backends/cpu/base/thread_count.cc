// SPDX-License-Identifier: Apache-2.0
// Reads the affinity mask, the cgroup quota and GUFUNC_NUM_THREADS,
// and starts the plugin's threads.
#include "backends/cpu/base/thread_count.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/base/cpu_host.h"

namespace gufunc::cpu {
namespace {

constexpr size_t kPathSize = 4096;
// The stack size of the plugin's threads. User-defined loops also run on these threads.
constexpr size_t kStackBytes = (size_t{1} << 20) + AlternateStack::kBytes;
// Signals that an instruction of the thread itself raises. If such a signal were blocked,
// it would end the process without calling the program's signal handler.
constexpr int kSynchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

// Reads the beginning of a file as text. Returns false if the file cannot be read or is empty.
bool read_text(const char *path, char *out_text, size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  size_t used = 0;
  while (used + 1 < size) {
    const ssize_t got = read(fd, out_text + used, size - 1 - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  close(fd);
  out_text[used] = '\0';
  return used > 0;
}

uint32_t threads_of_quota(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<uint32_t>(
      std::clamp<long long>((quota + period - 1) / period, 1, kMaxThreads));
}

// Returns the limit of one cgroup folder, or 0 if there is none.
uint32_t folder_limit(const char *folder, bool v2) {
  char path[kPathSize + 32], text[64];
  long long quota = 0, period = 0;
  if (v2) {
    std::snprintf(path, sizeof(path), "%s/cpu.max", folder);
    if (!read_text(path, text, sizeof(text)) ||
        std::sscanf(text, "%lld %lld", &quota, &period) != 2) {
      return 0;  // the file is absent or contains "max 100000"
    }
    return threads_of_quota(quota, period);
  }
  std::snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
  if (!read_text(path, text, sizeof(text)) || std::sscanf(text, "%lld", &quota) != 1) return 0;
  std::snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
  if (!read_text(path, text, sizeof(text)) || std::sscanf(text, "%lld", &period) != 1) return 0;
  return threads_of_quota(quota, period);
}

uint32_t smaller_limit(uint32_t a, uint32_t b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

// Returns the smallest limit of `group` and its parents up to `mount`, or 0 if there is none.
uint32_t limit_up_to_root(const char *mount, const char *group, size_t group_size, bool v2) {
  char folder[kPathSize];
  const int written =
      std::snprintf(folder, sizeof(folder), "%s%.*s", mount, static_cast<int>(group_size), group);
  if (written < 0 || static_cast<size_t>(written) >= sizeof(folder)) return 0;
  const size_t mount_size = std::strlen(mount);
  uint32_t limit = 0;
  for (;;) {
    limit = smaller_limit(limit, folder_limit(folder, v2));
    char *slash = std::strrchr(folder, '/');
    if (slash == nullptr || static_cast<size_t>(slash - folder) < mount_size) return limit;
    *slash = '\0';
  }
}

// Returns whether `controllers` (such as "cpu,cpuacct") contains the cpu controller.
bool names_cpu(const char *controllers, size_t size) {
  const char *end = controllers + size;
  for (const char *word = controllers; word < end;) {
    const char *comma = std::find(word, end, ',');
    if (comma - word == 3 && std::memcmp(word, "cpu", 3) == 0) return true;
    word = comma + 1;
  }
  return false;
}

uint32_t affinity_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<uint32_t>(std::max(CPU_COUNT(&set), 1));
  // sched_getaffinity fails on a machine with more than 1024 processors, for which `set` is too
  // small.
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return static_cast<uint32_t>(std::clamp<long>(online, 1, kMaxThreads));
}

}  // namespace

uint32_t cgroup_threads(const char *root, const char *membership) {
  uint32_t limit = 0;
  for (const char *line = membership; *line != '\0';) {  // "<id>:<controllers>:<group>"
    const char *end = std::strchr(line, '\n');
    if (end == nullptr) end = line + std::strlen(line);
    const char *first = std::find(line, end, ':');
    const char *second = first == end ? end : std::find(first + 1, end, ':');
    if (second != end) {
      const auto group_size = static_cast<size_t>(end - second - 1);
      const auto controllers_size = static_cast<size_t>(second - first - 1);
      char mount[kPathSize];
      if (controllers_size == 0) {
        limit = smaller_limit(limit, limit_up_to_root(root, second + 1, group_size, true));
      } else if (names_cpu(first + 1, controllers_size)) {
        std::snprintf(mount, sizeof(mount), "%s/cpu", root);
        limit = smaller_limit(limit, limit_up_to_root(mount, second + 1, group_size, false));
      }
    }
    line = *end == '\0' ? end : end + 1;
  }
  return limit;
}

ThreadLimit thread_limit() {
  if (const char *requested = host_config("GUFUNC_NUM_THREADS");
      requested != nullptr && *requested != '\0') {
    char *end = nullptr;
    errno = 0;
    const long count = std::strtol(requested, &end, 10);
    if (errno == 0 && *end == '\0' && count >= 1 && count <= static_cast<long>(kMaxThreads)) {
      return {static_cast<uint16_t>(count), ThreadLimitSource::kUser};
    }
    host_log(LogLevel::kWarning, "GUFUNC_NUM_THREADS '%.40s' is ignored; expected 1..%u", requested,
             kMaxThreads);
  }
  char membership[kPathSize];
  uint32_t quota = 0;
  const uint32_t processors = std::min(affinity_threads(), kMaxThreads);
  errno = 0;
  if (read_text("/proc/self/cgroup", membership, sizeof(membership))) {
    quota = cgroup_threads("/sys/fs/cgroup", membership);
  } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
    return {static_cast<uint16_t>(processors), ThreadLimitSource::kUndetermined};
  }
  if (quota == 0 || quota >= processors) {
    return {static_cast<uint16_t>(processors), ThreadLimitSource::kAffinity};
  }
  return {static_cast<uint16_t>(quota), ThreadLimitSource::kQuota};
}

bool start_thread(void *(*entry)(void *), void *argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all, before;
  sigfillset(&all);
  for (const int number : kSynchronous) sigdelset(&all, number);
  pthread_t thread;
  // A new thread inherits the signal mask of the thread that creates it.
  bool started = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
  if (started) {
    started = pthread_create(&thread, &attributes, entry, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace gufunc::cpu
