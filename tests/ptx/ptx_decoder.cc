// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_decoder.h"

#include <bit>
#include <cstring>

namespace ptx {
namespace {

struct SpecialName {
  std::string_view name;
  Special special;
};

constexpr SpecialName kSpecialNames[] = {
    {"%tid.x", Special::kTidX},
    {"%tid.y", Special::kTidY},
    {"%tid.z", Special::kTidZ},
    {"%ntid.x", Special::kNtidX},
    {"%ntid.y", Special::kNtidY},
    {"%ntid.z", Special::kNtidZ},
    {"%ctaid.x", Special::kCtaidX},
    {"%ctaid.y", Special::kCtaidY},
    {"%ctaid.z", Special::kCtaidZ},
    {"%nctaid.x", Special::kNctaidX},
    {"%nctaid.y", Special::kNctaidY},
    {"%nctaid.z", Special::kNctaidZ},
    {"%laneid", Special::kLaneid},
    {"%warpid", Special::kWarpid},
    {"%nwarpid", Special::kNwarpid},
    {"%lanemask_eq", Special::kLanemaskEq},
    {"%lanemask_lt", Special::kLanemaskLt},
    {"%lanemask_le", Special::kLanemaskLe},
    {"%lanemask_gt", Special::kLanemaskGt},
    {"%lanemask_ge", Special::kLanemaskGe},
    {"%dynamic_smem_size", Special::kDynamicSmemSize},
    {"%total_smem_size", Special::kTotalSmemSize},
};

uint64_t mask_of(unsigned bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

bool starts_number(const Token &token) {
  return token.is("-") ||
         (token.kind == Token::kWord && token.text[0] >= '0' && token.text[0] <= '9');
}

}  // namespace

uint32_t lay_out(const std::vector<Variable> &variables, uint32_t first,
                 std::vector<Transfer> *out) {
  uint32_t end = first;
  for (const Variable &variable : variables) {
    end = static_cast<uint32_t>(align_up(end, variable.align));
    out->push_back({0, end, static_cast<uint32_t>(variable.bytes)});
    end += static_cast<uint32_t>(variable.bytes);
  }
  return end;
}

Decoder::Decoder(Program &program, Function *function)
    : program_(program),
      function_(*function),
      lexer_(function->text->body, function->text->body_line) {}

void Decoder::fail(const std::string &text) const {
  throw Fault("line " + std::to_string(line_) + ": " + text + ": " +
              std::string(program_.line(line_)));
}

void Decoder::lay_out_parameters() {
  const FunctionText &text = *function_.text;
  area_end_ = lay_out(text.parameters, 0, &function_.parameters);
  if (text.is_entry) function_.uniform_bytes = area_end_;
  area_end_ = lay_out(text.results, area_end_, &function_.results);
  for (size_t i = 0; i < text.parameters.size(); ++i) {
    scopes_.add_variable({text.parameters[i], function_.parameters[i].callee});
  }
  for (size_t i = 0; i < text.results.size(); ++i) {
    scopes_.add_variable({text.results[i], function_.results[i].callee});
  }
  function_.area_bytes = area_end_;
}

void Decoder::run() {
  lay_out_parameters();
  while (statement()) {
  }
  // The end of a body returns.
  Instruction end;
  end.flow = function_.text->is_entry ? Flow::kExit : Flow::kReturn;
  end.line = line_;
  function_.instructions.push_back(end);
  for (const auto &[index, label] : branches_) {
    const auto found = labels_.find(label.text);
    line_ = label.line;
    if (found == labels_.end()) fail("unknown label");
    function_.instructions[index].target = found->second;
  }
}

// Reads one statement. Returns false at the end of the body.
bool Decoder::statement() {
  const Token token = lexer_.take();
  line_ = token.line;
  if (token.is("{")) {
    ++depth_;
    scopes_.push();
    area_ends_.push_back(area_end_);
  } else if (token.is("}")) {
    if (--depth_ == 0) return false;
    scopes_.pop();
    area_end_ = area_ends_.back();
    area_ends_.pop_back();
  } else if (token.is(".reg")) {
    declare_registers();
  } else if (token.is(".local")) {
    declare_local();
  } else if (token.is(".param")) {
    declare_param();
  } else if (token.is(".pragma")) {
    lexer_.take();
    lexer_.expect(";");
  } else if (token.is(".loc")) {
    skip_location();
  } else if (token.is("@") || (token.kind == Token::kWord && !lexer_.peek().is(":"))) {
    instruction(token);
  } else if (token.kind == Token::kWord && lexer_.take_if(":")) {
    const auto index = static_cast<uint32_t>(function_.instructions.size());
    if (!labels_.emplace(token.text, index).second) fail("two labels have this name");
  } else if (!token.is(";")) {
    fail("unknown statement");
  }
  return true;
}

uint32_t Decoder::new_register(Type type) {
  return type.kind == Kind::kPredicate ? function_.npredicates++ : function_.nregisters++;
}

void Decoder::declare_registers() {
  const Type type = type_of(lexer_.expect_word().text.substr(1));
  if (type.bits == 0) fail("unknown type");
  do {
    const Token name = lexer_.expect_word();
    if (!lexer_.take_if("<")) {
      scopes_.add_register(name.text, {type, new_register(type)});
      continue;
    }
    const auto count = static_cast<uint32_t>(lexer_.expect_integer());
    lexer_.expect(">");
    uint32_t &total = type.kind == Kind::kPredicate ? function_.npredicates : function_.nregisters;
    scopes_.add_registers(name.text, count, {type, total});
    total += count;
  } while (lexer_.take_if(","));
  lexer_.expect(";");
}

void Decoder::declare_local() {
  Variable variable = parse_variable(lexer_, Space::kLocal);
  lexer_.expect(";");
  const uint64_t address = align_up(function_.local_bytes, variable.align);
  function_.local_bytes = static_cast<uint32_t>(address + variable.bytes);
  scopes_.add_variable({std::move(variable), address});
}

// A parameter of a call. Its place is free again at the end of the block.
void Decoder::declare_param() {
  Variable variable = parse_variable(lexer_, Space::kParam);
  lexer_.expect(";");
  const uint64_t address = align_up(area_end_, variable.align);
  area_end_ = static_cast<uint32_t>(address + variable.bytes);
  function_.area_bytes = std::max(function_.area_bytes, area_end_);
  scopes_.add_variable({std::move(variable), address});
}

// Skips the operands of `.loc 1 2 3, function_name $L, inlined_at 1 2 3`.
void Decoder::skip_location() {
  for (int i = 0; i < 3; ++i) lexer_.take();
  while (lexer_.take_if(",")) {
    const bool is_name = lexer_.take().is("function_name");
    for (int i = 0; i < (is_name ? 1 : 3); ++i) lexer_.take();
    if (is_name && lexer_.take_if("+")) lexer_.take();
  }
}

void Decoder::read_guard(Instruction *out) {
  out->guard_negated = lexer_.take_if("!");
  Register reg;
  if (!scopes_.find_register(lexer_.expect_word().text, &reg) ||
      reg.type.kind != Kind::kPredicate) {
    fail("the guard is no predicate");
  }
  out->guard = reg.index;
}

void Decoder::instruction(const Token &first) {
  Instruction made;
  Token opcode = first;
  if (first.is("@")) {
    read_guard(&made);
    opcode = lexer_.expect_word();
  }
  made.line = line_ = opcode.line;
  if (opcode.is("call") || opcode.is("call.uni")) {
    call(&made);
    return;
  }
  const std::vector<WrittenOperand> written = read_operands();
  std::string name(opcode.text);
  // A vector of `mov` has no modifier in the opcode.
  const bool moves = name.rfind("mov.", 0) == 0 && written.size() == 2;
  if (moves && written[0].kind == WrittenOperand::kVector) {
    name += ".unpack" + std::to_string(written[0].names.size());
  } else if (moves && written[1].kind == WrittenOperand::kVector) {
    name += ".pack" + std::to_string(written[1].names.size());
  }
  const Form *form = all_forms().find(name);
  if (form == nullptr) fail("unknown instruction");
  fill(*form, written, &made);
  function_.instructions.push_back(made);
}

std::vector<WrittenOperand> Decoder::read_operands() {
  std::vector<WrittenOperand> all;
  if (lexer_.take_if(";")) return all;
  do {
    all.push_back(read_operand());
  } while (lexer_.take_if(","));
  lexer_.expect(";");
  return all;
}

WrittenOperand Decoder::read_operand() {
  if (lexer_.peek().is("{")) return read_vector();
  if (lexer_.peek().is("[")) return read_address();
  if (starts_number(lexer_.peek())) return read_number();
  WrittenOperand operand;
  operand.is_negated = lexer_.take_if("!");
  operand.names.push_back(lexer_.expect_word());
  if (lexer_.take_if("|")) operand.pair = lexer_.expect_word();
  return operand;
}

WrittenOperand Decoder::read_vector() {
  WrittenOperand operand;
  operand.kind = WrittenOperand::kVector;
  lexer_.expect("{");
  do {
    operand.names.push_back(lexer_.expect_word());
  } while (lexer_.take_if(","));
  lexer_.expect("}");
  return operand;
}

WrittenOperand Decoder::read_address() {
  WrittenOperand operand;
  operand.kind = WrittenOperand::kAddress;
  lexer_.expect("[");
  if (starts_number(lexer_.peek())) {
    operand.offset = lexer_.expect_integer();
  } else {
    operand.names.push_back(lexer_.expect_word());
    if (lexer_.take_if("+")) operand.offset = lexer_.expect_integer();
    if (lexer_.peek().is("-")) operand.offset = lexer_.expect_integer();
  }
  lexer_.expect("]");
  return operand;
}

WrittenOperand Decoder::read_number() {
  WrittenOperand operand;
  operand.kind = WrittenOperand::kNumber;
  const bool negative = lexer_.take_if("-");
  const Token token = lexer_.expect_word();
  std::string digits(token.text);
  if (digits.size() > 2 && digits[0] == '0' && std::strchr("fFdD", digits[1]) != nullptr) {
    operand.float_bits = digits[1] == 'f' || digits[1] == 'F' ? 32 : 64;
    digits = "0x" + digits.substr(2);
  }
  if (!read_integer(digits, &operand.number)) fail("not a number");
  if (negative) operand.number = -operand.number;
  return operand;
}

void Decoder::fill(const Form &form, const std::vector<WrittenOperand> &written, Instruction *out) {
  out->handler = form.handler;
  out->flow = form.flow;
  out->space = form.space;
  out->bytes = form.bytes;
  out->count = form.count;
  out->is_signed = form.is_signed;
  out->mode = form.mode;
  if (written.size() > form.slots.size()) fail("too many operands");
  for (size_t i = 0; i < form.slots.size(); ++i) {
    const Slot &slot = form.slots[i];
    if (i >= written.size()) {
      if (!slot.is_optional) fail("too few operands");
      add_operand(slot, constant(0), out);
    } else if (slot.kind == Slot::kLabel) {
      fill_label(written[i]);
    } else if (slot.kind == Slot::kAddress) {
      fill_address(written[i], out);
    } else {
      fill_value(slot, written[i], out);
    }
  }
}

void Decoder::add_operand(const Slot &slot, const Operand &operand, Instruction *out) {
  if (out->noperands == out->operands.size()) fail("too many operands");
  out->operands[out->noperands++] = operand;
  if (slot.is_output) ++out->noutputs;
}

void Decoder::fill_label(const WrittenOperand &written) {
  if (written.kind != WrittenOperand::kName) fail("no label");
  branches_.emplace_back(static_cast<uint32_t>(function_.instructions.size()), written.names[0]);
}

void Decoder::fill_address(const WrittenOperand &written, Instruction *out) {
  if (written.kind != WrittenOperand::kAddress) fail("no address");
  out->offset = written.offset;
  out->uses_memory = true;
  const Slot slot = slots_of("address")[0];
  add_operand(slot, written.names.empty() ? constant(0) : value_of(slot, written.names[0]), out);
}

void Decoder::fill_value(const Slot &slot, const WrittenOperand &written, Instruction *out) {
  if ((slot.count > 1) != (written.kind == WrittenOperand::kVector)) fail("wrong vector");
  if (written.kind == WrittenOperand::kAddress) fail("an address is no value");
  if (written.is_negated) fail("negated operands are not supported");
  if (written.kind == WrittenOperand::kNumber) {
    if (slot.is_output) fail("a number is no output");
    add_operand(slot, literal_of(slot, written), out);
    return;
  }
  if (written.names.size() != slot.count) fail("wrong number of elements");
  for (const Token &name : written.names) {
    add_operand(slot, slot.is_output ? output_of(slot, name, out) : value_of(slot, name), out);
  }
  if (slot.is_pair) {
    const Slot second = slots_of("=pred")[0];
    const bool has = written.pair.kind != Token::kEnd;
    add_operand(second,
                has ? output_of(second, written.pair, out) : Operand{Operand::kPredicate, 0}, out);
  } else if (written.pair.kind != Token::kEnd) {
    fail("only one output is possible");
  }
}

void Decoder::check_type(const Slot &slot, const Register &reg, const Token &name) const {
  const bool fits =
      reg.type.bits == slot.type.bits ||
      (slot.may_be_wider && reg.type.bits > slot.type.bits && reg.type.kind != Kind::kPredicate);
  if (!fits) fail("the size of " + std::string(name.text) + " is wrong");
  if (!agree(reg.type, slot.type)) fail("the type of " + std::string(name.text) + " is wrong");
}

Operand Decoder::output_of(const Slot &slot, const Token &name, Instruction *out) {
  const bool is_predicate = slot.type.kind == Kind::kPredicate;
  if (name.is("_")) return {is_predicate ? Operand::kPredicate : Operand::kRegister, 0};
  Register reg;
  if (!scopes_.find_register(name.text, &reg)) fail("unknown register");
  check_type(slot, reg, name);
  if (!is_predicate) out->output_mask = mask_of(reg.type.bits);
  return {is_predicate ? Operand::kPredicate : Operand::kRegister, reg.index};
}

Operand Decoder::value_of(const Slot &slot, const Token &name) {
  Register reg;
  if (scopes_.find_register(name.text, &reg)) {
    check_type(slot, reg, name);
    return {slot.type.kind == Kind::kPredicate ? Operand::kPredicate : Operand::kRegister,
            reg.index};
  }
  for (const SpecialName &known : kSpecialNames) {
    if (name.is(known.name)) return special(known.special, 0);
  }
  if (slot.type.bits != 64) fail("unknown name " + std::string(name.text));
  return address_of(name);
}

Operand Decoder::literal_of(const Slot &slot, const WrittenOperand &written) {
  if (slot.type.kind == Kind::kPredicate) {
    return {Operand::kConstantPredicate, written.number != 0};
  }
  uint64_t value = written.number;
  if (written.float_bits == 64 && slot.type.bits == 32) {
    value = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value)));
  } else if (written.float_bits == 32 && slot.type.bits == 64) {
    const float single = std::bit_cast<float>(static_cast<uint32_t>(value));
    value = std::bit_cast<uint64_t>(static_cast<double>(single));
  } else if (slot.type.kind == Kind::kFloat && written.float_bits == 0) {
    fail("an integer is no float");
  }
  return constant(value & mask_of(slot.type.bits));
}

Operand Decoder::constant(uint64_t value) {
  const auto [found, added] =
      constants_.emplace(value, static_cast<uint32_t>(function_.constants.size()));
  if (added) function_.constants.emplace_back().fill(value);
  return {Operand::kConstant, found->second};
}

Operand Decoder::special(Special kind, uint64_t offset) {
  const auto [found, added] = presets_.emplace(std::pair(static_cast<int>(kind), offset), 0);
  if (added) {
    found->second = new_register({Kind::kBits, 64});
    function_.presets.push_back({found->second, kind, offset});
  }
  return {Operand::kRegister, found->second};
}

// Returns the address of a variable in its state space.
Operand Decoder::address_of(const Token &name) {
  const Placed *const placed = scopes_.find_variable(name.text);
  if (placed != nullptr) {
    return placed->variable.space == Space::kLocal
               ? special(Special::kLocalAddress, placed->address)
               : constant(placed->address);
  }
  const auto found = program_.module().variables.find(name.text);
  if (found == program_.module().variables.end()) fail("unknown name " + std::string(name.text));
  return constant(program_.address_of(found->second));
}

std::vector<Token> Decoder::read_call_list() {
  std::vector<Token> names;
  lexer_.expect("(");
  while (!lexer_.take_if(")")) {
    names.push_back(lexer_.expect_word());
    lexer_.take_if(",");
  }
  return names;
}

// Matches the parameters of a call with those of the function.
std::vector<Transfer> Decoder::transfers(const std::vector<Token> &names,
                                         const std::vector<Variable> &formals,
                                         const std::vector<Transfer> &places, const Token &callee) {
  if (names.size() != formals.size()) {
    fail("the call has " + std::to_string(names.size()) + " parameters, " +
         std::string(callee.text) + " has " + std::to_string(formals.size()));
  }
  std::vector<Transfer> all;
  for (size_t i = 0; i < names.size(); ++i) {
    const Placed *const placed = scopes_.find_variable(names[i].text);
    if (placed == nullptr || placed->variable.space != Space::kParam) {
      fail("no parameter: " + std::string(names[i].text));
    }
    if (placed->variable.bytes != formals[i].bytes || placed->variable.align < formals[i].align) {
      fail("the size or alignment of " + std::string(names[i].text) + " differs from " +
           std::string(formals[i].name));
    }
    all.push_back({static_cast<uint32_t>(placed->address), places[i].callee, places[i].bytes});
  }
  return all;
}

void Decoder::call(Instruction *out) {
  std::vector<Token> results, arguments;
  if (lexer_.peek().is("(")) {
    results = read_call_list();
    lexer_.expect(",");
  }
  const Token callee = lexer_.expect_word();
  if (lexer_.take_if(",")) arguments = read_call_list();
  lexer_.expect(";");
  const Function *const function = program_.function(callee.text);
  if (function == nullptr) fail("the text does not define " + std::string(callee.text));
  // The function may not be decoded yet, so its layout is computed here.
  std::vector<Transfer> parameters, outputs;
  const uint32_t end = lay_out(function->text->parameters, 0, &parameters);
  lay_out(function->text->results, end, &outputs);
  out->flow = Flow::kCall;
  out->target = static_cast<uint32_t>(function_.calls.size());
  function_.calls.push_back({function,
                             transfers(arguments, function->text->parameters, parameters, callee),
                             transfers(results, function->text->results, outputs, callee)});
  function_.instructions.push_back(*out);
}

void decode(Program &program, Function *function) {
  Decoder(program, function).run();
}

}  // namespace ptx
