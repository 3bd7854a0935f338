// SPDX-License-Identifier: BSD-3-Clause
// fmm_forces: potential and field of N bodies by direct sum, treecode and fast multipole method,
// with times and errors. This file is the life of the program from its arguments to its exit code.
#include <cstdio>
#include <exception>
#include <fmm/errors.hpp>
#include <iostream>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bodies.hpp"
#include "hdf5_handle.hpp"
#include "kokkos_init.hpp"
#include "output_file.hpp"
#include "report.hpp"
#include "session.hpp"
#include "settings.hpp"
#include "user_error.hpp"

namespace {

using namespace forces;

enum ExitCode { done = 0, failed = 1, misused = 2 };

void run(Settings settings, Build const& build) {
  fmm::check_environment();
  // Whether the results can be written is known before they are computed.
  if (settings.output) OutputFile("--output", *settings.output);
  if (settings.report) OutputFile("--report", *settings.report);

  Progress progress;
  progress.phase(settings.input ? "reading the bodies" : "making the bodies");
  const Bodies bodies = settings.input
                            ? read_bodies(*settings.input, {"--input", settings.kernel})
                            : make_model(*settings.model, static_cast<std::size_t>(settings.n),
                                         settings.seed, settings.charges);
  if (settings.periodic_of_file) {
    if (!(bodies.box > 0))
      throw UserError("--periodic file: " + settings.input->string() + " has no BoxSize");
    settings.periodic = fmm::PeriodicBox(bodies.box);
  }
  settings.any_strengths =
      settings.any_strengths || !bodies.dipoles.empty() || bodies.densities.has_value();
  std::vector<MethodSettings> methods;
  for (const Method method : settings.methods) methods.push_back(resolve(settings, method, build));
  std::optional<Bodies> targets;
  if (settings.targets)
    targets = read_bodies(*settings.targets, {"--targets", settings.kernel, true});
  RunFacts facts{.n = static_cast<std::int64_t>(bodies.size()),
                 .targets = {},
                 .densities = bodies.densities,
                 .has_dipoles = !bodies.dipoles.empty(),
                 .device = {},
                 .threads = {},
                 .notes = bodies.notes};
  if (bodies.box > 0 && !settings.periodic)
    facts.notes.insert(facts.notes.begin(),
                       "the snapshot has a box (BoxSize " + fmm::to_text(bodies.box) +
                           "), and sums are those of open space, without periodic images: "
                           "--periodic file has them");
  if (targets) {
    facts.targets = static_cast<std::int64_t>(targets->size());
    for (auto const& note : targets->notes) facts.notes.push_back("--targets: " + note);
  }

  const KokkosScope kokkos(settings.threads);
  const auto session = settings.any_strengths
                           ? open_session(settings.backend, settings.data,
                                          {bodies, targets ? &*targets : nullptr, settings.hessian})
                           : open_session(settings.backend, settings.data, bodies);
  facts.device = session->device();
  facts.threads = session->threads();
  const RunRequest request{.repeats = settings.repeat.value_or(defaults::repeat),
                           .direct_limit = settings.direct_limit,
                           .long_direct = settings.repeat ? std::numeric_limits<double>::infinity()
                                                          : defaults::long_direct,
                           .check = settings.check,
                           .check_seed = settings.check_seed,
                           .wants_results = settings.output.has_value()};
  std::vector<Measurement> measurements;
  for (auto const& method : methods)
    measurements.push_back(session->run(method, request, progress));

  progress.phase("writing");
  if (settings.output)
    write_output(*settings.output, targets ? *targets : bodies, measurements.front().results);
  if (settings.report)
    write_file("--report", *settings.report, json_report(settings, facts, measurements));
  progress.clear();
  std::cout << table(facts, measurements) << std::flush;
  if (!std::cout) throw std::runtime_error("the table cannot be written to stdout");
  for (auto const& measurement : measurements)
    if (const auto count = measurement.report.not_finite; count > 0)
      throw std::runtime_error(name_of(measurement.settings.method) + ": " +
                               not_finite(count, facts));
}

int report_failure(ExitCode code, char const* what) {
  std::fprintf(stderr, "fmm_forces: %s\n", one_line(what).c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    silence_hdf5();
    const Build build = build_facts();
    if (const auto settings = parse_command_line(argc, argv, build)) run(*settings, build);
    return done;
  } catch (UserError const& error) {
    return report_failure(misused, error.what());
  } catch (fmm::InvalidArgument const& error) {
    return report_failure(misused, error.what());
  } catch (std::bad_alloc const&) {
    return report_failure(failed, "out of memory on the host");
  } catch (std::exception const& error) {
    return report_failure(failed, error.what());
  }
}
