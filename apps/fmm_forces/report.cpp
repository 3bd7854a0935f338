// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "versions.hpp"

namespace forces {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json json_of(std::optional<T> const& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(std::optional<fmm::FoundLimit> const& found) {
  if (!found) return nullptr;
  return {{"by", name_of(found->held_by)},
          {"seen_error", found->seen_error},
          {"largest_own_error", json_of(found->largest_own_error)}};
}
Json json_of(std::optional<TuningFacts> const& tuning) {
  if (!tuning) return nullptr;
  return {{"held", tuning->held}, {"trials", tuning->trials}, {"seconds", tuning->seconds}};
}

Json error_of(std::optional<ErrorStatistics> const& error) {
  if (!error) return nullptr;
  Json exponents = Json::array(), counts = Json::array();
  for (auto const& [bin, count] : error->histogram) {
    exponents.push_back(bin / 10.0);
    counts.push_back(count);
  }
  // force_.. are older names of field_.., which scripts and files of results go by
  return {{"field_l2", error->field_l2},
          {"field_p99", error->field_p99},
          {"field_max", error->field_max},
          {"force_l2", error->field_l2},
          {"force_p99", error->field_p99},
          {"force_max", error->field_max},
          {"potential_l2", error->potential_l2},
          {"potential_p99", error->potential_p99},
          {"potential_max", error->potential_max},
          {"hessian_l2", error->hessian_l2},
          {"least_share", error->least_share},
          {"samples", error->samples},
          {"not_finite", error->not_finite},
          {"histogram", {{"log10_from", exponents}, {"log10_width", 0.1}, {"counts", counts}}}};
}

std::string traversal_name(MethodSettings const& settings) {
  return settings.method == Method::direct ? "all-pairs" : name_of(settings.traversal);
}

Json entry(Settings const& settings, RunFacts const& facts, Measurement const& measurement) {
  MethodSettings const& method = measurement.settings;
  const bool tree = method.method != Method::direct, fmm = method.method == Method::fmm;
  const auto only = [](bool applies, Json value) { return applies ? value : Json(nullptr); };

  Json all_versions, stages;
  for (auto const& [name, version] : versions()) all_versions[name] = version;
  for (auto const& name : stage_names({measurement}))
    stages[name] = measurement.report.seconds(name);

  const bool has_two_parts =
      tree && (method.precision == Precision::mixed_precision || settings.tolerance);
  return {
      {"method", name_of(method.method)},
      {"traversal", traversal_name(method)},
      {"translation", only(fmm, name_of(method.translation))},
      {"kernel", name_of(method.kernel)},
      {"softening", settings.softening},
      {"softening_kind",
       only(method.kernel == KernelKind::gravity, name_of(method.softening_kind))},
      {"softening_error", json_of(method.options.softening_error)},
      {"G", settings.G},
      {"periodic", settings.periodic ? Json(settings.periodic->vectors) : Json(nullptr)},
      {"boundary", only(settings.periodic.has_value(), name_of(settings.boundary))},
      {"order", only(tree, method.order)},
      {"theta", only(tree, json_of(method.options.theta))},
      {"criterion", method.criterion ? Json(name_of(*method.criterion)) : Json(nullptr)},
      {"last_field", only(method.criterion == Criterion::relative,
                          "one evaluation with --criterion field, not timed")},
      {"pair_error", only(tree, json_of(method.options.pair_error))},
      {"tolerance", json_of(settings.tolerance)},
      {"tolerance_of", only(settings.tolerance.has_value(), name_of(method.options.tolerance_of))},
      {"error_norm", only(settings.tolerance.has_value(), name_of(method.options.error_norm))},
      {"held", json_of(measurement.report.found)},
      {"tuning", json_of(measurement.tuning)},
      {"leaf", only(tree, json_of(method.options.leaf_capacity))},
      {"depth", only(tree, measurement.depth)},
      {"tree", only(tree, name_of(method.options.tree))},
      {"precision", name_of(method.precision)},
      {"one_part", only(has_two_parts, method.options.one_part)},
      {"data", name_of(settings.data)},
      {"backend", name_of(method.backend)},
      {"device", facts.device},
      {"threads", json_of(facts.threads)},
      {"input", settings.input ? settings.input->string() : name_of(*settings.model)},
      {"charges", only(settings.model.has_value(), name_of(settings.charges))},
      {"n", facts.n},
      {"targets", settings.targets ? Json(settings.targets->string()) : Json(nullptr)},
      {"n_targets", facts.targets.value_or(facts.n)},
      {"densities", json_of(facts.densities)},
      {"dipoles", facts.has_dipoles},
      {"hessian", settings.hessian},
      {"seed", only(settings.model.has_value(), settings.seed)},
      {"versions", all_versions},
      {"commit", commit()},
      {"seconds",
       {{"total", measurement.total},
        {"all", measurement.totals},
        {"first", json_of(measurement.first)},
        {"build", measurement.build},
        {"evaluate", measurement.evaluate},
        {"stages", stages}}},
      {"extrapolated", measurement.sampled_targets.has_value()},
      {"sampled_targets", json_of(measurement.sampled_targets)},
      {"interactions",
       {{"p2p_pairs", measurement.report.p2p_pairs},
        {"m2l", measurement.report.m2l},
        {"p2l", measurement.report.p2l},
        {"m2p", measurement.report.m2p}}},
      {"flops", measurement.report.flops()},
      {"memory_bytes", measurement.report.memory_bytes},
      {"not_finite", measurement.report.not_finite},
      {"notes", facts.notes},
      {"check_seed", only(measurement.error.has_value(), settings.check_seed)},
      {"error", error_of(measurement.error)},
  };
}

}  // namespace

std::vector<std::string> stage_names(std::vector<Measurement> const& measurements) {
  std::vector<std::string> names{"bounds",  "keys", "sort", "tree", "lists",
                                 "charges", "p2m",  "m2m",  "m2l",  "p2l",
                                 "m2p",     "l2l",  "l2p",  "p2p",  "results"};
  for (auto const& measurement : measurements)
    for (auto const& stage : measurement.report.stages)
      if (std::find(names.begin(), names.end(), stage.name) == names.end())
        names.push_back(stage.name);
  return names;
}

std::string json_report(Settings const& settings, RunFacts const& facts,
                        std::vector<Measurement> const& measurements) {
  Json report = Json::array();
  for (auto const& measurement : measurements)
    report.push_back(entry(settings, facts, measurement));
  // Names of files may be in any encoding: what is not UTF-8 is replaced.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace forces
