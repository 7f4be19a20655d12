// SPDX-License-Identifier: Apache-2.0
// The functions of a module and their loops, from the registrations of all sources.
#ifndef GUFUNC_TOOLS_GUFCC_REGISTRATION_H
#define GUFUNC_TOOLS_GUFCC_REGISTRATION_H

#include <string>
#include <vector>

#include "diagnostic.h"
#include "fp_mode.h"

namespace gufunc::gufcc {

// A registration as the source spells it, with adjacent string literals joined.
struct RawRegistration {
  Place place;
  std::string kind;      // "ufunc", "gufunc", "kernel", "entry"
  std::string function;  // as in the source, "ns::f"
  std::vector<std::string> arguments;
  int depth = 0;                 // number of open braces around it
  int source = 0;                // index of the source on the command line
  bool declares_shared = false;  // the source contains the word `shared`
  bool declares_sync = false;    // the source contains `sync` or `subgroup`
};

enum class Role { kIn = 0, kOut = 1, kInOut = 2 };

struct Loop {
  std::string inputs, outputs;  // type letters
  std::string callee;           // the C++ function
  Place place;
  int source = 0;
  bool cooperative = false;
  FpMode fp = FpMode::kStrict;
  bool may_fail = false;
  bool declares_shared = false;  // the source has the word `shared`: may use group memory
  std::string batch;             // the C++ function that computes several items at once, or empty
  std::string stem;              // stem of its symbols, such as "guf_ew_add_ff_f"
  uint32_t family = 0;           // family of its device images; 0: none
};

// An option that some registrations of a function may leave out, with its location.
struct PlacedText {
  std::string text;
  Place place;
};

struct Function {
  std::string name;
  std::string signature;  // empty: elementwise
  // The distinct core dimensions of each operand, for generalized functions.
  std::vector<std::vector<int>> core_dims;
  std::vector<Role> roles;  // one per operand
  bool roles_given = false;
  std::string rules, identity = "none";
  PlacedText doc, failure;
  bool inplace_safe = false, commutative = false, associative = false;
  bool underflows = false, divides = false, accepts_empty = false, overwrites = false;
  bool keeps_precision = false;
  FpMode fp = FpMode::kStrict;
  std::string merge, finish;  // reductions: names of functions of the module
  int nin = 0, nout = 0;
  Place place;
  std::vector<Loop> loops;

  bool generalized() const { return !signature.empty(); }
};

// A device entry that belongs to no loop: backends use such entries to copy data.
struct PlainEntry {
  std::string name;     // symbol, such as "guf_copy_convert"
  std::string callee;   // C++ function: void (const Block &[, char *shared])
  std::string block;    // the type Block
  std::string threads;  // maximum work-items of a block, a constant expression
  bool accepts_shared = false;
  Place place;
  int source = 0;
};

// A raw kernel: a function that is launched with an explicit grid.
struct RawKernel {
  std::string name;
  std::string callee;  // the C++ function
  std::string symbol;  // such as "guf_rk_matmul"
  std::string doc;
  uint32_t threads = 1024;    // maximum threads of a block
  uint32_t shared_bytes = 0;  // bytes that every launch allocates
  FpMode fp = FpMode::kStrict;
  bool declares_shared = false;  // the source has the word `shared`
  bool synchronizes = false;     // the source has `sync` or `subgroup`: may use barriers
  Place place;
  int source = 0;
  uint32_t family = 0;  // family of its device images; 0: none
};

struct Module {
  std::string name;
  FpMode fp = FpMode::kStrict;      // for registrations without the option fp=
  std::vector<Function> functions;  // in order of registration
  std::vector<PlainEntry> entries;  // likewise
  std::vector<RawKernel> kernels;   // likewise
};

// Turns registrations into functions. Loops with the same name become one function.
bool build_module(const std::vector<RawRegistration> &raw, Module *module,
                  Diagnostics *diagnostics);

// Checks that no two loops of a function have the same inputs, because the library selects a loop
// of a module by its inputs alone. The casts of the cpu plugin are an exception: they are linked in
// instead of loaded, and the library selects them by input and output.
bool check_choice(const Module &module, Diagnostics *diagnostics);

// Returns 1 + the index of the function `name` of the module, or 0 if the name is empty or unknown.
size_t part_number(const Module &module, const std::string &name);

// Whether a text consists of letters, digits and _, and does not start with a digit.
bool is_identifier(const std::string &text);
// Returns the name under which a function is registered: "f" for "ns::f<3>".
std::string last_component(const std::string &function);

// A type letter and its type. The letters are in the order of the documentation.
struct TypeLetter {
  char letter;
  char identifier;       // in symbol names
  const char *storage;   // such as "guf::f32"
  const char *constant;  // such as "GUF_F32"
  const char *name;      // such as "float32"
};
const TypeLetter *find_letter(char letter);
std::string valid_letters();

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REGISTRATION_H
