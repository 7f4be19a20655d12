// SPDX-License-Identifier: Apache-2.0
// Ufuncs: the signature, the loops in the order in which they are tried, and the origin of their
// kernels.
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

// The number of devices for which a loop stores kernels: the cpu and 16 others.
inline constexpr int kMaxDevices = 17;

// A loop of a ufunc. It lives as long as the ufunc. Its kernels are looked up per device on first
// use.
struct Loop {
  std::array<guf_dtype, GUF_MAX_OPERANDS> types = {};
  // A guf_loop_kind. For a builtin loop, backend::kernel_of sets it together with the kernel, from
  // the backend's table.
  mutable std::atomic<int32_t> kind{GUF_LOOP_NUMPY};
  // The message of a loop of a module or backend that can fail. Set together with the kernel.
  mutable std::atomic<const char *> failure{nullptr};
  uint32_t flags = 0;  // guf_loop_flag
  // The code of the loop: a host function that a program registered, or a kernel in a module's
  // table, or, if both are nullptr, the builtin kernel of this name and these types in the device's
  // backend.
  void (*host)(void) = nullptr;
  void *user = nullptr;
  // For a loop over datetime types with units: the loop of the ufunc that has the code, and its
  // index. nullptr for loops that were added to the ufunc.
  const Loop *general = nullptr;
  uint32_t general_index = 0;
  guf_destroy_fn destroy = nullptr;
  base::OwedCallback owed;  // the pending call of `destroy`, created by add_loops
  const guf_module_v1 *table = nullptr;
  const guf_module_function *function = nullptr;
  uint32_t kernel = 0;
  base::Ref<base::Object> owner;  // retains the module
  // Indexed by device number. backend::kernel_of sets each entry once; nullptr: not looked up yet.
  mutable std::array<std::atomic<void *>, kMaxDevices> kernels = {};
  // The same for the loop's reduction entry points, set by backend::fold_of. An entry that points
  // to the loop itself means that the device has none.
  mutable std::array<std::atomic<const void *>, kMaxDevices> folds = {};
};

// Whether the code is a function that the program registered, about which nothing is known.
inline bool is_host_function(const Loop &loop) {
  return loop.host != nullptr;
}

// An immutable list of loops, with the cached choices among them. Adding a loop creates a new list,
// so a call sees the loops either before or after the addition, and a cached choice never outlives
// its list.
struct LoopList {
  std::vector<Loop *> loops;
  mutable ChoiceCache choices;
};

// Creates the pending call of a `destroy`; empty for nullptr. Throws std::bad_alloc, and then no
// call is pending.
base::OwedCallback owe_destroy(guf_destroy_fn destroy, void *user);

// The rule by which NumPy resolves a ufunc, if it does more than search (core/resolve). kSearch for
// all ufuncs of programs.
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
  base::OwedCallback core_dims_owed;  // the pending call of the hook's `destroy`
  // For a ufunc of a module: the registry entry that points to this ufunc without retaining it, and
  // the index of the function.
  std::shared_ptr<ModuleEntry> home;
  uint32_t home_index = 0;

  int32_t nin() const { return signature.nin; }
  int32_t nout() const { return signature.nout; }
  int32_t noperands() const { return signature.nin + signature.nout; }

  const LoopList &loops() const { return *list_.load(std::memory_order_acquire); }
  // Loops over datetime types with units, created when a call needs them.
  UnitLoops &unit_loops() { return unit_loops_; }

  // Errors  GUF_E_EXISTS <= a loop with these input types exists; without inputs or outputs: with
  //         these types
  guf_status add_loop(std::unique_ptr<Loop> loop, guf_error *error);
  // Adds all loops or none. Other threads see all of them at once.
  guf_status add_loops(std::vector<std::unique_ptr<Loop>> loops, guf_error *error);

  // The parts of a reduction with a user-defined accumulator, or nullptr if the ufunc is none.
  const StateFold *state_fold() const { return state_fold_.load(std::memory_order_acquire); }
  // Errors  GUF_E_SIGNATURE <= the parts do not match
  //         GUF_E_EXISTS <= the ufunc is a reduction already
  guf_status set_state_fold(StateFold fold, guf_error *error);

 private:
  std::mutex mutex_;
  std::unique_ptr<StateFold> own_state_fold_;
  std::atomic<const StateFold *> state_fold_{nullptr};
  std::atomic<LoopList *> list_{&empty_};
  std::vector<std::unique_ptr<LoopList>> lists_;  // keeps older lists, which calls may still read
  std::vector<std::unique_ptr<Loop>> loops_;
  LoopList empty_;
  UnitLoops unit_loops_;
};

// Returns a loop's types as letters: "ff->f".
base::Text types_of(const Ufunc &ufunc, const Loop &loop);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_UFUNC_H
