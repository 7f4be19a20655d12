// SPDX-License-Identifier: Apache-2.0
// Tests that every public function leaves the state of the calling thread and of the process as the
// caller has set it: floating-point control, signal mask, locale, file descriptors, working
// directory, umask and errno. No function may print to stdout or stderr. The functions are listed
// in abi/symbols.txt, and tests/abi/misuse provides valid and invalid arguments.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include "comma_locale.h"
#include "float_words.h"
#include "tests/abi/misuse/misuse_fixture.h"
#include "vector_calls.h"

namespace {

using misuse::Fixture;
using misuse::Function;
using misuse::Words;

// This function is called at the end of the program, because it ends the library.
constexpr const char *kLast = "guf_shutdown";

std::string link_of(int descriptor) {
  char target[512] = "";
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = readlink(path.c_str(), target, sizeof target - 1);
  return size < 0 ? "" : std::string(target, static_cast<size_t>(size));
}

// Maps each open file descriptor of the process to the name of its file in /proc/self/fd.
typedef std::map<int, std::string> Descriptors;

Descriptors open_descriptors() {
  Descriptors open;
  DIR *const folder = opendir("/proc/self/fd");
  while (const dirent *entry = readdir(folder)) {
    const int descriptor = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || descriptor == dirfd(folder)) continue;
    open[descriptor] = link_of(descriptor);
  }
  closedir(folder);
  return open;
}

// Describes the descriptors of `from` that are absent from `other`, or refer to another file there.
std::string missing(const Descriptors &from, const Descriptors &other, const char *what) {
  std::string text;
  for (const auto &[descriptor, file] : from) {
    const auto found = other.find(descriptor);
    if (found != other.end() && found->second == file) continue;
    text += what + std::to_string(descriptor) + ", which is " + file + "; ";
  }
  return text;
}

// Describes the file descriptors that a call has closed or left open. `before` and `after` were
// open before and after the call. Other threads may open descriptors for a short time:
// UndefinedBehaviorSanitizer opens a pipe to find out whether memory is readable. Therefore, the
// call is reported only if it closes one of `own`, the descriptors that the test program has opened
// itself, or if a new descriptor is still open a second later.
std::string changed_descriptors(const Descriptors &own, const Descriptors &before,
                                Descriptors after) {
  const std::string closed = missing(own, after, "closed ");
  std::string opened = missing(after, before, "opened ");
  for (int i = 0; i < 1000 && !opened.empty(); ++i) {
    usleep(1000);
    after = open_descriptors();
    opened = missing(after, before, "opened ");
  }
  return closed + opened;
}

// Redirects stdout and stderr to a memory file for a scope.
class Captured {
 public:
  Captured() : file_(memfd_create("output", MFD_CLOEXEC)) {
    std::fflush(nullptr);
    for (int i = 0; i < 2; ++i) {
      before_[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
      dup2(file_, i + 1);
    }
    descriptors_ = open_descriptors();
  }
  ~Captured() {
    std::fflush(nullptr);
    for (int i = 0; i < 2; ++i) {
      dup2(before_[i], i + 1);
      close(before_[i]);
    }
    close(file_);
  }
  Captured(const Captured &) = delete;
  Captured &operator=(const Captured &) = delete;

  long size() const {
    std::fflush(nullptr);
    struct stat status = {};
    fstat(file_, &status);
    return status.st_size;
  }
  // The descriptors that were open when the scope began.
  const Descriptors &descriptors() const { return descriptors_; }

 private:
  const int file_;
  int before_[2];
  Descriptors descriptors_;
};

struct State {
  int error;
  FloatWord word;
  sigset_t mask;
  locale_t locale;
  std::string process_locale, directory;
  Descriptors open;
  mode_t file_mask;
  long output;
};

State capture_state(const Captured &output) {
  State state = {};
  state.error = errno;
  state.word = read_word();
  set_word(kDefaultWord);
  pthread_sigmask(SIG_SETMASK, nullptr, &state.mask);
  state.locale = uselocale(nullptr);
  state.process_locale = std::setlocale(LC_ALL, nullptr);
  char directory[512] = "";
  state.directory = getcwd(directory, sizeof directory) == nullptr ? "" : directory;
  state.file_mask = umask(0);
  umask(state.file_mask);
  state.open = open_descriptors();
  state.output = output.size();
  return state;
}

std::string differences(const State &before, const State &after, const Captured &output) {
  std::ostringstream text;
  if (after.error != before.error) text << "errno became " << after.error << "; ";
  if (!same_control(after.word, before.word)) {
    text << std::hex << "control became " << after.word.mxcsr << "/" << after.word.x87 << "; ";
  }
  for (int signal = 1; signal < NSIG; ++signal) {
    if (sigismember(&before.mask, signal) != sigismember(&after.mask, signal)) {
      text << "signal " << signal << "; ";
    }
  }
  if (after.locale != before.locale || after.process_locale != before.process_locale) {
    text << "locale; ";
  }
  if (after.directory != before.directory) text << "directory became " << after.directory << "; ";
  if (after.file_mask != before.file_mask) text << "umask; ";
  text << changed_descriptors(output.descriptors(), before.open, after.open);
  if (after.output != before.output) text << "wrote to standard output or error; ";
  return text.str();
}

// Changes the state of the current thread for a scope, as a program might do.
class HostileThread {
 public:
  HostileThread() : locale_(open_comma_locale()) {
    before_locale_ = uselocale(locale_);
    sigset_t mask;
    sigemptyset(&mask);
    for (const int signal : {SIGUSR1, SIGTERM, SIGPIPE}) sigaddset(&mask, signal);
    pthread_sigmask(SIG_SETMASK, &mask, &before_mask_);
    before_umask_ = umask(0137);
  }
  ~HostileThread() {
    umask(before_umask_);
    pthread_sigmask(SIG_SETMASK, &before_mask_, nullptr);
    uselocale(before_locale_);
    freelocale(locale_);
  }
  HostileThread(const HostileThread &) = delete;
  HostileThread &operator=(const HostileThread &) = delete;

 private:
  locale_t locale_, before_locale_;
  sigset_t before_mask_;
  mode_t before_umask_;
};

// Calls functions one by one and records which state each has changed.
class Sweep {
 public:
  explicit Sweep(Fixture &fixture) : fixture_(fixture) {}

  void good_arguments(const FloatWord &word) {
    for (const Function &function : misuse::kFunctions) {
      if (std::strcmp(function.name, kLast) == 0) continue;
      run(function, fixture_.good(function), "good arguments", word);
    }
  }
  void broken_arguments() {
    for (const Function &function : misuse::kFunctions) {
      if (std::strcmp(function.name, kLast) == 0) continue;
      for (size_t i = 0; i < function.parameters.size(); ++i) {
        fixture_.good(function);
        const size_t count = fixture_.faults(function, i).size();
        for (size_t k = 0; k < count; ++k) {
          Words words = fixture_.good(function);
          words[i] = fixture_.faults(function, i)[k].word;
          run(function, words, function.parameters[i].name,
              kHostileWords[calls_ % kHostileWords.size()]);
        }
      }
    }
  }
  const std::string &found() const { return found_; }
  size_t calls() const { return calls_; }

 private:
  void run(const Function &function, const Words &words, const char *what, const FloatWord &word) {
    ++calls_;
    fixture_.remember(function);
    fixture_.prepare(function, words);
    State before = capture_state(output_);
    before.word = word;
    before.error = EXDEV;
    errno = EXDEV;
    set_word(word);
    const guf_status status = function.call(words);
    const State after = capture_state(output_);
    const std::string changed = differences(before, after, output_);
    if (!changed.empty() && found_.size() < 10'000) {
      found_ += std::string(function.name) + ", " + what + ", " + word.name + ": " + changed + "\n";
    }
    if (status == GUF_OK) fixture_.finish_call(function, words, status);
  }

  Fixture &fixture_;
  const Captured output_;
  std::string found_;
  size_t calls_ = 0;
};

enum class Arguments { kGood, kBrokenToo };

void sweep(Arguments arguments) {
  std::string found;
  size_t calls = 0;
  {
    const HostileThread hostile;
    Sweep sweep(Fixture::shared());
    for (const FloatWord &word : kHostileWords) sweep.good_arguments(word);
    if (arguments == Arguments::kBrokenToo) sweep.broken_arguments();
    found = sweep.found();
    calls = sweep.calls();
  }
  EXPECT_EQ(found, "");
  EXPECT_GT(calls, 500U);
}

TEST(ProcessState, EverySymbolHasACase) {
  std::set<std::string> cases;
  for (const Function &function : misuse::kFunctions) cases.insert(function.name);
  cases.insert(kLast);
  std::ifstream list(GUFUNC_SYMBOLS);
  size_t symbols = 0;
  for (std::string line; std::getline(list, line);) {
    if (line.rfind("guf_", 0) != 0) continue;
    ++symbols;
    EXPECT_EQ(cases.count(line.substr(0, line.find(' '))), 1U) << line;
  }
  EXPECT_GT(symbols, 100U);
}

TEST(ProcessState, OnTheMainThread) {
  sweep(Arguments::kBrokenToo);
}

TEST(ProcessState, OnAnotherThread) {
  std::thread([] { sweep(Arguments::kGood); }).join();
}

// A loop of the program that calls the library while it runs on a pool thread.
struct Nested {
  std::mutex lock;
  std::condition_variable arrived;
  std::set<std::thread::id> threads;
  std::thread::id caller;
  bool swept = false;
};

void sweep_on_the_pool(char **, const int64_t *, const int64_t *, void *user) {
  auto &self = *static_cast<Nested *>(user);
  std::unique_lock hold(self.lock);
  self.threads.insert(std::this_thread::get_id());
  self.arrived.notify_all();
  self.arrived.wait_for(hold, std::chrono::seconds(20), [&] { return self.threads.size() >= 2; });
  if (std::this_thread::get_id() == self.caller || self.swept) return;
  self.swept = true;
  hold.unlock();
  sweep(Arguments::kGood);
}

TEST(ProcessState, OnAThreadOfThePool) {
  static Nested nested;
  nested.caller = std::this_thread::get_id();
  Fixture::shared();
  const guf_ufunc ufunc = make_unary("sweeping", sweep_on_the_pool, &nested);
  guf_error error = fresh_error();
  const std::vector<float> in(2, 1);
  std::vector<float> out(2);
  const Vector from(in), to(out);
  ASSERT_EQ(call(ufunc, {from.get()}, to.get(), &error, {.threads = 2}), GUF_OK) << error.message;
  EXPECT_TRUE(nested.swept);
}

// A call on a thread with a pending cancellation. The thread ends after the call and never inside
// it.
struct Cancelled {
  const Function *function;
  Words words;
  guf_status status;
  bool returned;
};

void *call_while_cancelled(void *argument) {
  auto &self = *static_cast<Cancelled *>(argument);
  pthread_cancel(pthread_self());
  self.status = self.function->call(self.words);
  self.returned = true;
  pthread_testcancel();
  return nullptr;
}

TEST(ProcessState, ACancelledThreadEndsAfterTheCall) {
  Fixture &fixture = Fixture::shared();
  for (const Function &function : misuse::kFunctions) {
    if (std::strcmp(function.name, kLast) == 0) continue;
    Cancelled cancelled = {&function, fixture.good(function), GUF_E_INTERNAL, false};
    fixture.remember(function);
    fixture.prepare(function, cancelled.words);
    pthread_t thread;
    void *result = nullptr;
    ASSERT_EQ(pthread_create(&thread, nullptr, call_while_cancelled, &cancelled), 0);
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_TRUE(cancelled.returned) << function.name;
    EXPECT_EQ(result, PTHREAD_CANCELED) << function.name;
    if (cancelled.status == GUF_OK) {
      fixture.finish_call(function, cancelled.words, cancelled.status);
    }
  }
}

// A loop that sleeps, which makes it a cancellation point inside a call.
void sleep_a_little(char **, const int64_t *, const int64_t *, void *) {
  usleep(100);
}

TEST(ProcessState, ACancelledThreadEndsAfterItsLoops) {
  static const guf_ufunc ufunc = make_unary("sleeping", sleep_a_little, nullptr);
  static uint32_t threads = 0;
  static size_t returned = 0;
  for (const uint32_t count : {0U, 1U, 3U}) {
    threads = count;
    pthread_t thread;
    void *result = nullptr;
    const auto entry = [](void *) -> void * {
      const std::vector<float> in(50, 1);
      std::vector<float> out(50);
      const Vector from(in), to(out);
      pthread_cancel(pthread_self());
      if (call(ufunc, {from.get()}, to.get(), nullptr, {.threads = threads}) == GUF_OK) ++returned;
      pthread_testcancel();
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, entry, nullptr), 0);
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
  }
  EXPECT_EQ(returned, 3U);
}

// The last test, because the library cannot be used after it.
TEST(ProcessState, Shutdown) {
  std::string changed;
  guf_status status = GUF_E_INTERNAL;
  {
    const Captured output;
    State before = capture_state(output);
    before.word = kHostileWords[9];
    before.error = EXDEV;
    errno = EXDEV;
    set_word(kHostileWords[9]);
    status = guf_shutdown(UINT64_MAX, nullptr);
    changed = differences(before, capture_state(output), output);
  }
  EXPECT_EQ(status, GUF_OK);
  EXPECT_EQ(changed, "");
}

// The plugin's constructor enables flush-to-zero, as a library that is linked with -ffast-math
// does.
TEST(ProcessState, APluginBuiltWithFastMath) {
  for (const FloatWord &word : {kDefaultWord, kHostileWords[4]}) {
    guf_error error = fresh_error();
    set_word(word);
    guf_backend_load(GUFUNC_FAST_MATH_PLUGIN, &error);
    const FloatWord after = read_word();
    set_word(kDefaultWord);
    EXPECT_TRUE(same_control(after, word)) << word.name;
  }
}

}  // namespace
