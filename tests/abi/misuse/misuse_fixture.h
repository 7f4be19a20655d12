// SPDX-License-Identifier: Apache-2.0
// Provides valid arguments for every exported function, and invalid values for each argument.
#ifndef GUFUNC_TESTS_ABI_MISUSE_MISUSE_FIXTURE_H
#define GUFUNC_TESTS_ABI_MISUSE_MISUSE_FIXTURE_H

#include <map>
#include <set>
#include <string>

#include "misuse_model.h"

namespace misuse {

// An invalid value of a parameter, and the statuses that a call with this value may return.
struct Fault {
  std::string what;
  uint64_t word;
  std::set<guf_status> expected;  // if it contains GUF_OK, the call may succeed
};

class Fixture {
 public:
  static constexpr size_t kCapacity = 20480;  // number of bytes for one out-parameter
  static constexpr size_t kDataCount = 6;

  Fixture();
  ~Fixture();
  // Returns the fixture that all tests share. A second fixture would fail, because a name can be
  // registered only once.
  static Fixture &shared();

  // Returns valid arguments, and resets all memory to which the arguments refer.
  Words good(const Function &function);
  // Returns the statuses that a call with valid arguments may return.
  std::set<guf_status> good_statuses(const Function &function) const;
  // Returns all invalid values for a parameter.
  std::vector<Fault> faults(const Function &function, size_t parameter);

  // Saves the outputs before a call.
  void remember(const Function &function);
  std::string difference(const Function &function) const;

  // Adjust reference counts before and after a call that consumes or returns references.
  void prepare(const Function &function, const Words &words);
  void finish_call(const Function &function, const Words &words, guf_status status);

  // Returns handles of destroyed arrays, handles of another copy of the library, and arbitrary
  // numbers.
  const std::vector<std::pair<std::string, uint64_t>> &dead() const { return dead_; }
  uint64_t live(int kind) const { return live_[static_cast<size_t>(kind)]; }
  uint64_t out_buffer(size_t parameter) { return reinterpret_cast<uint64_t>(outs_[parameter]); }
  const Struct &structure(const char *name) const;
  // Returns the valid struct with this name, to which a struct parameter points. The buffer
  // contains 64 more bytes after the struct.
  unsigned char *struct_buffer(const std::string &name);
  guf_error *error() { return &error_; }

 private:
  void make_ufunc_and_plan();
  void make_stale_handles();
  void make_structs();
  void make_tensors();
  static void delete_tensor(const char *function, const void *out);
  void make_method_args();
  void fill_method_args(const std::string &name, const std::string &function);
  void fill_options();
  void fill_struct(const std::string &name, const std::string &function);
  void add_handle_faults(const Function &function, const Parameter &parameter,
                         std::vector<Fault> *out) const;
  void add_value_faults(const Function &function, const Parameter &parameter,
                        std::vector<Fault> *out) const;
  void add_struct_faults(const Function &function, size_t index, std::vector<Fault> *out);

  std::array<uint64_t, kHandleKinds> live_ = {};
  std::vector<std::pair<std::string, uint64_t>> dead_;  // freed, foreign and arbitrary handles
  std::map<std::string, uint64_t> good_;                // keys: "parameter" or "function.parameter"
  guf_tensor tensor_ = {};
  guf_call_args args_ = {};
  guf_reduce_args reduce_args_ = {};
  guf_accumulate_args accumulate_args_ = {};
  guf_at_args at_args_ = {};
  guf_tensor row_ = {};
  guf_operand row_output_ = {};
  guf_operand inputs_[2] = {};
  guf_operand outputs_[1] = {};
  guf_ufunc_desc desc_ = {};
  guf_loop_desc loop_desc_ = {};
  double data_[kDataCount] = {};
  double saved_data_[kDataCount] = {};
  guf_error error_ = {};
  char fresh_name_[64] = {};
  uint64_t fresh_count_ = 0;
  void *foreign_library_ = nullptr;
  alignas(16) unsigned char struct_buffer_[4096] = {};
  alignas(16) unsigned char options_buffer_[256] = {};
  std::vector<std::vector<unsigned char>> variants_;  // invalid structs for one parameter
  alignas(16) unsigned char outs_[12][kCapacity] = {};
  alignas(16) unsigned char saved_[12][kCapacity] = {};
};

}  // namespace misuse

#endif  // GUFUNC_TESTS_ABI_MISUSE_MISUSE_FIXTURE_H
