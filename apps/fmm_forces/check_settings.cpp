// SPDX-License-Identifier: BSD-3-Clause
// Contradictions among the options that the user gave.
#include <algorithm>
#include <fmm/errors.hpp>
#include <system_error>
#include <utility>

#include "bodies.hpp"
#include "results.hpp"
#include "settings.hpp"
#include "user_error.hpp"

namespace forces {

namespace {

bool same_file(std::filesystem::path const& a, std::filesystem::path const& b) {
  std::error_code error;
  return a.lexically_normal() == b.lexically_normal() ||
         (std::filesystem::equivalent(a, b, error) && !error);
}

void check_source(Settings const& settings, Given const& given) {
  if (settings.input.has_value() == settings.model.has_value())
    throw UserError(settings.input ? "--input and --model are not allowed together: exactly one"
                                   : "neither --input nor --model is given: exactly one");
  for (char const* flag : {"--n", "--seed", "--charges"})
    if (settings.input && given(flag))
      throw UserError(std::string(flag) + " is not allowed with --input: it belongs to --model");
  if (settings.charges == ChargeKind::mixed && !takes_both_signs(settings.kernel))
    throw fmm::InvalidArgument("--charges", name_of(settings.charges),
                               "equal (only --kernel laplace takes both signs)");
}

void check_physics(Settings const& settings) {
  if (settings.softening_error && !has_softening_error(settings))
    throw fmm::InvalidArgument("--softening-error", *settings.softening_error,
                               "only with --kernel gravity and --softening-kind plummer");
  if (settings.kernel == KernelKind::gravity) return;
  const std::string kernel = " with --kernel " + name_of(settings.kernel);
  if (settings.softening != 0)
    throw fmm::InvalidArgument("--softening", settings.softening, "0" + kernel);
  if (settings.softening_kind != defaults::softening_kind)
    throw fmm::InvalidArgument("--softening-kind", name_of(settings.softening_kind),
                               name_of(defaults::softening_kind) + kernel);
  if (settings.G != 1) throw fmm::InvalidArgument("--G", settings.G, "1" + kernel);
}

void check_periodic(Settings const& settings, Given const& given) {
  if (!is_periodic(settings)) {
    if (given("--boundary")) throw UserError("--boundary is only for --periodic");
    return;
  }
  if (settings.periodic_of_file && !settings.input)
    throw UserError("--periodic file is only for --input");
  if (settings.translation == Translation::gemm)
    throw fmm::InvalidArgument("--translation", "gemm", "rotation or direct with --periodic");
  if (settings.periodic) fmm::detail::validate(*settings.periodic);
}

void check_machine(Settings const& settings) {
  if (settings.backend == Backend::serial && settings.threads.value_or(1) != 1)
    throw fmm::InvalidArgument("--threads", *settings.threads, "1 with the serial backend");
  if (settings.data == Data::in_float) {
    if (settings.precision != Precision::single_precision)
      throw fmm::InvalidArgument("--data", name_of(settings.data),
                                 "double with --precision " + name_of(settings.precision));
    if (settings.tolerance)
      throw fmm::InvalidArgument("--data", name_of(settings.data), "double with --tolerance");
    if (settings.backend != Backend::cuda)
      throw fmm::InvalidArgument("--data", name_of(settings.data),
                                 "double with --backend " + name_of(settings.backend));
  }
}

void check_files(Settings const& settings) {
  if (settings.output) {
    if (settings.methods.size() != 1)
      throw UserError("--output needs exactly one --method, not " +
                      std::to_string(settings.methods.size()));
    output_format(*settings.output);
  }
  if (settings.output && settings.report && same_file(*settings.output, *settings.report))
    throw UserError("--output and --report are the same file");
  for (auto const& [flag, file] :
       {std::pair{"--output", settings.output}, std::pair{"--report", settings.report}})
    for (auto const& [source, read] :
         {std::pair{"--input", settings.input}, std::pair{"--targets", settings.targets}})
      if (file && read && same_file(*file, *read))
        throw UserError(std::string(flag) + " would replace the file of " + source);
}

}  // namespace

void check(Settings const& settings, Given const& given) {
  if (settings.tune && !settings.tolerance) throw UserError("--tune is only for --tolerance");
  if (settings.tolerance_of && !settings.tolerance)
    throw UserError("--tolerance-of is only for --tolerance");
  if (settings.tolerance_of == ToleranceOf::hessian && !settings.hessian)
    throw UserError("--tolerance-of hessian needs --hessian");
  if (settings.error_norm && !settings.tolerance)
    throw UserError("--error-norm is only for --tolerance");
  if (settings.tune && settings.order)
    throw UserError("--order is not to be set with --tune, which looks for it");
  const bool trees = std::any_of(settings.methods.begin(), settings.methods.end(),
                                 [](Method method) { return method != Method::direct; });
  if (settings.tune && !trees) throw UserError("--tune is for --method fmm and treecode");
  if (settings.one_part &&
      (settings.precision != Precision::mixed_precision || settings.tolerance || !trees))
    throw UserError(
        "--one-part is only for --precision mixed without --tolerance, treecode and fmm");
  check_source(settings, given);
  check_physics(settings);
  check_periodic(settings, given);
  check_machine(settings);
  check_files(settings);
}

}  // namespace forces
