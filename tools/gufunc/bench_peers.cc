// SPDX-License-Identifier: Apache-2.0
#include "bench_peers.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "bench_peers_script.h"
#include "outcome.h"

namespace gufunc::cli {
namespace {

using nlohmann::json;

json operand_json(const BenchOperand &operand) {
  return {{"dtype", guf_dtype_name(operand.dtype)},
          {"size", operand.size},
          {"shape", operand.shape},
          {"strides", operand.strides},
          {"pattern", operand.pattern.size()}};
}

json operands_json(const std::vector<BenchOperand> &operands) {
  json list = json::array();
  for (const BenchOperand &operand : operands) list.push_back(operand_json(operand));
  return list;
}

// "exit code 1", "signal 9 (Killed)"
std::string status_text(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

// The attributes and descriptors of the process. It has its own process group, so that Ctrl-C ends
// only this program. The process then reads the end of its input and ends too.
class Spawn {
 public:
  Spawn() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
  }
  Spawn(const Spawn &) = delete;
  Spawn &operator=(const Spawn &) = delete;
  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  void connect(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  // Returns an errno value, or 0.
  int run(const std::string &program, const char *script, pid_t *out_pid) {
    std::array<std::string, 3> words = {program, "-c", script};
    char *const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    return ::posix_spawnp(out_pid, program.c_str(), &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

BenchPeers::BenchPeers(const std::vector<std::string> &names,
                       const std::optional<std::string> &python)
    : python_(python.value_or("python3")) {
  if (names.empty()) return;
  if (!start()) {
    if (python) fail_file("--python " + visible(python_), "start");
    for (const std::string &name : names) missing_[name] = python_ + " was not found";
    return;
  }
  const json answer = ask({{"do", "find"}, {"peers", names}}, "versions");
  const auto versions = answer["versions"].get<std::map<std::string, std::string>>();
  missing_ = answer["missing"].get<std::map<std::string, std::string>>();
  python_version_ = answer["python"].get<std::string>();
  for (const std::string &name : names) {
    const auto found = versions.find(name);
    if (found == versions.end()) continue;
    names_.push_back(name);
    versions_.insert(*found);
  }
}

BenchPeers::~BenchPeers() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Returns false and sets errno if the program cannot be started.
bool BenchPeers::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail_file(python_, "open a socket for", errno);
  socket_ = base::Descriptor(ends[0]);
  const base::Descriptor other(ends[1]);
  messages_ = base::Descriptor(::memfd_create("messages", MFD_CLOEXEC));
  if (!messages_.is_open()) fail_file(python_, "allocate memory for", errno);
  Spawn spawn;
  spawn.connect(other.get(), STDIN_FILENO);
  spawn.connect(other.get(), STDOUT_FILENO);
  spawn.connect(messages_.get(), STDERR_FILENO);
  errno = spawn.run(python_, kBenchPeersScript, &pid_);
  if (errno == 0) return true;
  pid_ = -1;
  return false;
}

// MSG_NOSIGNAL: if the process has ended, the call fails instead of raising SIGPIPE.
bool BenchPeers::send(const void *bytes, size_t size) const {
  const auto *next = static_cast<const char *>(bytes);
  while (size != 0) {
    const ssize_t sent = ::send(socket_.get(), next, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    next += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

// Sends a request and returns the answer, an object with the member `key`.
json BenchPeers::ask(const json &request, const char *key,
                     const std::vector<BenchOperand> *patterns) {
  const std::string activity = request["do"] == "find" ? "looked for libraries"
                               : request["do"] == "prepare"
                                   ? "prepared a row"
                                   : "measured " + request["peer"].get<std::string>();
  const std::string line = request.dump() + "\n";
  bool sent = send(line.data(), line.size());
  for (size_t i = 0; sent && patterns != nullptr && i < patterns->size(); ++i)
    sent = send((*patterns)[i].pattern.data(), (*patterns)[i].pattern.size());
  size_t end = received_.find('\n');
  while (sent && end == std::string::npos) {
    std::array<char, 4096> bytes;
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    received_.append(bytes.data(), static_cast<size_t>(got));
    end = received_.find('\n');
  }
  if (end == std::string::npos) fail_ended(activity);
  json answer = json::parse(received_.substr(0, end), nullptr, false);
  if (!answer.is_object() || !answer.contains(key)) {
    throw Failure(Exit::kRunTime, fmt::format("{}: expected an answer with '{}', got '{}'", python_,
                                              key, received_.substr(0, std::min<size_t>(end, 80))));
  }
  received_.erase(0, end + 1);
  return answer;
}

void BenchPeers::fail_ended(const std::string &activity) {
  int status = 0;
  ::kill(pid_, SIGKILL);  // no effect unless only its connection has ended
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  const std::string message = last_message();
  throw Failure(Exit::kRunTime,
                fmt::format("{} ended while it {}: {}{}{}", python_, activity, status_text(status),
                            message.empty() ? "" : ": ", message));
}

// Returns the last line on the standard error of the process.
std::string BenchPeers::last_message() const {
  constexpr off_t kMost = 500;
  const off_t size = ::lseek(messages_.get(), 0, SEEK_END);
  std::string text(static_cast<size_t>(std::min(std::max<off_t>(size, 0), kMost)), '\0');
  const ssize_t got =
      ::pread(messages_.get(), text.data(), text.size(), std::max<off_t>(size - kMost, 0));
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

std::map<std::string, std::string> BenchPeers::prepare(const std::string &function,
                                                       const BenchCase &row, const BenchPlan &plan,
                                                       const BenchWorkload &work) {
  std::map<std::string, std::string> reasons;
  if (names_.empty()) return reasons;
  const size_t colon = function.find(':');  // of "module:name"
  const json answer =
      ask({{"do", "prepare"},
           {"peers", names_},
           {"function", colon == std::string::npos ? function : function.substr(colon + 1)},
           {"method", row.method},
           {"axis", plan.axis ? json(*plan.axis) : json()},
           {"device", row.device},
           {"threads", row.threads},
           {"inputs", operands_json(work.inputs())},
           {"outputs", operands_json(work.outputs())}},
          "reasons", &work.inputs());
  for (const std::string &name : names_) {
    const json &reason = answer["reasons"][name];
    reasons[name] = reason.is_string() ? reason.get<std::string>() : "";
  }
  return reasons;
}

double BenchPeers::sample(const std::string &name, int64_t calls) {
  const json answer = ask({{"do", "sample"}, {"peer", name}, {"calls", calls}}, "ns");
  return answer["ns"].get<double>();
}

}  // namespace gufunc::cli
