// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_program.h"

#include <algorithm>

namespace ptx {

Program::Program(std::string text) : text_(std::move(text)), module_(parse_module(text_)) {
  line_starts_.push_back(0);
  for (size_t at = text_.find('\n'); at != text_.npos; at = text_.find('\n', at + 1)) {
    line_starts_.push_back(at + 1);
  }
  place_variables();
}

// Places static shared variables first, because dynamic shared memory follows them.
void Program::place_variables() {
  for (const auto &[name, variable] : module_.variables) {
    if (variable.space != Space::kShared || variable.is_external) continue;
    static_shared_bytes_ = align_up(static_shared_bytes_, variable.align);
    addresses_[&variable] = static_shared_bytes_;
    static_shared_bytes_ += variable.bytes;
  }
  static_shared_bytes_ = align_up(static_shared_bytes_, 16);
  for (const auto &[name, variable] : module_.variables) {
    if (variable.space == Space::kShared && variable.is_external) {
      addresses_[&variable] = static_shared_bytes_;
    } else if (variable.space != Space::kShared) {
      place(variable);
    }
  }
}

void Program::place(const Variable &variable) {
  const uint64_t align = std::max<uint64_t>(variable.align, 16);
  Global placed = {&variable, std::make_unique<unsigned char[]>(variable.bytes + align), 0};
  placed.address = align_up(reinterpret_cast<uint64_t>(placed.storage.get()), align);
  std::copy(variable.contents.begin(), variable.contents.end(),
            reinterpret_cast<unsigned char *>(placed.address));
  addresses_[&variable] = placed.address;
  placed_.push_back(std::move(placed));
}

uint64_t Program::address_of(const Variable &variable) const {
  return addresses_.at(&variable);
}

const Variable *Program::variable_at(uint64_t address) const {
  for (const Global &placed : placed_) {
    if (address - placed.address < placed.variable->bytes) return placed.variable;
  }
  return nullptr;
}

std::vector<std::string_view> Program::entries() const {
  std::vector<std::string_view> names;
  for (const auto &[name, function] : module_.functions) {
    if (function.is_entry) names.push_back(name);
  }
  return names;
}

std::string_view Program::line(uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const size_t first = line_starts_[number - 1];
  std::string_view line(text_);
  line = line.substr(first, line.find('\n', first) - first);
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == line.npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

Function *Program::function(std::string_view name) {
  const auto found = module_.functions.find(name);
  if (found == module_.functions.end() || found->second.body.empty()) return nullptr;
  std::unique_ptr<Function> &function = functions_[found->first];
  if (function == nullptr) {
    function = std::make_unique<Function>();
    function->name = found->first;
    function->text = &found->second;
    undecoded_.push_back(function.get());
  }
  return function.get();
}

const Function &Program::entry(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (fault_) throw Fault(*fault_);
  const Function *entry = function(name);
  if (entry == nullptr || !entry->text->is_entry) {
    throw Fault("the text has no entry " + std::string(name));
  }
  while (!undecoded_.empty()) {
    Function *const next = undecoded_.back();
    undecoded_.pop_back();
    try {
      decode(*this, next);
    } catch (const Fault &fault) {
      fault_ = fault;
      throw;
    }
  }
  return *entry;
}

}  // namespace ptx
