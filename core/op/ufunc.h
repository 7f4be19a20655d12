// SPDX-License-Identifier: Apache-2.0
// Ufuncs and their loops. Loops are stored in the order in which resolution tries them. A ufunc
// also caches the results of resolutions, and the loops for datetime types with units.
#ifndef GUFUNC_CORE_OP_UFUNC_H
#define GUFUNC_CORE_OP_UFUNC_H

#include <gufunc/dtype.h>
#include <gufunc/ufunc.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/callbacks.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/object.h"
#include "core/op/signature.h"
#include "core/op/state_reduction.h"

namespace gufunc::op {

// An append-only, bounded cache of resolution results for a list of loops, read without a lock.
// Keys and values are 64-bit words whose meaning the caller defines; 0 is not a valid key. Entries
// are never changed or removed, so readers always find complete entries. The table is allocated
// with the first entry, because most ufuncs of a process are never called.
class ChoiceCache {
 public:
  ChoiceCache() = default;
  ChoiceCache(const ChoiceCache &) = delete;
  ChoiceCache &operator=(const ChoiceCache &) = delete;
  ~ChoiceCache() { delete[] table_.load(std::memory_order_relaxed); }

  bool find(uint64_t key, uint64_t *out_value) const {
    const Entry *const table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return false;
    for (uint64_t i = hash(key);; ++i) {
      const Entry &entry = table[i % kSize];
      const uint64_t seen = entry.key.load(std::memory_order_acquire);
      if (seen == key) {
        *out_value = entry.value;
        return true;
      }
      if (seen == 0) return false;
    }
  }

  // Adds an entry. Does nothing if another thread is adding one or the table is full; the next call
  // with this key then resolves again.
  void add(uint64_t key, uint64_t value);

  static constexpr uint64_t kSize = 256;
  static constexpr uint64_t kMaxEntries = 192;  // leaves empty entries, which end a search

 private:
  struct Entry {
    std::atomic<uint64_t> key{0};
    uint64_t value = 0;  // written before the key
  };

  static uint64_t hash(uint64_t key) { return (key * 0x9E3779B97F4A7C15ULL) >> 40; }

  std::atomic<Entry *> table_{nullptr};
  std::atomic_flag writing_ = ATOMIC_FLAG_INIT;
  uint64_t nentries_ = 0;
};

struct Loop;

// Loops for datetime types with units, which are created when calls need them. The loops that are
// added to a ufunc have datetime types without units. The set is append-only and is read without a
// lock. All steps after resolution use types with units, so that operands with other units are
// converted.
class UnitLoops {
 public:
  UnitLoops() = default;
  UnitLoops(const UnitLoops &) = delete;
  UnitLoops &operator=(const UnitLoops &) = delete;
  ~UnitLoops();

  // The maximum number of loops that at() can return. Later loops have no number, so every call
  // finds them by their types.
  static constexpr uint32_t kNumbered = 1024;
  static constexpr uint32_t kNoNumber = UINT32_MAX;

  struct Found {
    const Loop *loop;
    uint32_t number;
  };

  // Finds the loop that runs `general`, which is loop `index` of the ufunc, on `types`. Creates it
  // if it does not exist. Throws std::bad_alloc.
  Found find(const Loop &general, uint32_t index, const guf_dtype *types, int32_t ntypes);
  const Loop &at(uint32_t number) const;

 private:
  struct Node;
  struct Table;
  const Node *look_up(const Table *table, const Loop &general, const guf_dtype *types,
                      int32_t ntypes) const;

  std::atomic<Table *> table_{nullptr};
  base::ForkLock lock_;  // taken by writers only
};

// The number of devices for which a loop stores kernels: the cpu and 16 others.
inline constexpr int kMaxDevices = 17;

// A loop, owned by its ufunc. Its kernels are looked up per device on first use.
struct Loop {
  std::array<guf_dtype, GUF_MAX_OPERANDS> types = {};
  // A guf_loop_kind. For a builtin loop, backend::load_kernel copies the kind from the backend's
  // table when it looks up the kernel.
  mutable std::atomic<int32_t> kind{GUF_LOOP_NUMPY};
  // The error message for a failure of a loop of a module or backend; nullptr if the loop cannot
  // fail. Set together with the kernel.
  mutable std::atomic<const char *> failure{nullptr};
  uint32_t flags = 0;  // bits of guf_loop_flag
  // The code of a loop is one of these: `host`, a function that a program registered; kernel number
  // `kernel` of the module table `table`; or, if both pointers are nullptr, the builtin kernel with
  // the ufunc's name and these types in the device's backend.
  void (*host)(void) = nullptr;
  void *user = nullptr;
  // For a loop that was created for datetime types with units: the loop of the ufunc whose code
  // this loop runs, and the index of that other loop. nullptr for loops that were added to the
  // ufunc.
  const Loop *general = nullptr;
  uint32_t general_index = 0;
  guf_destroy_fn destroy = nullptr;
  base::DeferredCallback pending_destroy;  // the pending call of `destroy`, created by add_loops
  const guf_module_v1 *table = nullptr;
  const guf_module_function *function = nullptr;
  uint32_t kernel = 0;
  base::Ref<base::Object> owner;  // retains the module
  // Indexed by device number. backend::load_kernel sets each entry once; nullptr until then.
  mutable std::array<std::atomic<void *>, kMaxDevices> kernels = {};
  // The loop's reduction entry points, indexed by device number. backend::load_fold sets each entry
  // once. An entry that points to the loop itself means that the device has no such entry point.
  mutable std::array<std::atomic<const void *>, kMaxDevices> folds = {};
};

// Returns whether the loop's code is a function that a program registered. The library knows
// nothing about what such a function does.
inline bool is_host_function(const Loop &loop) {
  return loop.host != nullptr;
}

// An immutable list of loops, with a cache of the choices among them. Adding a loop creates a new
// list, so a call sees the same loops from beginning to end, and a cached choice never outlives its
// list.
struct LoopList {
  std::vector<Loop *> loops;
  mutable ChoiceCache choices;
};

// Creates the pending call of `destroy`; empty if `destroy` is nullptr. Throws
// std::bad_alloc, in which case no call is pending.
base::DeferredCallback defer_destroy(guf_destroy_fn destroy, void *user);

// The rule by which NumPy resolves a ufunc, if a plain search of the loops is not enough
// (core/resolve). Always kSearch for ufuncs that a program registered.
enum class TypeRule : uint8_t {
  kSearch,
  kAbsolute,
  kAdd,
  kComparison,
  kDivide,
  kDivmod,
  kExtreme,
  kFloorDivide,
  kInteger,
  kIsFinite,
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
  ~Ufunc() override;  // runs or queues the destroy callbacks of the loops

  std::string name;       // without the module's name
  std::string full_name;  // "module:name"; equal to name in the standard library
  std::string doc;
  Signature signature;  // nin, nout, core dimensions, roles, rules
  int32_t identity = GUF_IDENTITY_NONE;
  uint32_t flags = 0;  // bits of guf_function_flag
  TypeRule type_rule = TypeRule::kSearch;
  guf_core_dims_fn core_dims = nullptr;  // the program's hook that determines core dimension sizes
  void *core_dims_user = nullptr;
  base::DeferredCallback core_dims_release;  // the pending call of the hook's `destroy`
  // For a ufunc of a module: the registry entry that points to this ufunc without retaining it, and
  // the index of the function in the module.
  std::shared_ptr<ModuleEntry> module_entry;
  uint32_t function_index = 0;

  int32_t nin() const { return signature.nin; }
  int32_t nout() const { return signature.nout; }
  int32_t noperands() const { return signature.nin + signature.nout; }

  const LoopList &loops() const { return *list_.load(std::memory_order_acquire); }
  // Returns the loops for datetime types with units, which are created when a call needs them.
  UnitLoops &unit_loops() { return unit_loops_; }

  // Errors  GUF_E_EXISTS <= a loop with these input types exists; for a ufunc without inputs or
  //         without outputs: a loop with all these types exists
  guf_status add_loop(std::unique_ptr<Loop> loop, guf_error *error);
  // Adds all loops or none. Other threads never find only some of them.
  guf_status add_loops(std::vector<std::unique_ptr<Loop>> loops, guf_error *error);

  // Returns the parts of a reduction with a user-defined accumulator, or nullptr for other ufuncs.
  const StateReduction *state_reduction() const {
    return state_reduction_.load(std::memory_order_acquire);
  }
  // Errors  GUF_E_SIGNATURE <= the parts do not match
  //         GUF_E_EXISTS <= the ufunc is a reduction already
  guf_status set_state_reduction(StateReduction reduction, guf_error *error);

 private:
  std::mutex mutex_;
  std::unique_ptr<StateReduction> own_state_reduction_;
  std::atomic<const StateReduction *> state_reduction_{nullptr};
  std::atomic<LoopList *> list_{&empty_};
  std::vector<std::unique_ptr<LoopList>> lists_;  // includes old lists, which calls may still read
  std::vector<std::unique_ptr<Loop>> loops_;
  LoopList empty_;
  UnitLoops unit_loops_;
};

// Returns the types of a loop as letters, such as "ff->f".
base::Text types_of(const Ufunc &ufunc, const Loop &loop);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_UFUNC_H
