// SPDX-License-Identifier: Apache-2.0
// Error messages for unknown commands and options.
#include "parse_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "call_parts.h"

namespace gufunc::cli {
namespace {

// Returns the number of letters of the longer word without the common prefix and suffix of both.
size_t edit_distance(std::string_view a, std::string_view b) {
  const size_t shorter = std::min(a.size(), b.size());
  size_t front = 0, back = 0;
  while (front < shorter && a[front] == b[front]) ++front;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return std::max(a.size(), b.size()) - front - back;
}

std::vector<std::string> names_of(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *const command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *const option : command.get_options()) {
    for (const std::string &name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Returns the option name: "--axis" of "--axis=1", "-o" of "-ofile".
std::string option_name(const std::string &argument) {
  return argument.starts_with("--") ? argument.substr(0, argument.find('='))
                                    : argument.substr(0, 2);
}

}  // namespace

std::string did_you_mean(const std::string &typed, const std::vector<std::string> &known) {
  const std::string *best = nullptr;
  size_t fewest = std::max<size_t>(1, typed.size() / 3) + 1;
  for (const std::string &name : known) {
    const size_t apart = edit_distance(typed, name);
    if (apart >= fewest) continue;
    fewest = apart;
    best = &name;
  }
  return best == nullptr ? "" : fmt::format("; did you mean '{}'?", *best);
}

void refuse_command(const CLI::App &app, const std::string &word) {
  const std::vector<std::string> names = names_of(app);
  const std::string nearest = did_you_mean(word, names);
  const std::string found = word.empty() ? "" : fmt::format(" '{}'", word);
  usage(fmt::format(
      "no command{}{}", found,
      nearest.empty() ? fmt::format("; expected {}", fmt::join(names, ", ")) : nearest));
}

const CLI::App *chosen_command(const CLI::App &app, int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;
    for (const CLI::App *const command : app.get_subcommands(nullptr)) {
      if (command->check_name(argv[i])) return command;
    }
    refuse_command(app, argv[i]);
  }
  return &app;
}

void refuse_unknown_options(const CLI::App &app, const CLI::App &command, int argc, char **argv) {
  const CLI::App *owner = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--") return;
    if (owner == &app && command.check_name(argument)) owner = &command;
    if (takes_value(*owner, argument)) {
      ++i;
      continue;
    }
    if (argument.size() < 2 || argument[0] != '-' || is_negative_number(argument)) continue;
    const std::string name = option_name(argument);
    if (owner->get_option_no_throw(name) != nullptr) continue;
    const bool early = owner != &command && command.get_option_no_throw(name) != nullptr;
    usage(fmt::format("{} has no option '{}'{}", owner->get_name(), name,
                      early ? fmt::format("; it belongs after '{}'", command.get_name())
                            : did_you_mean(name, options_of(*owner))));
  }
}

std::string shown(std::string text) {
  std::erase(text, kHidden);
  return text;
}

bool is_negative_number(const std::string &argument) {
  return argument.size() > 1 && argument[0] == '-' &&
         (std::string_view("0123456789.").find(argument[1]) != std::string_view::npos ||
          argument == "-inf" || argument == "-nan" || argument == "-infj" || argument == "-nanj");
}

bool takes_value(const CLI::App &command, const std::string &argument) {
  if (argument.size() < 2 || argument[0] != '-') return false;
  const CLI::Option *const option = command.get_option_no_throw(argument);
  return option != nullptr && option->get_items_expected_max() > 0;
}

}  // namespace gufunc::cli
