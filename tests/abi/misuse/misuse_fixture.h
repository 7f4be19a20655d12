// SPDX-License-Identifier: Apache-2.0
// Good arguments for every exported function, and the ways to break them.
#ifndef GUFUNC_TESTS_ABI_MISUSE_MISUSE_FIXTURE_H
#define GUFUNC_TESTS_ABI_MISUSE_MISUSE_FIXTURE_H

#include <map>
#include <set>
#include <string>

#include "misuse_model.h"

namespace misuse {

// A broken value of a parameter and the statuses that are right for it.
struct Fault {
  std::string what;
  uint64_t word;
  std::set<guf_status> wanted;  // empty: the call may also succeed
};

class Fixture {
 public:
  static constexpr size_t kRoom = 20480;  // of one out-parameter
  static constexpr size_t kDataCount = 6;

  Fixture();
  ~Fixture();
  // One for all tests: a name can be registered once.
  static Fixture &shared();

  // Arguments that the function takes. Resets all memory they point at.
  Words good(const Function &function);
  // The statuses of a good call.
  std::set<guf_status> good_statuses(const Function &function) const;
  // Every way in which a parameter can be broken.
  std::vector<Fault> faults(const Function &function, size_t parameter);

  // Remembers outputs before a call, and tells whether they are the same after it.
  void remember(const Function &function);
  std::string difference(const Function &function) const;

  // Around a call: references that it takes or gives are balanced.
  void prepare(const Function &function, const Words &words);
  void settle(const Function &function, const Words &words, guf_status status);

  // Handles of arrays that are none any more, or never were.
  const std::vector<std::pair<std::string, uint64_t>> &dead() const { return dead_; }
  uint64_t live(int kind) const { return live_[static_cast<size_t>(kind)]; }
  uint64_t out_room(size_t parameter) { return reinterpret_cast<uint64_t>(outs_[parameter]); }
  const Struct &structure(const char *name) const;
  // The good struct of that name behind a struct parameter, with room for a tail of 64 bytes.
  unsigned char *struct_room(const std::string &name);
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
  std::vector<std::pair<std::string, uint64_t>> dead_;  // freed, foreign and invented handles
  std::map<std::string, uint64_t> good_;                // by "parameter" or "function.parameter"
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
  alignas(16) unsigned char struct_room_[4096] = {};
  alignas(16) unsigned char options_room_[256] = {};
  std::vector<std::vector<unsigned char>> variants_;  // broken structs of one parameter
  alignas(16) unsigned char outs_[12][kRoom] = {};
  alignas(16) unsigned char saved_[12][kRoom] = {};
};

}  // namespace misuse

#endif  // GUFUNC_TESTS_ABI_MISUSE_MISUSE_FIXTURE_H
