// SPDX-License-Identifier: Apache-2.0
// What the registrations of all sources say: the functions of a module and their loops.
#ifndef GUFUNC_TOOLS_GUFCC_REGISTRATION_H
#define GUFUNC_TOOLS_GUFCC_REGISTRATION_H

#include <string>
#include <vector>

#include "diagnostic.h"

namespace gufunc::gufcc {

// A registration as it was written, its string literals joined.
struct RawRegistration {
  Place place;
  std::string kind;      // "ufunc", "gufunc", "kernel", "entry"
  std::string function;  // as the source spells it, "ns::f"
  std::vector<std::string> arguments;
  int depth = 0;             // braces open around it
  int source = 0;            // index of the source on the command line
  bool says_shared = false;  // whether `shared` stands anywhere in the source
  bool says_sync = false;    // the same of `sync` and `subgroup`
};

enum class Role { kIn = 0, kOut = 1, kInOut = 2 };

struct Loop {
  std::string inputs, outputs;  // type letters
  std::string callee;           // the C++ function
  Place place;
  int source = 0;
  bool cooperative = false;
  bool fast = false;
  bool may_fail = false;
  bool says_shared = false;  // its source has the word `shared`, which asks for memory of the group
  std::string stem;          // "guf_ew_add_ff_f"
  uint32_t family = 0;       // of the device images that have it; 0: there are none
};

// An option that some of a function's registrations may leave out, and where it stands.
struct PlacedText {
  std::string text;
  Place place;
};

struct Function {
  std::string name;
  std::string signature;  // empty: elementwise
  // Of a generalized function: per operand, which distinct core dimensions it has.
  std::vector<std::vector<int>> core_dims;
  std::vector<Role> roles;  // one per operand
  bool roles_given = false;
  std::string rules, identity = "none";
  PlacedText doc, failure;
  bool inplace_safe = false, commutative = false, associative = false, fast = false;
  bool underflows = false, divides = false, takes_none = false;
  std::string merge, finish;  // of a reduction: names of functions of the module
  int nin = 0, nout = 0;
  Place place;
  std::vector<Loop> loops;

  bool generalized() const { return !signature.empty(); }
};

// A device entry of its own, of no loop: what backends move data with.
struct PlainEntry {
  std::string name;     // of the symbol, "guf_move_convert"
  std::string callee;   // the C++ function: void (const Block &[, char *shared])
  std::string block;    // its Block
  std::string threads;  // of a block of work-items, at most; a constant expression
  bool takes_shared = false;
  Place place;
  int source = 0;
};

// A raw kernel: a function with a grid of its own.
struct RawKernel {
  std::string name;
  std::string callee;  // the C++ function
  std::string symbol;  // "guf_rk_matmul"
  std::string doc;
  uint32_t threads = 1024;    // of a block, at most
  uint32_t shared_bytes = 0;  // that every launch gives
  bool fast = false;
  bool says_shared = false;   // its source has the word `shared`
  bool synchronises = false;  // it has `sync` or `subgroup`: its threads may wait for one another
  Place place;
  int source = 0;
  uint32_t family = 0;  // of the device images that have it; 0: there are none
};

struct Module {
  std::string name;
  std::vector<Function> functions;  // in order of registration
  std::vector<PlainEntry> entries;  // likewise
  std::vector<RawKernel> kernels;   // likewise
};

// Turns registrations into functions; loops registered under one name become one function.
bool build_module(const std::vector<RawRegistration> &raw, Module *module,
                  Diagnostics *diagnostics);

// Whether the inputs tell a function's loops apart, as in everything that the library loads. The
// cpu plugin's own casts, an object that no loader sees, are chosen by their output too.
bool check_choice(const Module &module, Diagnostics *diagnostics);

// Letters, digits and _, no digit first.
bool is_identifier(const std::string &text);
// "ns::f<3>" is called as written and known as "f".
std::string last_component(const std::string &function);

// The type letters, in the order of the documentation, and what they stand for.
struct TypeLetter {
  char letter;
  char identifier;       // as symbol names spell it
  const char *storage;   // "guf::f32"
  const char *constant;  // "GUF_F32"
  const char *name;      // "float32"
};
const TypeLetter *find_letter(char letter);
std::string valid_letters();

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REGISTRATION_H
