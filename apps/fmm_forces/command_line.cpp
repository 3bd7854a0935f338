// SPDX-License-Identifier: BSD-3-Clause
// The command line by CLI11. Numbers and choices are parsed here, so that every refusal names the
// argument, its value and what is allowed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmm/environment.hpp>
#include <fmm/errors.hpp>
#include <fmm/tolerance/order_selection.hpp>
#include <fmm/tree/criteria/criteria.hpp>
#include <functional>
#include <limits>
#include <sstream>
#include <type_traits>

#include "bodies.hpp"
#include "settings.hpp"
#include "user_error.hpp"
#include "versions.hpp"

namespace forces {

namespace {

constexpr char footer[] = R"(
Units: lengths, masses and charges are those of the input; results follow with G as given.
Potential: laplace sum q/r, gravity -G sum m/sqrt(r^2 + softening^2); field: -grad potential.
Spline softening: as GADGET's, -G m/softening at r = 0, exactly -G m/r from 2.8 softening on.
Force: what is printed and reported as its error is that of the field, the force on a unit charge or mass.

Exit status: 0 done; 2 wrong arguments or input, or a tolerance that is not reached; 1 any other
error (one line on stderr).

Examples:
  fmm_forces --model plummer --n 1000000
  fmm_forces --input snapshot.hdf5 --softening 0.01 --method fmm --output forces.hdf5
  fmm_forces --model cube --method fmm --tree uniform --traversal lists --order 10 \
             --precision double --report report.json)";

std::string names_of(std::vector<Backend> const& backends) {
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

/// The whole of `text` as numbers with commas between, or nothing.
std::optional<std::vector<double>> parse_reals(std::string const& text) {
  std::vector<double> numbers;
  std::string number;
  for (std::istringstream rest(text); std::getline(rest, number, ',');) {
    const auto value = parse_real(number);
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  if (!text.empty() && text.back() == ',') return std::nullopt;
  return numbers;
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
           "GADGET/SWIFT snapshot (HDF5), or text with columns x y z q; a header may name dipoles, "
           "px py "
           "pz, beside q or without, or several densities, q0 q1 ..");
  add_path("--targets", settings_.targets,
           "Points that results are wanted at, in the place of the bodies: HDF5, or text with "
           "columns x y z");
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
  add(
      "--periodic", "X,Y,Z|9 NUMBERS|file",
      [this](std::string const& text) {
        settings_.periodic_of_file = text == "file";
        if (settings_.periodic_of_file) return;
        const auto numbers = parse_reals(text);
        if (!numbers || (numbers->size() != 3 && numbers->size() != 9))
          throw fmm::InvalidArgument("--periodic", text,
                                     "three lengths, three vectors (nine numbers), or file");
        auto const& n = *numbers;
        settings_.periodic =
            n.size() == 3 ? fmm::PeriodicBox(n[0], n[1], n[2])
                          : fmm::PeriodicBox(std::array<std::array<double, 3>, 3>{
                                {{n[0], n[1], n[2]}, {n[3], n[4], n[5]}, {n[6], n[7], n[8]}}});
      },
      "The cell that bodies repeat in: edges, vectors one after the other, or the input's BoxSize; "
      "direct sums are Ewald's then, and a net charge or mass has a uniform background [none]");
  add_choice("--boundary", settings_.boundary,
             "What is around the repeated cells [" + name_of(fmm::Boundary::tin_foil) + "]");
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
      "Method; may be given several times [all three; with --tolerance fmm]")
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
          printed(fmm::SourceCriterion::traits.default_pair_error) + ", fmm " +
          printed(fmm::FieldCriterion::traits.default_pair_error) + ", power " +
          printed(fmm::MultipolePowerCriterion::traits.default_pair_error) + ", relative " +
          printed(fmm::RelativeForceCriterion::traits.default_pair_error) + "]");
  add_real(
      "--tolerance", "E", settings_.tolerance, [](double x) { return x > 0; },
      "a finite number > 0",
      "Relative error of the force at most, " +
          fmm::tolerance::reached_tolerances(true, ErrorNorm::l2) + ", " +
          fmm::tolerance::reached_tolerances(false, ErrorNorm::l2) +
          ": finds order (unless it is given) and what the criterion takes, in the place of these "
          "options; --precision float is mixed then, and all pairs are summed in double");
  add_choice("--tolerance-of", settings_.tolerance_of,
             "What --tolerance is of [" + name_of(ToleranceOf::field) + "]");
  add_choice("--error-norm", settings_.error_norm,
             "Which error --tolerance bounds: the relative L2 error of all bodies, or each body's "
             "own but for a "
             "hundredth of the bodies, " +
                 fmm::tolerance::reached_tolerances(true, ErrorNorm::p99) + ", " +
                 fmm::tolerance::reached_tolerances(false, ErrorNorm::p99) + " [" +
                 name_of(ErrorNorm::l2) + "]");
  add_flag(
      "--tune", settings_.tune,
      "With --tolerance: first tries orders, criteria and sizes of leaves on these bodies, and "
      "takes the fastest that holds it; without --order");
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
                                     "auto or one of " + names_of(all) + " (compiled in)");
        settings_.backend = *backend;
      },
      "Kokkos backend, compiled in: " + names_of(build_.backends) +
          " [auto: " + name_of(build_.default_backend) + "]");
  add_integer("--threads", "T", settings_.threads, 1, fmm::most_host_threads,
              "Threads of the host, 1 to " + std::to_string(fmm::most_host_threads) +
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
           "Results in the order of the input, or of the targets, as .csv, .hdf5 or .h5; needs one "
           "--method");
  add_flag(
      "--hessian", settings_.hessian,
      "The Hessian of the potential, too: xx yy zz xy xz yz; of gravity minus the tidal tensor");
  add_path("--report", settings_.report,
           "JSON array with times (seconds), counts and errors, an entry a method");
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
  settings.any_strengths = settings.targets || settings.hessian;
  check(settings, [&](char const* flag) { return line.given(flag); });
  for (const Method method : settings.methods) resolve(settings, method, build);
  return settings;
}

}  // namespace forces
