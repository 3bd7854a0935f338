// SPDX-License-Identifier: BSD-3-Clause
// Whether a tolerance is held: random cases over many kinds of bodies (kinds_of_bodies.hpp), as lines of JSON.
//
//     tolerance_cases [--first I] [--last J] [--seed S] [--least N] [--largest N] [--check M] [--backend B]
//                     [--reference BACKEND] [--kind NAME] [--of field|potential|both] [--norm l2|p99]
//                     [--method fmm|treecode] [--n N] [--tolerance T] [--precision mixed|double] [--leaf BODIES]
//                     [--softened yes|no] [--ask FOLDER]
//     tolerance_cases --answer FOLDER [--backend B]
//
// Case i of a seed is always the same: kind, N from `least` (10^3) to `largest` and tolerance evenly in the
// logarithm, Mixed or double, one sign of charge or, for three of ten that have masses, random signs, and for one of
// five of one sign gravity with softening, Plummer's or the spline's, from a thousandth of the bodies' mean distance to
// a few of them; for one of five an order, and for one of five a leaf's capacity, that are else the library's. Errors
// are those of measure_error, on the reference's backend if one is named, against direct sums in double at M bodies
// (all, if there are fewer, or if it is over the tolerance at these); --ask has programs with --answer measure them
// (measured_elsewhere.hpp). With --norm p99 tolerances are from 1e-2 to 1e-4 and 1e-10. A case that is refused says
// why, and what came of twice the tolerance that the refusal names. --n, --tolerance, --precision, --leaf and
// --softened say what is drawn else.
// perf/scripts/tolerance_cases.py runs this and sums it up.
#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmm/runtime.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "kinds_of_bodies.hpp"
#include "measured_elsewhere.hpp"

namespace {

template <class Columns>
using Rows = Kokkos::View<Columns, Kokkos::LayoutRight, Kokkos::HostSpace,
                          Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// As JSON has it: what is not finite is beyond all numbers.
std::string text_of(double value) {
  if (!std::isfinite(value)) return "1e999";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

struct Request {
  std::uint64_t first = 0, last = 10, seed = 1, check = 100000;
  double least = 1e3, largest = 1e5, n = 0, tolerance = 0;
  int leaf = 0;
  std::string precision = "", softened = "", backend = "", reference = "", kind = "", of = "field",
              norm = "l2", method = "fmm", ask = "", answer = "";
};

Request parse(int argc, char** argv) {
  Request request;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) {
      std::fprintf(stderr, "tolerance_cases: %s is no option, or takes a value\n", argv[i]);
      std::exit(2);
    }
    char const* const value = argv[i + 1];
    if (name == "--first")
      request.first = std::strtoull(value, nullptr, 10);
    else if (name == "--last")
      request.last = std::strtoull(value, nullptr, 10);
    else if (name == "--seed")
      request.seed = std::strtoull(value, nullptr, 10);
    else if (name == "--check")
      request.check = std::uint64_t(std::strtod(value, nullptr));
    else if (name == "--least")
      request.least = std::strtod(value, nullptr);
    else if (name == "--reference")
      request.reference = value;
    else if (name == "--largest")
      request.largest = std::strtod(value, nullptr);
    else if (name == "--backend")
      request.backend = value;
    else if (name == "--of")
      request.of = value;
    else if (name == "--method")
      request.method = value;
    else if (name == "--norm")
      request.norm = value;
    else if (name == "--n")
      request.n = std::strtod(value, nullptr);
    else if (name == "--tolerance")
      request.tolerance = std::strtod(value, nullptr);
    else if (name == "--precision")
      request.precision = value;
    else if (name == "--softened")
      request.softened = value;
    else if (name == "--leaf")
      request.leaf = std::atoi(value);
    else if (name == "--kind")
      request.kind = value;
    else if (name == "--ask")
      request.ask = value;
    else if (name == "--answer")
      request.answer = value;
    else {
      std::fprintf(stderr, "tolerance_cases: unknown option %s\n", argv[i]);
      std::exit(2);
    }
  }
  const auto check = [](char const* name, std::string const& value,
                        std::initializer_list<char const*> allowed) {
    for (char const* one : allowed)
      if (value == one) return;
    std::fprintf(stderr, "tolerance_cases: %s %s\n", name, value.c_str());
    std::exit(2);
  };
  check("--of", request.of, {"field", "potential", "both"});
  check("--norm", request.norm, {"l2", "p99"});
  check("--method", request.method, {"fmm", "treecode"});
  check("--precision", request.precision, {"", "mixed", "double"});
  check("--softened", request.softened, {"", "yes", "no"});
  return request;
}

using DeviceMemory = Kokkos::DefaultExecutionSpace::memory_space;

std::optional<fmm::runtime::Backend> backend_of(std::string const& name) {
  if (name == "cuda") return fmm::runtime::Backend::cuda;
  if (name == "openmp") return fmm::runtime::Backend::openmp;
  if (name == "serial") return fmm::runtime::Backend::serial;
  return std::nullopt;
}
/// f(memory) for a memory that the backend has access to.
template <class F>
auto with_memory_of(std::string const& backend, F const& f) {
  if (backend == "openmp" || backend == "serial") return f(Kokkos::HostSpace());
  return f(DeviceMemory());
}

template <class Memory, class Array>
auto in(Memory memory, Array const& array) {
  return Kokkos::create_mirror_view_and_copy(memory, array);
}

/// Errors of results in any memory, by direct sums on that backend.
template <class X, class Q, class Phi, class A>
elsewhere::Answer measure(std::string const& backend, elsewhere::Question const& question,
                          X const& x, Q const& charges, Phi const& phi, A const& a) {
  fmm::runtime::Policies direct;
  direct.kernel = fmm::runtime::Kernel(question.kernel);
  direct.method = fmm::runtime::Method::direct;
  direct.precision =
      question.is_mixed ? fmm::runtime::Precision::mixed : fmm::runtime::Precision::full;
  direct.backend = backend_of(backend);
  const auto error = with_memory_of(backend, [&](auto memory) {
    return fmm::AnySolver(direct, {.softening = question.softening})
        .measure_error(in(memory, x), in(memory, charges), in(memory, phi), in(memory, a),
                       question.check);
  });
  return {error.field_l2,      error.field_p99,     error.field_max, error.potential_l2,
          error.potential_p99, error.potential_max, error.samples};
}

/// What the tolerance is of.
double error_of(Request const& request, elsewhere::Answer const& error) {
  const bool own = request.norm == "p99";
  const double field = own ? error.field_p99 : error.field_l2,
               potential = own ? error.potential_p99 : error.potential_l2;
  if (request.of == "field") return field;
  return request.of == "potential" ? potential : std::fmax(field, potential);
}

/// Prints what came of it; returns the words of a refusal.
template <class Memory>
std::string solve(Memory, kinds::Bodies const& bodies, fmm::runtime::Policies const& policies,
                  fmm::Options const& options, Request const& request) {
  const std::size_t n = bodies.size();
  try {
    fmm::AnySolver solver(policies, options);
    const Kokkos::View<double*[3], Kokkos::LayoutRight, Memory> x("x", n), a("a", n);
    const Kokkos::View<double*, Memory> charges("q", n), phi("phi", n);
    Kokkos::deep_copy(x, Rows<double const* [3]>(bodies.positions.data(), n));
    Kokkos::deep_copy(charges, Rows<double const*>(bodies.charges.data(), n));
    fmm::Report report;
    auto plan = solver.build(x, charges);
    solver.evaluate(plan, charges, phi, a, &report);
    const double seconds = report.evaluate_seconds;
    elsewhere::Question question{n, request.check, options.softening, int(policies.kernel),
                                 policies.precision == fmm::runtime::Precision::mixed};
    const auto measured = [&] {
      if (request.ask.empty())
        return measure(request.reference.empty() ? request.backend : request.reference, question, x,
                       charges, phi, a);
      elsewhere::Arrays arrays(n);
      arrays.positions = bodies.positions;
      arrays.charges = bodies.charges;
      Kokkos::deep_copy(Rows<double*>(arrays.potential.data(), n), phi);
      Kokkos::deep_copy(Rows<double* [3]>(arrays.field.data(), n), a);
      return elsewhere::ask(request.ask, question, arrays);
    };
    elsewhere::Answer error = measured();
    const double at_sample = error_of(request, error);
    if (!(at_sample <= *options.tolerance) && error.samples < n) {
      question.check =
          n;  // a few bodies may have most of an error: whether they are in a sample is luck
      error = measured();
      std::printf(", \"at_sample\": %s", text_of(at_sample).c_str());
    }
    std::printf(
        ", \"order\": %d, \"l2\": %s, \"p99\": %s, \"max\": %s, \"potential_l2\": %s, "
        "\"potential_p99\": %s, \"potential_max\": %s, "
        "\"first_seconds\": %.6g, \"checked\": %llu",
        solver.order(), text_of(error.field_l2).c_str(), text_of(error.field_p99).c_str(),
        text_of(error.field_max).c_str(), text_of(error.potential_l2).c_str(),
        text_of(error.potential_p99).c_str(), text_of(error.potential_max).c_str(), seconds,
        (unsigned long long)error.samples);
  } catch (fmm::InvalidArgument const& e) {
    std::string words;
    for (char const* c = e.what(); *c; ++c) words += *c == '"' || *c == '\\' ? '\'' : *c;
    std::printf(", \"refused\": \"%s\"", words.c_str());
    return words;
  }
  return "";
}

/// Plummer's, or the spline's, which may be longer: it is exact beyond 2.8 times it.
void draw_softening(std::mt19937_64& random, double spacing, fmm::runtime::Policies& policies,
                    fmm::Options& options) {
  const auto uniform = [&] { return std::uniform_real_distribution<double>()(random); };
  const bool spline = uniform() < 0.5;
  policies.kernel =
      spline ? fmm::runtime::Kernel::spline_gravity : fmm::runtime::Kernel::softened_gravity;
  options.softening = spacing * std::pow(10, -3 + (spline ? 3.5 : 2.5) * uniform());
}

/// An order that is not far too low for the tolerance, and a leaf's capacity of which there are not too many leaves:
/// each for one of five cases.
void draw_setting(std::mt19937_64& random, std::size_t n, double tolerance,
                  fmm::runtime::Policies& policies, fmm::Options& options) {
  const auto uniform = [&] { return std::uniform_real_distribution<double>()(random); };
  if (uniform() < 0.2) {
    std::vector<int> orders = fmm::runtime::orders();
    std::erase_if(orders, [&](int order) { return order < -0.9 * std::log10(tolerance); });
    if (!orders.empty()) policies.order = orders[random() % orders.size()];
  }
  if (uniform() < 0.2) {
    const double least = std::fmax(1, double(n) / 20000);
    options.leaf_capacity = int(least * std::pow(512 / least, uniform()));
  }
}

void run(Request const& request, std::uint64_t number) {
  std::seed_seq seeds{request.seed, number};
  std::mt19937_64 random(seeds);
  const auto uniform = [&] { return std::uniform_real_distribution<double>()(random); };
  auto const& all = kinds::all();
  kinds::Kind const* kind = &all[random() % all.size()];
  for (auto const& one : all)
    if (request.kind == one.name) kind = &one;
  auto wanted = std::size_t(request.least * std::pow(request.largest / request.least, uniform()));
  if (request.n > 0) wanted = std::size_t(request.n);
  bool mixed = uniform() < 0.5;
  if (!request.precision.empty()) mixed = request.precision == "mixed";
  const bool signs = !kind->has_signs && uniform() < 0.3;
  const bool own = request.norm == "p99";
  const double decades = mixed ? (own ? 2.0 : -2 - std::log10(3e-6)) : (own ? 8.0 : 10.0);
  double tolerance = std::pow(10, -2 - uniform() * decades);
  if (request.tolerance > 0) tolerance = request.tolerance;
  const bool may_soften = !kind->has_signs && !signs, drawn = may_soften && uniform() < 0.2,
             soft = request.softened.empty() ? drawn : may_soften && request.softened == "yes";
  auto bodies = kind->make(wanted, random);
  const std::size_t n = bodies.size();
  if (signs)
    for (double& q : bodies.charges)
      if (random() % 2 == 0) q = -q;
  double extent = 0;
  for (double x : bodies.positions) extent = std::fmax(extent, std::fabs(x - bodies.positions[0]));
  fmm::Options options;
  options.tolerance = tolerance;
  if (request.of == "potential") options.tolerance_of = fmm::ToleranceOf::potential;
  if (request.of == "both") options.tolerance_of = fmm::ToleranceOf::both;
  if (own) options.error_norm = fmm::ErrorNorm::p99;

  fmm::runtime::Policies policies;
  if (soft) draw_softening(random, extent / std::cbrt(double(n)), policies, options);
  if (request.method == "treecode") policies.method = fmm::runtime::Method::treecode;
  policies.precision = mixed ? fmm::runtime::Precision::mixed : fmm::runtime::Precision::full;
  policies.backend = backend_of(request.backend);
  draw_setting(random, n, tolerance, policies, options);
  if (request.leaf > 0) options.leaf_capacity = request.leaf;
  std::printf(
      "{\"case\": %llu, \"seed\": %llu, \"kind\": \"%s\", \"hierarchy\": %s, \"n\": %zu, "
      "\"signs\": %s, \"softening\": %.17g, \"precision\": \"%s\", \"of\": \"%s\", \"norm\": "
      "\"%s\", \"method\": \"%s\", \"leaf\": %d, \"is_order_given\": %s, \"is_spline\": %s, "
      "\"tolerance\": %.17g",
      (unsigned long long)number, (unsigned long long)request.seed, kind->name,
      kind->is_hierarchy ? "true" : "false", n, signs || kind->has_signs ? "true" : "false",
      soft ? options.softening : 0.0, mixed ? "mixed" : "double", request.of.c_str(),
      request.norm.c_str(), request.method.c_str(), options.leaf_capacity.value_or(0),
      policies.order ? "true" : "false",
      policies.kernel == fmm::runtime::Kernel::spline_gravity ? "true" : "false", tolerance);
  const auto solve_here = [&] {
    return with_memory_of(request.backend, [&](auto memory) {
      return solve(memory, bodies, policies, options, request);
    });
  };
  const std::string words = solve_here();
  // what a refusal says that can be had, twice over
  const auto at = words.find("at least ");
  const double twice = at == std::string::npos ? 0 : 2 * std::atof(words.c_str() + at + 9);
  if (twice > tolerance && twice <= 1e-2) {
    options.tolerance = twice;
    std::printf(", \"twice\": {\"tolerance\": %.17g", twice);
    solve_here();
    std::printf("}");
  }
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const fmm::runtime::KokkosSession session(argc, argv);
  const Request request = parse(argc, argv);
  if (!request.answer.empty())
    elsewhere::serve(request.answer, [&](elsewhere::Question const& question, auto& arrays) {
      const std::size_t n = question.n;
      return measure(request.backend, question, Rows<double* [3]>(arrays.positions.data(), n),
                     Rows<double*>(arrays.charges.data(), n),
                     Rows<double*>(arrays.potential.data(), n),
                     Rows<double* [3]>(arrays.field.data(), n));
    });
  else
    for (std::uint64_t i = request.first; i < request.last; ++i) run(request, i);
}
