// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD that makes calls of the C library fail, to test whole programs.
//
// GUFUNC_FAULTS is a list of faults, separated by commas: "malloc:17" makes the 17th call of the
// kind malloc fail, and "malloc:17+" makes the 17th and all later calls of the kind fail. The kinds
// are malloc (with calloc, realloc, aligned_alloc, posix_memalign, memalign), mmap, open (with
// openat, fopen, opendir, mkostemp, pipe2), tmpfile (open with O_TMPFILE), read (with pread), write
// (with pwrite), link, rename (with renameat), pthread_create, dlopen and spawn (posix_spawn,
// posix_spawnp).
// GUFUNC_FAULT_EXEMPT is the first and the last address, in hexadecimal and relative to the
// program, of a function of the program whose calls of malloc do not fail: "1f00-20ff".
// GUFUNC_FAULT_COUNTS is the path of a file. When the program ends, a line "kind calls" is written
// to the file for each kind.
// GUFUNC_FAULT_PROGRAM is the name of a program. If it is set, the other variables affect only this
// program, and not the programs that it starts.
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
}

namespace {

struct Kind {
  const char *name;
  int error;
  std::atomic<uint64_t> calls = 0;
  uint64_t first = 0;  // number of the failing call, counted from 1; 0: no call fails
  bool later = false;  // all later calls fail too
};

enum KindIndex {
  kMalloc,
  kMmap,
  kOpen,
  kTmpfile,
  kRead,
  kWrite,
  kLink,
  kRename,
  kThread,
  kDlopen,
  kSpawn
};

constinit Kind kinds[] = {{"malloc", ENOMEM},      {"mmap", ENOMEM}, {"open", EMFILE},
                          {"tmpfile", EOPNOTSUPP}, {"read", EIO},    {"write", ENOSPC},
                          {"link", EIO},           {"rename", EIO},  {"pthread_create", EAGAIN},
                          {"dlopen", ENOENT},      {"spawn", EAGAIN}};

constinit uintptr_t exempt_first = 1, exempt_last = 0;

// 0: not read, 1: being read, 2: active, 3: in a program with a different name.
constinit std::atomic<int> state = 0;

// Parses "malloc:17+,open:3". The function must not allocate, because it runs inside malloc.
void read_faults(const char *text) {
  while (text != nullptr && *text != '\0') {
    for (Kind &kind : kinds) {
      const size_t length = strlen(kind.name);
      if (strncmp(text, kind.name, length) != 0 || text[length] != ':') continue;
      char *end = nullptr;
      kind.first = strtoull(text + length + 1, &end, 10);
      kind.later = *end == '+';
    }
    text = strchr(text, ',');
    if (text != nullptr) ++text;
  }
}

void read_exemption(const char *text) {
  if (text == nullptr) return;
  const uintptr_t program = getauxval(AT_PHDR) - sizeof(Elf64_Ehdr);
  char *end = nullptr;
  exempt_first = program + strtoull(text, &end, 16);
  exempt_last = program + strtoull(end + 1, nullptr, 16);
}

bool active() {
  int seen = 0;
  if (state.compare_exchange_strong(seen, 1)) {
    const char *const program = getenv("GUFUNC_FAULT_PROGRAM");
    const bool ours = program == nullptr || strcmp(program, program_invocation_short_name) == 0;
    if (ours) {
      read_faults(getenv("GUFUNC_FAULTS"));
      read_exemption(getenv("GUFUNC_FAULT_EXEMPT"));
    }
    seen = ours ? 2 : 3;
    state = seen;
  }
  return seen == 2;
}

// Counts a call. Returns true and sets errno if the call must fail.
bool fails(KindIndex index) {
  if (!active()) return false;
  Kind &kind = kinds[index];
  const uint64_t call = ++kind.calls;
  if (kind.first == 0 || call < kind.first || (call > kind.first && !kind.later)) return false;
  errno = kind.error;
  return true;
}

template <class Function>
Function next(const char *name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int open_at(int folder, const char *path, int flags, mode_t mode) {
  if ((flags & O_TMPFILE) == O_TMPFILE && fails(kTmpfile)) return -1;
  if (fails(kOpen)) return -1;
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

mode_t mode_of(int flags, va_list list) {
  const bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has_mode ? static_cast<mode_t>(va_arg(list, unsigned)) : 0;
}

__attribute__((destructor)) void write_counts() {
  const char *const path = state == 2 ? getenv("GUFUNC_FAULT_COUNTS") : nullptr;
  if (path == nullptr) return;
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (const Kind &kind : kinds)
    dprintf(static_cast<int>(fd), "%s %lu\n", kind.name, static_cast<unsigned long>(kind.calls));
  syscall(SYS_close, fd);
}

}  // namespace

extern "C" {

void *malloc(size_t size) {
  const auto caller = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  const bool failed = fails(kMalloc);
  const bool exempt = caller >= exempt_first && caller <= exempt_last;
  return failed && !exempt ? nullptr : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  return fails(kMalloc) ? nullptr : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
  return fails(kMalloc) ? nullptr : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  return fails(kMalloc) ? nullptr : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return fails(kMalloc) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  void *const memory = fails(kMalloc) ? nullptr : __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *out = memory;
  return 0;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
  if (fails(kMmap)) return MAP_FAILED;
  return reinterpret_cast<void *>(syscall(SYS_mmap, address, size, protection, flags, fd, offset));
}
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
  return mmap(address, size, protection, flags, fd, offset);
}

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(folder, path, flags, mode);
}
FILE *fopen(const char *path, const char *mode) {
  return fails(kOpen) ? nullptr : next<FILE *(*)(const char *, const char *)>("fopen")(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
  return fopen(path, mode);
}

DIR *opendir(const char *path) {
  return fails(kOpen) ? nullptr : next<DIR *(*)(const char *)>("opendir")(path);
}
int mkostemp(char *pattern, int flags) {
  return fails(kOpen) ? -1 : next<int (*)(char *, int)>("mkostemp")(pattern, flags);
}
int pipe2(int *ends, int flags) {
  return fails(kOpen) ? -1 : static_cast<int>(syscall(SYS_pipe2, ends, flags));
}

ssize_t read(int fd, void *to, size_t size) {
  return fails(kRead) ? -1 : syscall(SYS_read, fd, to, size);
}
ssize_t pread(int fd, void *to, size_t size, off_t offset) {
  return fails(kRead) ? -1 : syscall(SYS_pread64, fd, to, size, offset);
}
ssize_t pread64(int fd, void *to, size_t size, off_t offset) {
  return pread(fd, to, size, offset);
}
ssize_t write(int fd, const void *from, size_t size) {
  // Writes to standard error never fail, because the tests read standard error.
  return fd != STDERR_FILENO && fails(kWrite) ? -1 : syscall(SYS_write, fd, from, size);
}
ssize_t pwrite(int fd, const void *from, size_t size, off_t offset) {
  return fails(kWrite) ? -1 : syscall(SYS_pwrite64, fd, from, size, offset);
}
ssize_t pwrite64(int fd, const void *from, size_t size, off_t offset) {
  return pwrite(fd, from, size, offset);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  if (fails(kLink)) return -1;
  return static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
int rename(const char *from, const char *to) {
  if (fails(kRename)) return -1;
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  if (fails(kRename)) return -1;
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}

int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[],
                char *const environment[]) {
  return fails(kSpawn) ? EAGAIN
                       : next<decltype(&posix_spawn)>("posix_spawn")(child, path, actions,
                                                                     attributes, argv, environment);
}
int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[],
                 char *const environment[]) {
  return fails(kSpawn) ? EAGAIN
                       : next<decltype(&posix_spawnp)>("posix_spawnp")(
                             child, file, actions, attributes, argv, environment);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *),
                   void *argument) {
  using Create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (fails(kThread)) return EAGAIN;
  return next<Create>("pthread_create")(thread, attributes, entry, argument);
}

// A failing call opens a missing file, so that dlerror() returns a message as for the real
// function.
void *dlopen(const char *path, int flags) {
  const auto real = next<void *(*)(const char *, int)>("dlopen");
  return real(fails(kDlopen) ? "/no/such/library" : path, flags);
}

}  // extern "C"
