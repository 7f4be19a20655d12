// SPDX-License-Identifier: Apache-2.0
// Reads a case and runs its call.
#include "corpus_call.hpp"

#include <array>
#include <map>
#include <set>

int64_t integer_of(const Json &json) {
  return json.is_string() ? std::stoll(json.get<std::string>()) : json.get<int64_t>();
}

static gufunc::Ints ints_of(const Json &json) {
  std::vector<int64_t> values;
  for (const Json &one : json) values.push_back(integer_of(one));
  return values;
}

static gufunc::DType dtype_of(const Json &json) {
  return gufunc::DType::parse(json.get<std::string>());
}

Buffer::Buffer(const Json &json, const Blob &blob)
    : memory(json.at("nbytes").get<uint64_t>() + 32), nbytes(json.at("nbytes")) {
  before = blob.at(json.at("at"), nbytes);
  const uint64_t start = (reinterpret_cast<uint64_t>(memory.data()) + 15) / 16 * 16;
  data = memory.data() + (start - reinterpret_cast<uint64_t>(memory.data())) +
         json.at("shift").get<uint64_t>();
  std::copy(before, before + nbytes, data);
}

// ---- operands

static gufunc::Operand weak_int(std::string digits) {
  const bool negative = digits[0] == '-';
  if (negative) digits.erase(0, 1);
  const bool beyond =
      digits.size() > 20 || (digits.size() == 20 && digits > "18446744073709551615");
  return gufunc::Operand::weak_int(beyond ? 0 : std::stoull(digits), negative, beyond);
}

static double double_of(const Json &json) {
  const uint64_t bits = std::stoull(json.get<std::string>(), nullptr, 16);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static gufunc::Operand number(const Json &json) {
  const std::string kind = json.at("kind");
  if (kind == "weak_int") return weak_int(json.at("value"));
  if (kind == "weak_float") return double_of(json.at("bits"));
  if (kind == "weak_complex")
    return std::complex<double>(double_of(json.at("bits")[0]), double_of(json.at("bits")[1]));
  if (kind != "scalar") throw std::runtime_error("an operand of the kind " + kind);
  const std::string digits = json.at("bytes");
  std::array<unsigned char, 16> element{};
  for (size_t k = 0; 2 * k < digits.size(); ++k)
    element.at(k) = static_cast<unsigned char>(std::stoul(digits.substr(2 * k, 2), nullptr, 16));
  return gufunc::Operand::scalar(dtype_of(json.at("dtype")), element.data(), digits.size() / 2);
}

Placed Case::placed(const Json &spec) {
  Placed made;
  if (spec.is_null()) return made;
  if (spec.at("kind") != "array") {
    made.operand = number(spec);
    return made;
  }
  made.buffer = spec.at("buffer");
  made.first = buffers.at(static_cast<size_t>(made.buffer)).data + spec.at("offset").get<int64_t>();
  made.dtype = dtype_of(spec.at("dtype"));
  made.shape = ints_of(spec.at("shape"));
  made.strides = ints_of(spec.at("strides"));
  made.swapped = spec.value("swapped", false);
  made.operand = gufunc::Operand(made.dtype, made.first, made.shape, made.strides);
  made.operand.swapped(made.swapped).read_only(spec.value("read_only", false));
  return made;
}

std::vector<Placed> Case::all_placed(const char *key) {
  std::vector<Placed> made;
  if (json.contains(key))
    for (const Json &operand : json.at(key)) made.push_back(placed(operand));
  return made;
}

Case::Case(const Json &whole, const Blob &bytes) : json(whole), blob(bytes) {
  static const std::set<std::string> known = {
      "id",      "ufunc",   "method", "buffers", "inputs",    "outputs",  "where",
      "indices", "initial", "axis",   "axes",    "dims",      "keepdims", "casting",
      "order",   "dtype",   "expect", "fp_fail", "fp_report", "signature"};
  for (const auto &item : json.items())
    if (known.count(item.key()) == 0) throw std::runtime_error("the key " + item.key());
  for (const Json &one : json.at("buffers")) buffers.emplace_back(one, blob);
  inputs = all_placed("inputs");
  outputs = all_placed("outputs");
  indices = all_placed("indices");
  if (json.contains("where")) where = placed(json.at("where"));
  if (json.contains("initial"))
    initial = json.at("initial") == "none" ? Placed() : placed(json.at("initial"));
}

// ---- keywords

static std::vector<gufunc::Operand> operands(const std::vector<Placed> &placed) {
  std::vector<gufunc::Operand> made;
  for (const Placed &one : placed) made.push_back(one.operand);
  return made;
}

template <class Keywords>
static void common(const Case &one, gufunc::Device device, Keywords &keywords) {
  keywords.on(device);
  if (one.json.value("fp_report", false)) keywords.report_fp_flags(&one.fp_flags);
  keywords.fail_on(one.json.value("fp_fail", 0U));
}

static int32_t order_of(const Json &json) {
  static const std::map<std::string, int32_t> orders = {
      {"K", GUF_ORDER_KEEP}, {"C", GUF_ORDER_C}, {"F", GUF_ORDER_F}, {"A", GUF_ORDER_ANY}};
  return orders.at(json.value("order", "K"));
}

static gufunc::CallKeywords call_keywords(const Case &one, gufunc::Device device) {
  static const std::map<std::string, int32_t> castings = {{"no", GUF_CASTING_NO},
                                                          {"equiv", GUF_CASTING_EQUIV},
                                                          {"safe", GUF_CASTING_SAFE},
                                                          {"same_kind", GUF_CASTING_SAME_KIND},
                                                          {"unsafe", GUF_CASTING_UNSAFE}};
  gufunc::CallKeywords made;
  const Json &json = one.json;
  common(one, device, made);
  if (one.where) made.where(one.where->operand);
  if (json.contains("casting")) made.casting(castings.at(json.at("casting")));
  made.order(order_of(json)).keepdims(json.value("keepdims", false));
  if (json.contains("dtype")) made.dtype(dtype_of(json.at("dtype")));
  if (json.contains("axis")) made.axis(integer_of(json.at("axis")));
  if (json.contains("signature")) {
    std::vector<gufunc::DType> types;
    for (const Json &type : json.at("signature"))
      types.push_back(type.is_null() ? gufunc::DType() : dtype_of(type));
    made.signature(types);
  }
  if (json.contains("axes")) {
    std::vector<gufunc::Ints> groups;
    for (const Json &group : json.at("axes")) groups.push_back(ints_of(group));
    made.axes(groups);
  }
  if (json.contains("dims"))
    for (const Json &dim : json.at("dims")) made.dim(dim[0], integer_of(dim[1]));
  return made;
}

static gufunc::ReduceKeywords reduce_keywords(const Case &one, gufunc::Device device) {
  gufunc::ReduceKeywords made;
  const Json &json = one.json;
  common(one, device, made);
  if (json.contains("axis")) {
    if (json.at("axis") == "all")
      made.all_axes();
    else
      made.axes(ints_of(json.at("axis")));
  }
  if (one.initial) made.initial(one.initial->operand);
  if (one.where) made.where(one.where->operand);
  if (json.contains("dtype")) made.dtype(dtype_of(json.at("dtype")));
  made.order(order_of(json)).keepdims(json.value("keepdims", false));
  return made;
}

static gufunc::AccumulateKeywords accumulate_keywords(const Case &one, gufunc::Device device) {
  gufunc::AccumulateKeywords made;
  common(one, device, made);
  if (one.json.contains("axis")) made.axis(integer_of(one.json.at("axis")));
  if (one.json.contains("dtype")) made.dtype(dtype_of(one.json.at("dtype")));
  return made;
}

// ---- calls

std::vector<gufunc::Array> call(const Case &one, gufunc::Device device) {
  const gufunc::Ufunc ufunc(one.json.at("ufunc").get<std::string>());
  const std::string method = one.json.at("method");
  const std::vector<gufunc::Operand> in = operands(one.inputs), out = operands(one.outputs);
  if (method == "call") return ufunc.call(in, out, call_keywords(one, device));
  if (method == "outer") {
    const gufunc::CallKeywords keywords = call_keywords(one, device);
    if (in.size() == 2) return ufunc.outer_into(in[0], in[1], out, keywords);
    return ufunc.outer_into(in[0], in[0], out, keywords);  // rejected: the function is not binary
  }
  if (method == "at") {
    gufunc::AtKeywords keywords;
    common(one, device, keywords);
    ufunc.at(in[0], operands(one.indices), in.size() > 1 ? in[1] : gufunc::Operand(), keywords);
    return {};
  }
  const bool given = !out.empty();
  if (method == "reduce") {
    const gufunc::ReduceKeywords keywords = reduce_keywords(one, device);
    if (!given) return {ufunc.reduce(in[0], keywords)};
    ufunc.reduce_into(in[0], out[0], keywords);
    return {};
  }
  const gufunc::AccumulateKeywords keywords = accumulate_keywords(one, device);
  if (method == "accumulate") {
    if (!given) return {ufunc.accumulate(in[0], keywords)};
    ufunc.accumulate_into(in[0], out[0], keywords);
  } else if (method == "reduceat") {
    const std::vector<gufunc::Operand> at = operands(one.indices);
    if (!given) return {ufunc.reduceat(in[0], at[0], keywords)};
    ufunc.reduceat_into(in[0], at[0], out[0], keywords);
  } else {
    throw std::runtime_error("the method " + method);
  }
  return {};
}
