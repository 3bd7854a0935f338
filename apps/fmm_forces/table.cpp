// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "report.hpp"

namespace forces {

namespace {

template <class... Values>
std::string format(char const* pattern, Values... values) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// Rows of cells, printed with columns as wide as their widest cell; the first one to the left.
class TextTable {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (auto const& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string text;
    for (auto const& row : rows_) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        const std::string fill(widths[c] - row[c].size(), ' ');
        text += (c == 0 ? row[c] + fill : "  " + fill + row[c]);
      }
      text += '\n';
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string seconds(double value) { return format(value < 100 ? "%.4f" : "%.1f", value); }

}  // namespace

std::string not_finite(std::int64_t targets, RunFacts const& facts) {
  return std::to_string(targets) + " of " + std::to_string(facts.targets.value_or(facts.n)) +
         (facts.targets ? " targets" : " bodies") +
         " have results that are infinite or not a number";
}

std::string table(RunFacts const& facts, std::vector<Measurement> const& measurements) {
  TextTable summary, stages;
  std::vector<std::string> titles{"method",   "traversal", "order",       "theta",
                                  "N",        "total s",   "build s",     "evaluate s",
                                  "force L2", "force p99", "potential L2"};
  const bool has_hessian =
      std::any_of(measurements.begin(), measurements.end(),
                  [](Measurement const& m) { return m.error && !std::isnan(m.error->hessian_l2); });
  if (has_hessian) titles.push_back("Hessian L2");
  summary.add(titles);
  std::vector<std::string> header{"stage, s"};
  std::string note;
  if (facts.targets) note += "targets: " + std::to_string(*facts.targets) + '\n';
  if (facts.densities) note += "densities: " + std::to_string(*facts.densities) + '\n';
  for (auto const& text : facts.notes) note += "note: " + text + '\n';
  for (auto const& m : measurements) {
    auto const& s = m.settings;
    const bool tree = s.method != Method::direct;
    char const* const mark = m.sampled_targets ? "*" : "";
    const auto error = [&](double ErrorStatistics::*member) {
      const bool is_known = m.error && !std::isnan((*m.error).*member);
      return is_known ? format("%.2e", (*m.error).*member) : std::string("-");
    };
    std::vector<std::string> row{name_of(s.method) + mark,
                                 tree ? name_of(s.traversal) : "-",
                                 tree ? std::to_string(s.order) : "-",
                                 tree && s.options.theta ? format("%.3g", *s.options.theta) : "-",
                                 std::to_string(facts.n),
                                 seconds(m.total) + mark,
                                 seconds(m.build),
                                 seconds(m.evaluate),
                                 error(&ErrorStatistics::field_l2),
                                 error(&ErrorStatistics::field_p99),
                                 error(&ErrorStatistics::potential_l2)};
    if (has_hessian) row.push_back(error(&ErrorStatistics::hessian_l2));
    summary.add(row);
    header.push_back(name_of(s.method) + mark);
    if (const auto count = m.report.not_finite; count > 0)
      note += name_of(s.method) + ": " + not_finite(count, facts) + '\n';
    if (m.sampled_targets)
      note += "* not run in full: summed at " + std::to_string(*m.sampled_targets) +
              " sampled targets, the time of all targets extrapolated from theirs\n";
  }
  stages.add(header);
  for (auto const& name : stage_names(measurements)) {
    std::vector<std::string> row{name};
    bool any = false;
    for (auto const& m : measurements) {
      auto const* const stage = m.report.find(name);
      row.push_back(stage ? seconds(stage->seconds) : "-");
      any = any || stage;
    }
    if (any) stages.add(row);
  }
  return summary.text() + note + '\n' + stages.text();
}

}  // namespace forces
