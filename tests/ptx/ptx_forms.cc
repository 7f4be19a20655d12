// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_forms.h"

#include <stdexcept>

namespace ptx {
namespace {

Slot slot_of(std::string_view word) {
  Slot slot;
  if (word.front() == '=') {
    slot.is_output = true;
    word.remove_prefix(1);
  }
  for (bool more = true; more;) {
    const char last = word.back();
    more = last == '+' || last == '?' || last == '|';
    slot.may_be_wider |= last == '+';
    slot.is_optional |= last == '?';
    slot.is_pair |= last == '|';
    if (more) word.remove_suffix(1);
  }
  const size_t star = word.find('*');
  if (star != word.npos) {
    slot.count = static_cast<uint8_t>(word[star + 1] - '0');
    word = word.substr(0, star);
  }
  if (word == "address") {
    slot.kind = Slot::kAddress;
    slot.type = {Kind::kUnsigned, 64};
  } else if (word == "label") {
    slot.kind = Slot::kLabel;
  } else {
    slot.type = type_of(word);
    if (slot.type.bits == 0) throw std::logic_error("no type: " + std::string(word));
  }
  return slot;
}

}  // namespace

std::vector<Slot> slots_of(std::string_view description) {
  std::vector<Slot> slots;
  while (!description.empty()) {
    const size_t end = std::min(description.find(' '), description.size());
    slots.push_back(slot_of(description.substr(0, end)));
    description.remove_prefix(std::min(end + 1, description.size()));
  }
  return slots;
}

const Form *Forms::find(const std::string &name) const {
  const auto found = all_.find(name);
  return found == all_.end() ? nullptr : &found->second;
}

void Forms::add(const std::string &name, Form form) {
  if (!all_.emplace(name, std::move(form)).second) throw std::logic_error("two forms: " + name);
}

const Forms &all_forms() {
  static const Forms forms = [] {
    Forms made;
    add_integer_forms(&made);
    add_bit_forms(&made);
    add_comparison_forms(&made);
    add_float_forms(&made);
    add_approximate_forms(&made);
    add_conversion_forms(&made);
    add_memory_forms(&made);
    add_atomic_forms(&made);
    add_warp_forms(&made);
    add_control_forms(&made);
    return made;
  }();
  return forms;
}

}  // namespace ptx
