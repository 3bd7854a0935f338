// SPDX-License-Identifier: BSD-3-Clause
// The settings of one method: defaults filled in, and what the method cannot take is refused.
#include <algorithm>
#include <cmath>
#include <fmm/errors.hpp>
#include <fmm/tolerance/order_selection.hpp>
#include <utility>

#include "settings.hpp"
#include "user_error.hpp"

namespace forces {

namespace {

/// The settings with what a tolerance leaves no choice of, and in the place of float mixed precision, which holds it
/// for close pairs, too, or for all pairs double; order and criterion are found by the library. Throws
/// fmm::InvalidArgument.
Settings with_tolerance(Settings settings, Method method) {
  const double tolerance = *settings.tolerance;
  const bool single = settings.precision != Precision::double_precision && method != Method::direct;
  const auto norm = settings.error_norm.value_or(ErrorNorm::l2);
  if (!fmm::tolerance::is_reached(tolerance, single, norm))
    throw fmm::InvalidArgument("--tolerance", tolerance,
                               fmm::tolerance::reached_tolerances(single, norm));
  for (auto const& [name, set] : {std::pair("--theta", settings.theta.has_value()),
                                  {"--criterion", settings.criterion.has_value()},
                                  {"--pair-error", settings.pair_error.has_value()},
                                  {"--traversal", settings.traversal.has_value()}})
    if (set) throw UserError(std::string(name) + " is not to be set with --tolerance");
  if (settings.translation != Translation::rotation)
    throw fmm::InvalidArgument("--translation", name_of(settings.translation),
                               "rotation with --tolerance");
  settings.precision = single ? Precision::mixed_precision : Precision::double_precision;
  settings.traversal = Traversal::dual;
  settings.criterion = settings.any_strengths ? Criterion::radius : Criterion::power;
  return settings;
}

/// Throws for what there is not for targets, Hessians, dipoles and several densities, whose lists are of the geometry
/// alone.
void check_any_strengths(Settings const& settings, Method method) {
  const std::string with = " with targets, Hessians, dipoles or several densities";
  if (settings.tune) throw UserError("--tune is not allowed" + with);
  if (settings.error_norm == ErrorNorm::p99 && method != Method::direct)
    throw fmm::InvalidArgument("--error-norm", "p99", "l2" + with + ", but by --method direct");
  if (settings.translation != Translation::rotation)
    throw fmm::InvalidArgument("--translation", name_of(settings.translation), "rotation" + with);
  if (settings.criterion && *settings.criterion != Criterion::radius)
    throw fmm::InvalidArgument("--criterion", name_of(*settings.criterion), "radius" + with);
  if (settings.traversal && method != Method::direct) {
    const auto only = method == Method::fmm ? Traversal::dual : Traversal::barnes_hut;
    if (*settings.traversal != only)
      throw fmm::InvalidArgument("--traversal", name_of(*settings.traversal),
                                 name_of(only) + with + ", --method " + name_of(method));
  }
}

}  // namespace

MethodSettings resolve(Settings const& given, Method method, Build const& build) {
  if (given.any_strengths) check_any_strengths(given, method);
  const Settings settings = given.tolerance ? with_tolerance(given, method) : given;
  const bool mixed = settings.precision == Precision::mixed_precision;
  if (mixed && settings.translation != Translation::rotation)
    throw fmm::InvalidArgument("--translation", name_of(settings.translation),
                               "rotation in mixed precision");
  const bool by_field = !settings.theta && !settings.any_strengths &&
                        defaults::has_field_criterion(settings.precision, settings.backend);
  MethodSettings result{
      .method = method,
      .kernel = settings.kernel,
      .softening_kind = settings.softening_kind,
      .traversal = settings.traversal.value_or(defaults::traversal(method, by_field)),
      .criterion = {},
      .translation = settings.translation,
      .precision = settings.precision,
      .backend = settings.backend,
      .order = 0,
      .options = {}};
  result.options.tree = settings.tree;
  result.options.depth = settings.depth;
  if (settings.kernel == KernelKind::gravity) {
    result.options.softening = settings.softening;
    result.options.G = settings.G;
  }

  result.options.periodic = settings.periodic;
  if (settings.periodic) {
    result.options.periodic->boundary = settings.boundary;
    result.options.softening_error = settings.softening_error;  // of all pairs, too
  }

  result.options.tolerance = settings.tolerance;
  if (settings.tolerance_of) result.options.tolerance_of = *settings.tolerance_of;
  if (settings.error_norm) result.options.error_norm = *settings.error_norm;

  // A wrong order is refused for every method, though the direct sum has no use for it.
  const auto& orders = build.orders;
  if (settings.order && std::find(orders.begin(), orders.end(), *settings.order) == orders.end())
    throw fmm::InvalidArgument("--order", *settings.order,
                               "one of " + join(orders) + " (compiled in)");
  if (method == Method::direct) return result;

  if (method == Method::fmm && result.traversal == Traversal::barnes_hut)
    throw fmm::InvalidArgument("--traversal", name_of(result.traversal),
                               "lists or dual with --method fmm");
  if (mixed && result.traversal == Traversal::lists)
    throw fmm::InvalidArgument("--traversal", name_of(result.traversal),
                               "barnes-hut or dual in mixed precision");
  result.order = settings.order.value_or(-1);
  const auto expansion = defaults::expansion(method, settings.precision, settings.backend);
  if (!settings.order && !settings.tolerance) {  // the default, or the next lower one that is there
    result.order = orders.front();
    for (const int order : orders)
      if (order <= expansion.order) result.order = order;
  }
  result.options.softening_error = settings.softening_error;
  const auto traversal = result.traversal;
  if (traversal == Traversal::dual)
    result.criterion = settings.criterion.value_or(by_field ? Criterion::field : Criterion::radius);
  else if (settings.criterion)
    throw fmm::InvalidArgument("--criterion", name_of(*settings.criterion),
                               "only with --traversal dual");
  if (method == Method::treecode && result.criterion == Criterion::power && !settings.tolerance)
    throw fmm::InvalidArgument("--criterion", "power",
                               "radius, field or relative with --method treecode");
  if (mixed && result.criterion == Criterion::relative)
    throw fmm::InvalidArgument("--criterion", "relative",
                               "radius, field or power in mixed precision");
  if (method == Method::fmm && settings.translation != Translation::rotation &&
      (result.criterion == Criterion::power || result.criterion == Criterion::relative))
    throw fmm::InvalidArgument(
        "--criterion", name_of(*result.criterion),
        "radius or field with --translation " + name_of(settings.translation));
  // the classic lists have no choice of theta, and criteria of errors have defaults of their own
  const bool by_error = result.criterion && *result.criterion != Criterion::radius;
  result.options.theta = settings.theta;
  if (!settings.theta && !settings.tolerance && traversal != Traversal::lists && !by_error)
    result.options.theta = expansion.theta;
  if (settings.pair_error && !by_error)
    throw fmm::InvalidArgument("--pair-error", *settings.pair_error,
                               "only with --criterion field, power or relative");
  result.options.pair_error = settings.pair_error;
  if (traversal == Traversal::dual && result.options.theta.value_or(0) >= 1)
    throw fmm::InvalidArgument("--theta", *result.options.theta,
                               "0 < theta < 1 with --traversal dual");
  if (traversal == Traversal::lists && settings.theta && std::abs(*settings.theta - 2.0 / 3) > 1e-3)
    throw fmm::InvalidArgument("--theta", *settings.theta,
                               "not with --traversal lists, whose theta is 2/3");
  result.options.leaf_capacity = settings.leaf;
  if (!settings.leaf && !(settings.tolerance && method == Method::treecode))
    result.options.leaf_capacity = defaults::leaf_capacity(method, settings.backend);
  result.options.one_part = settings.one_part;
  result.tune = settings.tune;
  return result;
}

}  // namespace forces
