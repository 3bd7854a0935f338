// SPDX-License-Identifier: BSD-3-Clause
// fmm_bench: the points to run at, from the command line, and what the results were measured with.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>

#include "bench.hpp"
#include "device_name.hpp"
#include "kokkos_init.hpp"
#include "versions.hpp"

namespace fmm_bench {
namespace {

constexpr char usage[] =
    R"(fmm_bench: every stage of the library alone, and methods from end to end.

  --fmm_n=N,..          numbers of bodies
  --fmm_leaf=L,..       leaf capacities
  --fmm_model=M,..      cube, plummer, shell, disk
  --fmm_flops           print the operations of M2P and M2L per order, and end

The first of each makes the base point; every other value is run with all else as in the base. Orders
are compiled in (CMake: FMM_BENCH_ORDERS). Double is run at the base point, float at all. Direct sums of
many bodies are left out. Google Benchmark's own options choose and print, e.g.

  fmm_bench --benchmark_filter='^(M2L|P2P)' --benchmark_repetitions=5 --benchmark_out=m2l.json
)";

struct Axes {
  std::vector<std::string> n = on_host ? std::vector<std::string>{"100000", "10000", "1000000"}
                                       : std::vector<std::string>{"1000000", "100000", "10000000"};
  std::vector<std::string> leaf = {"64", "32", "128"};
  std::vector<std::string> model = {"cube", "plummer"};
};

std::vector<std::string> split(std::string const& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  if (parts.empty()) parts.emplace_back();
  return parts;
}

std::int64_t number(std::string const& flag, std::string const& text, std::int64_t most) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (std::exception const&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || !(value >= 1 && value <= double(most)) ||
      value != double(std::int64_t(value)))
    throw fmm::InvalidArgument(flag, text, "integers of 1 to " + std::to_string(most));
  return std::int64_t(value);
}

Point point_of(std::string const& model, std::string const& n, std::string const& leaf) {
  const auto kind = forces::choice_of<forces::Model>(model);
  if (!kind) throw fmm::InvalidArgument("--fmm_model", model, forces::all_names<forces::Model>());
  return {*kind, number("--fmm_n", n, forces::max_bodies),
          int(number("--fmm_leaf", leaf, 1 << 20))};
}

/// The base, and all points that differ from it in one thing.
std::vector<Point> points_of(Axes const& axes) {
  std::vector<Point> points{point_of(axes.model[0], axes.n[0], axes.leaf[0])};
  for (auto const& n : axes.n) points.push_back(point_of(axes.model[0], n, axes.leaf[0]));
  for (auto const& leaf : axes.leaf) points.push_back(point_of(axes.model[0], axes.n[0], leaf));
  for (auto const& model : axes.model) points.push_back(point_of(model, axes.n[0], axes.leaf[0]));
  std::vector<Point> once;
  for (auto const& point : points)
    if (std::find(once.begin(), once.end(), point) == once.end()) once.push_back(point);
  return once;
}

void print_flops() {
  std::puts(
      "| p | M2L, listing | M2L, their program | M2L `NaiveTranslation` | M2L `Rotation` "
      "| M2P, listing | M2P, their program | M2P |");
  std::puts("| --- | --- | --- | --- | --- | --- | --- | --- |");
  for (auto const& row : flops_rows()) {
    const std::int64_t values[] = {chapter::m2l(row.order),
                                   chapter::m2l_of_their_program(row.order),
                                   row.m2l_direct,
                                   row.m2l_rotation,
                                   chapter::m2p(row.order),
                                   chapter::m2p_of_their_program(row.order),
                                   row.m2p};
    std::string line = "|";
    line.append(" ").append(std::to_string(row.order)).append(" |");
    for (const std::int64_t value : values)
      line.append(" ").append(std::to_string(value)).append(" |");
    std::puts(line.c_str());
  }
}

void add_context() {
  for (auto const& [name, version] : forces::versions()) benchmark::AddCustomContext(name, version);
  benchmark::AddCustomContext("commit", forces::commit());
  benchmark::AddCustomContext("space", KokkosSpace::name());
  benchmark::AddCustomContext("device", forces::device_name<KokkosSpace>());
  benchmark::AddCustomContext(
      "threads", on_host ? std::to_string(default_space().concurrency()) : std::string("none"));
}

int run(int argc, char** argv) {
  Axes axes;
  bool flops = false;
  // many short benchmarks: less than Google Benchmark's half second each, unless it is told
  std::string min_time = "--benchmark_min_time=0.1";
  std::vector<char*> rest{argv[0], min_time.data()};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&](std::string const& flag) {
      return argument.rfind(flag + "=", 0) == 0
                 ? std::optional(split(argument.substr(flag.size() + 1)))
                 : std::nullopt;
    };
    if (argument == "--help") {
      std::cout << usage;
      return 0;
    }
    if (argument == "--fmm_flops")
      flops = true;
    else if (const auto n = value("--fmm_n"))
      axes.n = *n;
    else if (const auto leaf = value("--fmm_leaf"))
      axes.leaf = *leaf;
    else if (const auto model = value("--fmm_model"))
      axes.model = *model;
    else
      rest.push_back(argv[i]);
  }
  int count = int(rest.size());
  rest.push_back(nullptr);
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;
  const auto points = points_of(axes);

  const forces::KokkosScope kokkos(std::nullopt);
  for (const Register add : registry()) add(points);
  if (flops) {
    print_flops();
    return 0;
  }
  add_context();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace fmm_bench

int main(int argc, char** argv) {
  try {
    return fmm_bench::run(argc, argv);
  } catch (fmm::InvalidArgument const& error) {
    std::cerr << "fmm_bench: " << error.what() << '\n';
    return 2;
  } catch (std::exception const& error) {
    std::cerr << "fmm_bench: " << error.what() << '\n';
    return 1;
  }
}
