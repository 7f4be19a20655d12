// SPDX-License-Identifier: Apache-2.0
// Functions in the form that warps execute.
#ifndef GUFUNC_TESTS_PTX_PTX_PROGRAM_H
#define GUFUNC_TESTS_PTX_PTX_PROGRAM_H

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/ptx_module.h"
#include "tests/ptx/ptx_types.h"

namespace ptx {

class Warp;
struct Instruction;
struct Function;

// Executes an instruction for the lanes of a warp whose bits are set.
using Handler = void (*)(Warp &warp, const Instruction &instruction, uint32_t lanes);

// What the warp does besides calling the handler.
enum class Flow : uint8_t {
  kPlain,
  kBranch,
  kCall,
  kReturn,
  kExit,
  kWarpSync,  // all lanes of a mask execute the instruction together
  kBarrier,
};

// The mode of a barrier that all lanes of a warp must execute together.
constexpr uint8_t kAligned = 1;
// The mode of an atomic or volatile access.
constexpr uint8_t kStrong = 1;
// The mode of a `bar.warp.sync`, which orders the memory accesses of the lanes.
constexpr uint8_t kWarpBarrier = 8;
// The modes of instructions whose output may not depend on all inputs: `selp`, and `and.pred` and
// `or.pred`.
constexpr uint8_t kSelects = 16;
constexpr uint8_t kAnds = 17;
constexpr uint8_t kOrs = 18;

// Identifies the value of an operand. Register 0 and predicate 0 receive results that the program
// discards, and have no defined value.
struct Operand {
  enum Kind : uint8_t { kRegister, kConstant, kPredicate, kConstantPredicate };

  Kind kind = kRegister;
  uint32_t index = 0;  // for a constant predicate, its value
};

struct Instruction {
  Handler handler = nullptr;
  Flow flow = Flow::kPlain;
  Space space = Space::kGeneric;
  uint8_t bytes = 0;  // size of an element in memory
  uint8_t count = 1;  // number of elements in memory
  bool is_signed = false;
  uint8_t mode = 0;  // meaning depends on the handler
  uint8_t noutputs = 0;
  uint8_t noperands = 0;  // including outputs, which come first
  bool guard_negated = false;
  bool uses_memory = false;
  uint32_t guard = 0;  // predicate register, or 0 for none
  uint32_t line = 0;
  uint32_t target = 0;       // instruction of a branch, or index of a call
  int64_t offset = 0;        // of an address
  uint64_t output_mask = 0;  // bits of the output register
  std::array<Operand, 8> operands;

  const Operand &output(size_t i) const { return operands[i]; }
  const Operand &input(size_t i) const { return operands[noutputs + i]; }
};

// Bytes that a call copies between the parameter areas of two functions.
struct Transfer {
  uint32_t caller, callee, bytes;
};

struct Call {
  const Function *callee = nullptr;
  std::vector<Transfer> arguments, results;
};

enum class Special : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kLanemaskEq,
  kLanemaskLt,
  kLanemaskLe,
  kLanemaskGt,
  kLanemaskGe,
  kDynamicSmemSize,
  kTotalSmemSize,
  kLocalAddress,
};

// A register with a value when the function starts: a special register, or the address of a local
// variable (kLocalAddress plus `offset`).
struct Preset {
  uint32_t reg;
  Special special;
  uint64_t offset;
};

struct Function {
  std::string_view name;
  std::vector<Instruction> instructions;
  std::vector<Call> calls;
  std::vector<std::array<uint64_t, kWarpSize>> constants;  // one value per lane, all equal
  std::vector<Preset> presets;
  uint32_t nregisters = 1, npredicates = 1;
  uint32_t local_bytes = 0;
  // The parameter area has the parameters of the function, its results, and the parameters of its
  // calls. The parameters of an entry are the same for all threads, and are not in the area.
  std::vector<Transfer> parameters, results;  // only `callee` and `bytes` are used
  uint32_t uniform_bytes = 0;                 // size of the parameters of an entry
  uint32_t area_bytes = 0;                    // end of the area; it begins at `uniform_bytes`
  const FunctionText *text = nullptr;
};

// A module whose functions are decoded when they are first used.
class Program {
 public:
  // Throws Fault.
  explicit Program(std::string text);
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  // Returns an entry. Decodes it and the functions that it calls at the first request. Any thread
  // may call this function. Throws Fault.
  const Function &entry(std::string_view name);

  // Returns the names of all entries.
  std::vector<std::string_view> entries() const;

  const Module &module() const { return module_; }
  // Returns a line of the text without surrounding space.
  std::string_view line(uint32_t number) const;

  uint64_t static_shared_bytes() const { return static_shared_bytes_; }
  // Returns the bytes of the variables in the state spaces .global and .const that contain the
  // address, or null.
  const Variable *variable_at(uint64_t address) const;

  // Used by the decoder. Returns the address of a module variable.
  uint64_t address_of(const Variable &variable) const;
  // Used by the decoder. Returns a function, which may not be decoded yet.
  Function *function(std::string_view name);

 private:
  struct Global {
    const Variable *variable;
    std::unique_ptr<unsigned char[]> storage;
    uint64_t address;
  };

  void place_variables();
  void place(const Variable &variable);

  std::string text_;
  Module module_;
  std::vector<size_t> line_starts_;
  uint64_t static_shared_bytes_ = 0;
  std::vector<Global> placed_;
  std::map<const Variable *, uint64_t> addresses_;
  std::mutex mutex_;  // protects the members below
  std::map<std::string_view, std::unique_ptr<Function>> functions_;
  std::vector<Function *> undecoded_;
  std::optional<Fault> fault_;  // the first error of a function; `entry` throws it from then on
};

// Decodes the body of a function. Throws Fault.
void decode(Program &program, Function *function);

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_PROGRAM_H
