// SPDX-License-Identifier: BSD-3-Clause
// The words of the command line and the report for every choice that the program offers. One table
// for each enumeration serves parsing, help and output.
#pragma once

#include <array>
#include <cstddef>
#include <fmm/options.hpp>
#include <fmm/report.hpp>
#include <fmm/runtime/policies.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace forces {

enum class Model { cube, plummer, shell, disk, clusters, fractal };
enum class ChargeKind { equal, mixed };
enum class KernelKind { laplace, gravity };
enum class SofteningKind { plummer, spline };
enum class Method { direct, treecode, fmm };
enum class Traversal { lists, barnes_hut, dual };
enum class Criterion { radius, field, power, relative };
enum class Translation { direct, rotation, gemm };
enum class Precision { single_precision, mixed_precision, double_precision };
enum class Data { in_float, in_double };
using fmm::ErrorNorm;
using fmm::HeldBy;
using fmm::ToleranceOf;
using fmm::TreeKind;
using fmm::runtime::Backend;

template <class Choice, std::size_t Count>
using NameTable = std::array<std::pair<std::string_view, Choice>, Count>;

template <class Choice>
struct Names;
template <>
struct Names<Model> {
  static constexpr NameTable<Model, 6> table{{{"cube", Model::cube},
                                              {"plummer", Model::plummer},
                                              {"shell", Model::shell},
                                              {"disk", Model::disk},
                                              {"clusters", Model::clusters},
                                              {"fractal", Model::fractal}}};
};
template <>
struct Names<ChargeKind> {
  static constexpr NameTable<ChargeKind, 2> table{
      {{"equal", ChargeKind::equal}, {"mixed", ChargeKind::mixed}}};
};
template <>
struct Names<KernelKind> {
  static constexpr NameTable<KernelKind, 2> table{
      {{"laplace", KernelKind::laplace}, {"gravity", KernelKind::gravity}}};
};
template <>
struct Names<SofteningKind> {
  static constexpr NameTable<SofteningKind, 2> table{
      {{"plummer", SofteningKind::plummer}, {"spline", SofteningKind::spline}}};
};
template <>
struct Names<fmm::Boundary> {
  static constexpr NameTable<fmm::Boundary, 2> table{
      {{"tin-foil", fmm::Boundary::tin_foil}, {"vacuum", fmm::Boundary::vacuum}}};
};
template <>
struct Names<Method> {
  static constexpr NameTable<Method, 3> table{
      {{"direct", Method::direct}, {"treecode", Method::treecode}, {"fmm", Method::fmm}}};
};
template <>
struct Names<TreeKind> {
  static constexpr NameTable<TreeKind, 2> table{
      {{"uniform", TreeKind::uniform}, {"adaptive", TreeKind::adaptive}}};
};
template <>
struct Names<HeldBy> {
  static constexpr NameTable<HeldBy, 2> table{
      {{"bound", HeldBy::bound}, {"sample", HeldBy::sample}}};
};
template <>
struct Names<ErrorNorm> {
  static constexpr NameTable<ErrorNorm, 2> table{{{"l2", ErrorNorm::l2}, {"p99", ErrorNorm::p99}}};
};
template <>
struct Names<ToleranceOf> {
  static constexpr NameTable<ToleranceOf, 5> table{{{"field", ToleranceOf::field},
                                                    {"potential", ToleranceOf::potential},
                                                    {"both", ToleranceOf::both},
                                                    {"hessian", ToleranceOf::hessian},
                                                    {"all", ToleranceOf::all}}};
};
template <>
struct Names<Traversal> {
  static constexpr NameTable<Traversal, 3> table{{{"lists", Traversal::lists},
                                                  {"barnes-hut", Traversal::barnes_hut},
                                                  {"dual", Traversal::dual}}};
};
template <>
struct Names<Criterion> {
  static constexpr NameTable<Criterion, 4> table{{{"radius", Criterion::radius},
                                                  {"field", Criterion::field},
                                                  {"power", Criterion::power},
                                                  {"relative", Criterion::relative}}};
};
template <>
struct Names<Translation> {
  static constexpr NameTable<Translation, 3> all{{{"direct", Translation::direct},
                                                  {"rotation", Translation::rotation},
                                                  {"gemm", Translation::gemm}}};
  /// gemm last, and only where there is Kokkos Kernels.
  static constexpr std::span table{all.data(), FORCES_HAS_GEMM ? 3 : 2};
};
template <>
struct Names<Precision> {
  static constexpr NameTable<Precision, 3> table{{{"float", Precision::single_precision},
                                                  {"mixed", Precision::mixed_precision},
                                                  {"double", Precision::double_precision}}};
};
template <>
struct Names<Data> {
  static constexpr NameTable<Data, 2> table{
      {{"float", Data::in_float}, {"double", Data::in_double}}};
};
template <>
struct Names<Backend> {
  static constexpr NameTable<Backend, 3> table{
      {{"serial", Backend::serial}, {"openmp", Backend::openmp}, {"cuda", Backend::cuda}}};
};

template <class Choice>
std::string name_of(Choice choice) {
  for (auto const& [name, value] : Names<Choice>::table)
    if (value == choice) return std::string(name);
  return "unknown";
}

template <class Choice>
std::optional<Choice> choice_of(std::string_view text) {
  for (auto const& [name, value] : Names<Choice>::table)
    if (name == text) return value;
  return std::nullopt;
}

/// "direct, treecode, fmm"
template <class Choice>
std::string all_names(std::string_view separator = ", ") {
  std::string text;
  for (auto const& [name, value] : Names<Choice>::table)
    (text += text.empty() ? "" : separator) += name;
  return text;
}

}  // namespace forces
