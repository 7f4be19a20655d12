// SPDX-License-Identifier: Apache-2.0
// The Python process in which `gufunc bench` measures other libraries.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_PEERS_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_PEERS_H

#include <sys/types.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench_workload.h"
#include "core/base/descriptor.h"

namespace gufunc::cli {

// Runs bench_peers.py in one Python process. The destructor ends it.
class BenchPeers {
 public:
  // Starts `python`, "python3" if it has no value, and finds the libraries `names`. Without a
  // python3, no library is available. Throws Failure(kFile) if `python` cannot be started, and
  // Failure(kRunTime) if the process ends.
  BenchPeers(const std::vector<std::string> &names, const std::optional<std::string> &python);
  BenchPeers(const BenchPeers &) = delete;
  BenchPeers &operator=(const BenchPeers &) = delete;
  ~BenchPeers();

  const std::vector<std::string> &names() const { return names_; }  // of available libraries
  const std::map<std::string, std::string> &versions() const { return versions_; }
  const std::map<std::string, std::string> &missing() const { return missing_; }  // with reasons
  const std::string &python_version() const { return python_version_; }

  // Makes the operands of a row in the process. Returns for each available library "", or the
  // reason why it does not run the row.
  std::map<std::string, std::string> prepare(const std::string &function, const BenchCase &row,
                                             const BenchPlan &plan, const BenchWorkload &work);
  // Returns the nanoseconds of `calls` calls of a library on these operands.
  double sample(const std::string &name, int64_t calls);

 private:
  bool start();
  nlohmann::json ask(const nlohmann::json &request, const char *key,
                     const std::vector<BenchOperand> *patterns = nullptr);
  bool send(const void *bytes, size_t size) const;
  [[noreturn]] void fail_ended(const std::string &activity);
  std::string last_message() const;

  std::string python_;
  pid_t pid_ = -1;
  base::Descriptor socket_, messages_;  // messages_: the standard error of the process
  std::string received_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> versions_, missing_;
  std::string python_version_;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_PEERS_H
