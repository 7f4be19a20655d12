// SPDX-License-Identifier: Apache-2.0
// Operands read from files, streams, archives and literals.
#ifndef GUFUNC_TOOLS_GUFUNC_OPERAND_FILES_H
#define GUFUNC_TOOLS_GUFUNC_OPERAND_FILES_H

#include <gufunc/gufunc.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "npy_file.h"
#include "npz_file.h"
#include "owned_handle.h"

namespace gufunc::cli {

// Owns the arrays and files of the operands of one call. The operands that its functions return are
// valid as long as this object.
class OperandFiles {
 public:
  explicit OperandFiles(bool raw) : raw_(raw) {}
  OperandFiles(const OperandFiles &) = delete;
  OperandFiles &operator=(const OperandFiles &) = delete;

  // Opens a .npy file. With `writable` its elements may be changed in memory; the file does not
  // change.
  guf_operand file(const std::string &path, bool writable);
  // Opens a .npy file if `text` names one, else parses a literal.
  guf_operand operand_of(const std::string &text, bool writable);
  // Opens a .npy file if `text` names one, else parses a list of integers: "0,3,5".
  guf_operand indices_of(const std::string &text);
  // Creates a file that gets its name in commit().
  guf_operand new_file(const std::string &path, guf_dtype dtype, const std::vector<int64_t> &shape,
                       bool fortran_order);
  // Creates a new file with a copy of the elements of an existing one.
  guf_operand copy_of(const guf_operand &old, const std::string &path);
  // Creates a new file with the elements of an existing one, which it replaces at commit(). If the
  // call fails, the existing file is unchanged.
  guf_operand successor_of(const guf_operand &old);
  // Checks whether successor_of() would succeed, for --explain.
  void check_successor(const guf_operand &old) const;
  // Allocates the outputs of `run` (guf_call or guf_outer), filled with zeros. Elements that
  // args.where excludes are then 0 instead of uninitialized.
  std::vector<ArrayHandle> zeros(guf_ufunc ufunc, guf_call_args args,
                                 guf_status (*run)(guf_ufunc, guf_call_args *, guf_error *));

  const std::deque<NpyOutput> &new_files() const { return new_files_; }
  // Refuses bytes of standard input that no operand has read.
  void check_inputs() const;
  void commit();
  uint64_t touched_bytes() const;
  uint64_t touched_elements() const;

 private:
  struct FalseMask {
    std::unique_ptr<void, decltype(&std::free)> elements;
    guf_tensor tensor;
  };
  guf_operand all_false(const guf_operand &mask);
  const NpyInput &source_of(const guf_operand &old) const;
  guf_operand copied(const NpyInput &source, const guf_operand &old, const std::string &path,
                     NpyOutput::Over over);

  NpzOutput &archive_of(const std::string &path);

  bool raw_;
  std::deque<NpzOutput> archives_;
  std::deque<NpyInput> files_;  // deques, because operands point into them
  std::deque<NpyOutput> new_files_;
  std::deque<guf_tensor> tensors_;
  std::deque<std::vector<int64_t>> lists_;
  std::deque<FalseMask> masks_;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_OPERAND_FILES_H
