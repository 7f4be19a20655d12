// SPDX-License-Identifier: Apache-2.0
// What a ufunc is: its signature, its loops in the order they are tried, and where their kernels
// come from.
#ifndef GUFUNC_CORE_OP_UFUNC_H
#define GUFUNC_CORE_OP_UFUNC_H

#include <gufunc/ufunc.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/callbacks.h"
#include "core/base/error.h"
#include "core/base/object.h"
#include "core/op/choice_cache.h"
#include "core/op/signature.h"
#include "core/op/state_fold.h"
#include "core/op/unit_loops.h"

namespace gufunc::op {

// Open devices of a process, which a loop keeps kernels for: the cpu and 16 more, as a machine may
// hold.
inline constexpr int kMaxDevices = 17;

// One type loop. Immortal within its ufunc; kernels are found per device on first use.
struct Loop {
  std::array<guf_dtype, GUF_MAX_OPERANDS> types = {};
  // guf_loop_kind. Of a builtin loop the backend's table says it: set with the kernel, by
  // backend::kernel_of.
  mutable std::atomic<int32_t> kind{GUF_LOOP_NUMPY};
  // What a failing loop of a module or backend says; set with the kernel too.
  mutable std::atomic<const char *> failure{nullptr};
  uint32_t flags = 0;  // guf_loop_flag
  // Where the code is: a registered host function, or a kernel of a module's table, or (both
  // null) the builtin kernel of this name and types that the device's backend brings.
  void (*host)(void) = nullptr;
  void *user = nullptr;
  // Of a loop over times with units: the ufunc's loop whose code this is, and its number. Null for
  // those that the ufunc was given.
  const Loop *general = nullptr;
  uint32_t general_index = 0;
  guf_destroy_fn destroy = nullptr;
  base::OwedCallback owed;  // the call of `destroy`; made by add_loop
  const guf_module_v1 *table = nullptr;
  const guf_module_function *function = nullptr;
  uint32_t kernel = 0;
  base::Ref<base::Object> owner;  // keeps the module mapped
  // By device number; set once by backend::kernel_of. Null: not asked for yet.
  mutable std::array<std::atomic<void *>, kMaxDevices> kernels = {};
  // The same of its fold entries, by backend::fold_of; a place that holds the loop itself means
  // that there is none.
  mutable std::array<std::atomic<const void *>, kMaxDevices> folds = {};
};

// Whether the loop's code is a function that the program registered: it may do anything.
inline bool is_host_function(const Loop &loop) {
  return loop.host != nullptr;
}

// An immutable list of loops with the choices made over it. Adding a loop makes a new list, so a
// call sees the loops before or after and a choice never outlives its list.
struct LoopList {
  std::vector<Loop *> loops;
  mutable ChoiceCache choices;
};

// The call of a `destroy`, empty for nullptr.  Throws std::bad_alloc, and then owes nothing.
base::OwedCallback owe_destroy(guf_destroy_fn destroy, void *user);

// Where NumPy's ufunc does not resolve by search alone (core/resolve); kSearch for all that
// programs make.
enum class TypeRule : uint8_t {
  kSearch,
  kAbsolute,
  kAdd,
  kComparison,
  kDivide,
  kExtreme,
  kFloorDivide,
  kIsNaT,
  kLogical,
  kMultiply,
  kNegative,
  kRemainder,
  kSign,
  kSubtract,
};

class ModuleEntry;

class Ufunc final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kUfunc;
  Ufunc() : Object(kKind) {}
  ~Ufunc() override;  // runs or queues the loops' destroy callbacks

  std::string name;       // short
  std::string full_name;  // "module:name"; equal to name in the standard library
  std::string doc;
  Signature signature;  // nin, nout, core dimensions, roles, rules
  int32_t identity = GUF_IDENTITY_NONE;
  uint32_t flags = 0;  // guf_function_flag
  TypeRule type_rule = TypeRule::kSearch;
  guf_core_dims_fn core_dims = nullptr;  // the program's hook for sizes
  void *core_dims_user = nullptr;
  base::OwedCallback core_dims_owed;  // the call of its `destroy`
  // A module's ufunc: the registry's entry that points here without keeping it, and the
  // function's number.
  std::shared_ptr<ModuleEntry> home;
  uint32_t home_index = 0;

  int32_t nin() const { return signature.nin; }
  int32_t nout() const { return signature.nout; }
  int32_t noperands() const { return signature.nin + signature.nout; }

  const LoopList &loops() const { return *list_.load(std::memory_order_acquire); }
  // Loops over times with units, made from those as calls ask for them.
  UnitLoops &unit_loops() { return unit_loops_; }

  // Errors  GUF_E_EXISTS <= a loop with these input types (for a ufunc without outputs: these
  // types) exists
  guf_status add_loop(std::unique_ptr<Loop> loop, guf_error *error);
  // All or none, seen at once.
  guf_status add_loops(std::vector<std::unique_ptr<Loop>> loops, guf_error *error);

  // What makes it a reduction with a state; nullptr: it is none.
  const StateFold *state_fold() const { return state_fold_.load(std::memory_order_acquire); }
  // Errors  GUF_E_SIGNATURE <= the parts do not fit;  GUF_E_EXISTS <= it is one already
  guf_status set_state_fold(StateFold fold, guf_error *error);

 private:
  std::mutex mutex_;
  std::unique_ptr<StateFold> own_state_fold_;
  std::atomic<const StateFold *> state_fold_{nullptr};
  std::atomic<LoopList *> list_{&empty_};
  std::vector<std::unique_ptr<LoopList>> lists_;  // older lists live on: a call may still read them
  std::vector<std::unique_ptr<Loop>> loops_;
  LoopList empty_;
  UnitLoops unit_loops_;
};

// A loop's types as letters: "ff->f".
base::Text types_of(const Ufunc &ufunc, const Loop &loop);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_UFUNC_H
