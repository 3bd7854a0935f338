// SPDX-License-Identifier: BSD-3-Clause
// The command line by CLI11. Numbers and choices are parsed here, so that every refusal names the
// argument, its value and what is allowed.
#include "settings.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmm/tolerance/order_selection.hpp>
#include <fmm/errors.hpp>
#include <fmm/tree/criteria/criteria.hpp>
#include <functional>
#include <limits>
#include <sstream>
#include <type_traits>
#include <utility>

#include "bodies.hpp"
#include "results.hpp"
#include "user_error.hpp"
#include "versions.hpp"

namespace forces {

namespace {

constexpr char footer[] = R"(
Units: lengths, masses and charges are those of the input; results follow with G as given.
Potential: laplace sum q/r, gravity -G sum m/sqrt(r^2 + softening^2); field: -grad potential.
Spline softening: as GADGET's, -G m/softening at r = 0, exactly -G m/r from 2.8 softening on.

Exit status: 0 done; 2 wrong arguments or input, 1 any other error (one line on stderr).

Examples:
  fmm_forces --model plummer --n 1000000
  fmm_forces --input snapshot.hdf5 --softening 0.01 --method fmm --output forces.hdf5
  fmm_forces --model cube --method fmm --tree uniform --traversal lists --order 10 \
             --precision double --report report.json)";

std::string join(std::vector<int> const& numbers) {
  std::string text;
  for (const int number : numbers) (text += text.empty() ? "" : ", ") += std::to_string(number);
  return text;
}

std::string join(std::vector<Backend> const& backends) {
  std::string text;
  for (const Backend backend : backends) (text += text.empty() ? "" : ", ") += name_of(backend);
  return text;
}

/// The whole of `text` as a number, or nothing.
std::optional<double> parse_real(std::string const& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// An integer, in the notation of real numbers (1e6) too.
std::optional<std::int64_t> parse_integer(std::string const& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  const auto real = parse_real(text);
  if (!real || std::abs(*real) > 0x1p53 || *real != std::floor(*real)) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

template <class T>
std::string printed(T const& value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

constexpr std::int64_t any_integer = std::numeric_limits<std::int64_t>::max();

/// The options, each tied to a member of Settings.
class CommandLine {
 public:
  CommandLine(Settings& settings, Build const& build) : settings_(settings), build_(build) {
    app_.get_formatter()->column_width(34);
    app_.get_formatter()->label("OPTIONS", "--OPTION VALUE ...");
    app_.set_help_flag("-h,--help", "Print this help and exit");
    app_.set_version_flag("--version", version_text(), "Print the versions and exit");
    app_.footer(footer);
    add_input();
    add_physics();
    add_methods();
    add_machine();
    add_measurement();
    add_output();
  }

  /// False if help or the version was printed.
  bool parse(int argc, char const* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
      if (error.get_exit_code() != 0) throw UserError(error.what());
      app_.exit(error);
      return false;
    }
    return true;
  }

  bool given(char const* flag) const { return app_.get_option(flag)->count() > 0; }

 private:
  CLI::Option* add(std::string const& flag, std::string const& type,
                   std::function<void(std::string const&)> const& action, std::string const& help) {
    return app_.add_option_function<std::string>(flag, action, help)
        ->type_name(type)
        ->group(group_);
  }

  template <class Target>
  void add_choice(std::string const& flag, Target& target, std::string const& help) {
    using Choice = std::remove_cvref_t<decltype(std::optional(target).value())>;
    add(
        flag, all_names<Choice>("|"),
        [&target, flag](std::string const& text) { target = require_choice<Choice>(flag, text); },
        help);
  }

  template <class Choice>
  static Choice require_choice(std::string const& flag, std::string const& text) {
    const auto choice = choice_of<Choice>(text);
    if (!choice) throw fmm::InvalidArgument(flag, text, "one of " + all_names<Choice>());
    return *choice;
  }

  template <class Target>
  void add_integer(std::string const& flag, std::string const& type, Target& target,
                   std::int64_t low, std::int64_t high, std::string const& help) {
    const std::string allowed = "an integer, " + std::to_string(low) +
                                (high == any_integer ? " or more" : " to " + std::to_string(high));
    add(
        flag, type,
        [&target, flag, low, high, allowed](std::string const& text) {
          const auto value = parse_integer(text);
          if (!value || *value < low || *value > high)
            throw fmm::InvalidArgument(flag, text, allowed);
          target =
              static_cast<std::remove_cvref_t<decltype(std::optional(target).value())>>(*value);
        },
        help);
  }

  template <class Target>
  void add_real(std::string const& flag, std::string const& type, Target& target,
                bool (*accepts)(double), std::string const& allowed, std::string const& help) {
    add(
        flag, type,
        [&target, flag, accepts, allowed](std::string const& text) {
          const auto value = parse_real(text);
          if (!value || !std::isfinite(*value) || !accepts(*value))
            throw fmm::InvalidArgument(flag, text, allowed);
          target = *value;
        },
        help);
  }

  void add_flag(std::string const& flag, bool& target, std::string const& help) {
    app_.add_flag(flag, target, help)->group(group_);
  }

  void add_path(std::string const& flag, std::optional<std::filesystem::path>& target,
                std::string const& help) {
    add(
        flag, "FILE", [&target](std::string const& text) { target = text; }, help);
  }

  void add_input();
  void add_physics();
  void add_methods();
  void add_machine();
  void add_measurement();
  void add_output();

  Settings& settings_;
  Build const& build_;
  CLI::App app_{"Potential and field of N bodies by direct sum, treecode and fast multipole method",
                "fmm_forces"};
  std::string group_;
};

void CommandLine::add_input() {
  group_ = "Bodies (exactly one of --input and --model)";
  add_path("--input", settings_.input,
           "GADGET/SWIFT snapshot (HDF5), or text with columns x y z q");
  add_choice("--model", settings_.model,
             "unit cube; Plummer sphere with a = 1, cut at r = 20; surface of the unit sphere; "
             "exponential disk with scale length 1 and height 0.1; two Plummer spheres 300 apart; "
             "fractal set of dimension 2 in the unit cube; total mass 1");
  add_integer("--n", "N", settings_.n, 0, max_bodies,
              "Bodies of the model, 0 to " + std::to_string(max_bodies) + " [" +
                  std::to_string(defaults::n) + "]");
  add_integer("--seed", "S", settings_.seed, 0, any_integer,
              "Seed of the model [" + std::to_string(defaults::seed) + "]");
  add_choice("--charges", settings_.charges,
             "Charges of the model: equal, or mixed with random signs (laplace) [equal]");
}

void CommandLine::add_physics() {
  group_ = "Sums";
  add_choice("--kernel", settings_.kernel, "Interaction [" + name_of(defaults::kernel) + "]");
  add_real(
      "--softening", "EPS", settings_.softening, [](double x) { return x >= 0; },
      "a finite number >= 0", "Softening length of gravity, in the unit of the positions [0]");
  add_choice("--softening-kind", settings_.softening_kind,
             "Plummer's softening, or GADGET's spline of the same potential at r = 0 [" +
                 name_of(defaults::softening_kind) + "]");
  add_real(
      "--softening-error", "E", settings_.softening_error, [](double x) { return x > 0; },
      "a finite number > 0",
      "What the far field of treecode and fmm, which has no Plummer softening, may err by, "
      "relative "
      "to the force [" +
          printed(fmm::default_softening_error) + "; that of --tolerance]");
  add_real(
      "--G", "G", settings_.G, [](double) { return true; }, "a finite number",
      "Gravitational constant, length^3 / (mass time^2) in the units of the input [1]");
}

void CommandLine::add_methods() {
  const auto by_method = [](auto&& value) {
    return " [treecode " + value(Method::treecode) + ", fmm " + value(Method::fmm) + "]";
  };
  const auto by_method_and_precision = [&](auto&& value) {
    return by_method([&](Method method) {
      const auto in = [&](Precision precision) {
        return value(defaults::expansion(method, precision, build_.default_backend));
      };
      return in(Precision::single_precision) + " in float, " + in(Precision::double_precision) +
             " in double";
    });
  };
  group_ = "Method";
  add(
      "--method", all_names<Method>("|"),
      [this](std::string const& text) {
        const auto method = require_choice<Method>("--method", text);
        auto& methods = settings_.methods;
        if (std::find(methods.begin(), methods.end(), method) == methods.end())
          methods.push_back(method);
      },
      "Method; may be given several times [all three]")
      ->trigger_on_parse();
  add_integer("--order", "P", settings_.order, 0, 1000,
              "Highest degree of the expansions, one of " + join(build_.orders) +
                  by_method_and_precision([](defaults::Expansion expansion) {
                    return std::to_string(expansion.order);
                  }));
  add_real(
      "--theta", "T", settings_.theta, [](double x) { return x > 0 && x <= 1; },
      "0 < theta <= 1 (dual: < 1)",
      "Opening parameter, dimensionless, 0 < T <= 1 (dual: < 1; lists: always 2/3)" +
          by_method_and_precision(
              [](defaults::Expansion expansion) { return printed(expansion.theta); }));
  add_integer("--leaf", "CAP", settings_.leaf, 1, std::numeric_limits<int>::max(),
              "Bodies that a leaf may hold, 1 or more [tuned for method, backend, precision and "
              "order]");
  add_integer("--depth", "D", settings_.depth, 0, fmm::max_tree_depth,
              "Tree levels below the root, 0 to " + std::to_string(fmm::max_tree_depth) +
                  ": of all leaves (uniform), or at most (adaptive) [uniform: from N and CAP, "
                  "adaptive: " +
                  std::to_string(fmm::max_tree_depth) + "]");
  add_choice("--tree", settings_.tree, "Kind of octree [" + name_of(defaults::tree) + "]");
  add_choice("--traversal", settings_.traversal,
             "How cells are paired: the classic lists, Barnes and Hut's criterion (treecode), "
             "dual tree traversal" +
                 by_method([this](Method method) {
                   return name_of(defaults::traversal(
                       method,
                       defaults::has_field_criterion(defaults::precision, build_.default_backend)));
                 }));
  add_choice(
      "--criterion", settings_.criterion,
      "When the dual traversal accepts two cells: by radii and distance alone (radius), or by "
      "what the pair errs by, too, compared with the field at the target (field), or by the powers "
      "of the multipoles, choosing between M2L, M2P, P2L and P2P (power; fmm), or by what the pair "
      "errs by compared with the smallest force of the step before in the target cell (relative; "
      "that "
      "step is one evaluation with --criterion field, which is not timed; not in mixed precision); "
      "power and relative with --translation rotation [radius; in float on a GPU, --theta not "
      "given: field]");
  add_real(
      "--pair-error", "E", settings_.pair_error, [](double x) { return x > 0; },
      "a finite number > 0",
      "What a pair of cells may add to the error, in units of the field at the target, with "
      "--criterion field, power or relative [treecode " +
          printed(fmm::SourceCriterion::default_pair_error) + ", fmm " +
          printed(fmm::FieldCriterion::default_pair_error) + ", power " +
          printed(fmm::PowerCriterion::default_pair_error) + ", relative " +
          printed(fmm::RelativeCriterion::default_pair_error) + "]");
  add_real(
      "--tolerance", "E", settings_.tolerance, [](double x) { return x > 0; },
      "a finite number > 0",
      "Relative L2 error of the force at most, " + fmm::tolerance::reached_tolerances(true) + ", " +
          fmm::tolerance::reached_tolerances(false) +
          ", with --method fmm: finds order (unless it is given) and what the criterion takes, in "
          "the place of these options");
  add_flag(
      "--tune", settings_.tune,
      "With --tolerance: first tries orders, criteria and sizes of leaves on these bodies, and "
      "takes the fastest that holds it");
  add_choice("--translation", settings_.translation,
             "Translations of the fmm: direct O(P^4), rotation O(P^3)" +
                 std::string(FORCES_HAS_GEMM ? ", gemm O(P^4) by matrix products [" : " [") +
                 name_of(defaults::translation) + "]");
}

void CommandLine::add_machine() {
  group_ = "Machine";
  add_choice("--precision", settings_.precision,
             "Working precision; mixed is float that loses neither close pairs nor long sums, with "
             "--translation rotation and without --traversal lists [" +
                 name_of(defaults::precision) + "]");
  add_flag("--one-part", settings_.one_part,
           "With --precision mixed, treecode and fmm: pairs as in float, which takes less time; "
           "--tune tries it");
  add_choice("--data", settings_.data,
             "Precision in which positions and charges are handed to the backend; errors refer to "
             "these; float only with --backend cuda --precision float [" +
                 name_of(defaults::data) + "]");
  add(
      "--backend", "auto|" + all_names<Backend>("|"),
      [this](std::string const& text) {
        const auto backend = text == "auto" ? build_.default_backend : choice_of<Backend>(text);
        const auto& all = build_.backends;
        if (!backend || std::find(all.begin(), all.end(), *backend) == all.end())
          throw fmm::InvalidArgument("--backend", text,
                                     "auto or one of " + join(all) + " (compiled in)");
        settings_.backend = *backend;
      },
      "Kokkos backend, compiled in: " + join(build_.backends) +
          " [auto: " + name_of(build_.default_backend) + "]");
  add_integer("--threads", "T", settings_.threads, 1, most_threads,
              "Threads of the host, 1 to " + std::to_string(most_threads) +
                  " [OMP_NUM_THREADS, or all cores]");
}

void CommandLine::add_measurement() {
  group_ = "Measurement";
  add_integer("--check", "M", settings_.check, 0, any_integer,
              "Random targets whose sums are compared with a direct sum in double; 0: none, N or "
              "more: all [" +
                  std::to_string(defaults::check(build_.default_backend)) + "]");
  add_integer("--check-seed", "S", settings_.check_seed, 0, any_integer,
              "Seed for the choice of targets [" + std::to_string(defaults::check_seed) + "]");
  add_integer("--repeat", "R", settings_.repeat, 1, 1000000,
              "Timed runs of each method after a warm-up; times are medians [" +
                  std::to_string(defaults::repeat) + "; direct sums of more than " +
                  printed(defaults::long_direct) + " s: 1]");
  add_real(
      "--direct-limit", "SECONDS", settings_.direct_limit, [](double x) { return x >= 0; },
      "a finite number >= 0",
      "A direct sum that would take longer is run at a sample of the targets, and its full time is "
      "extrapolated (not with --output) [" +
          printed(defaults::direct_limit) + "]");
}

void CommandLine::add_output() {
  group_ = "Output";
  add_path("--output", settings_.output,
           "Results in the order of the input, as .csv, .hdf5 or .h5; needs one --method");
  add_path("--report", settings_.report,
           "JSON array with times (seconds), counts and errors, an entry a method");
}

bool same_file(std::filesystem::path const& a, std::filesystem::path const& b) {
  std::error_code error;
  return a.lexically_normal() == b.lexically_normal() ||
         (std::filesystem::equivalent(a, b, error) && !error);
}

void check_source(Settings const& settings, CommandLine const& line) {
  if (settings.input.has_value() == settings.model.has_value())
    throw UserError(settings.input ? "--input and --model are not allowed together: exactly one"
                                   : "neither --input nor --model is given: exactly one");
  for (char const* flag : {"--n", "--seed", "--charges"})
    if (settings.input && line.given(flag))
      throw UserError(std::string(flag) + " is not allowed with --input: it belongs to --model");
  if (settings.charges == ChargeKind::mixed && !takes_both_signs(settings.kernel))
    throw fmm::InvalidArgument("--charges", name_of(settings.charges),
                               "equal (only --kernel laplace takes both signs)");
}

bool has_softening_error(Settings const& settings) {
  return settings.kernel == KernelKind::gravity &&
         settings.softening_kind == SofteningKind::plummer;
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
    if (file && settings.input && same_file(*file, *settings.input))
      throw UserError(std::string(flag) + " would replace the file of --input");
}

}  // namespace

std::optional<Settings> parse_command_line(int argc, char const* const* argv, Build const& build) {
  Settings settings;
  settings.backend = build.default_backend;
  CommandLine line(settings, build);
  if (!line.parse(argc, argv)) return std::nullopt;

  if (!line.given("--check")) settings.check = defaults::check(settings.backend);
  if (settings.methods.empty())
    for (auto const& [name, method] : Names<Method>::table)
      if (!settings.tolerance || method == Method::fmm) settings.methods.push_back(method);
  if (settings.tune && !settings.tolerance) throw UserError("--tune is only for --tolerance");
  if (settings.tune && settings.order)
    throw UserError("--order is not to be set with --tune, which looks for it");
  const bool trees = std::any_of(settings.methods.begin(), settings.methods.end(),
                                 [](Method method) { return method != Method::direct; });
  if (settings.one_part &&
      (settings.precision != Precision::mixed_precision || settings.tolerance || !trees))
    throw UserError(
        "--one-part is only for --precision mixed without --tolerance, treecode and fmm");
  check_source(settings, line);
  check_physics(settings);
  check_machine(settings);
  check_files(settings);
  const fmm::tolerance::Cancellation none;  // what is wrong does not depend on it
  for (const Method method : settings.methods) resolve(settings, method, build, none);
  return settings;
}

/// The settings with order and criterion for their tolerance, and in the place of float mixed
/// precision, which holds it for close pairs, too. Throws fmm::InvalidArgument.
Settings with_tolerance(Settings settings, Method method, std::vector<int> const& orders,
                        fmm::tolerance::Cancellation charges) {
  const double tolerance = *settings.tolerance;
  const bool single = settings.precision != Precision::double_precision;
  if (method == Method::treecode)
    throw fmm::InvalidArgument("--tolerance", tolerance, "only with --method fmm");
  if (!fmm::tolerance::is_reached(tolerance, single))
    throw fmm::InvalidArgument("--tolerance", tolerance, fmm::tolerance::reached_tolerances(single));
  for (auto const& [name, set] : {std::pair("--theta", settings.theta.has_value()),
                                  {"--criterion", settings.criterion.has_value()},
                                  {"--pair-error", settings.pair_error.has_value()},
                                  {"--traversal", settings.traversal.has_value()}})
    if (set) throw UserError(std::string(name) + " is not to be set with --tolerance");
  if (single) settings.precision = Precision::mixed_precision;
  settings.traversal = Traversal::dual;
  settings.criterion = Criterion::power;
  if (!settings.order)
    settings.order = orders[fmm::tolerance::nearest_order(
        tolerance, {settings.backend != Backend::cuda, single}, charges, orders)];
  if (has_softening_error(settings) && !settings.softening_error)
    settings.softening_error = fmm::tolerance::softening_error_for(tolerance);
  return settings;
}

MethodSettings resolve(Settings const& given, Method method, Build const& build,
                       fmm::tolerance::Cancellation charges) {
  const Settings settings =
      given.tolerance ? with_tolerance(given, method, build.orders, charges) : given;
  const bool mixed = settings.precision == Precision::mixed_precision;
  if (mixed && settings.translation != Translation::rotation)
    throw fmm::InvalidArgument("--translation", name_of(settings.translation),
                               "rotation in mixed precision");
  const bool by_field =
      !settings.theta && defaults::has_field_criterion(settings.precision, settings.backend);
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
  result.order = settings.order.value_or(0);
  const auto expansion = defaults::expansion(method, settings.precision, settings.backend);
  if (!settings.order) {  // the default, or the next lower one that is there
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
  if (method == Method::treecode && result.criterion == Criterion::power)
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
  if (!settings.theta && traversal != Traversal::lists && !by_error)
    result.options.theta = expansion.theta;
  if (settings.pair_error && !by_error)
    throw fmm::InvalidArgument("--pair-error", *settings.pair_error,
                               "only with --criterion field, power or relative");
  result.options.pair_error = settings.pair_error;
  result.options.tolerance = settings.tolerance;
  if (traversal == Traversal::dual && result.options.theta.value_or(0) >= 1)
    throw fmm::InvalidArgument("--theta", *result.options.theta,
                               "0 < theta < 1 with --traversal dual");
  if (traversal == Traversal::lists && settings.theta && std::abs(*settings.theta - 2.0 / 3) > 1e-3)
    throw fmm::InvalidArgument("--theta", *settings.theta,
                               "not with --traversal lists, whose theta is 2/3");
  result.options.leaf_capacity = settings.leaf;
  if (!settings.leaf)
    result.options.leaf_capacity = defaults::leaf_capacity(method, settings.backend);
  result.options.one_part = settings.one_part;
  if (settings.tune) result.tune_to = settings.tolerance;
  return result;
}

}  // namespace forces
