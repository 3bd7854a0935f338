// SPDX-License-Identifier: BSD-3-Clause
// Kinds of bodies by a caller, who was not told how a tolerance is held: samples that are
// compared, filters of charged fibres, fields of wells, excited molecules, the colours of
// pictures, planets that collide and snow. Each draws its own shape, ratios and noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "kinds_of_bodies.hpp"
#include "random_points.hpp"

namespace kinds {

namespace {

/// The middle of the i-th of so many equal parts from -1 to 1, or a root of Chebyshev, which is
/// close to its neighbours near the ends.
double node(std::size_t i, std::size_t count, bool is_even) {
  const double t = (double(i) + 0.5) / double(count);
  return is_even ? 2 * t - 1 : -std::cos(pi * t);
}

/// The last body moves aside where all are at one place, and has a charge where none has one.
Bodies with_something(Bodies bodies, double length) {
  bool are_together = true, is_neutral = true;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    for (std::size_t d = 0; d < 3; ++d)
      are_together = are_together && bodies.positions[3 * i + d] == bodies.positions[d];
    is_neutral = is_neutral && bodies.charges[i] == 0;
  }
  if (are_together) bodies.positions.back() += length;
  if (is_neutral) bodies.charges.back() = 1;
  return bodies;
}

/// Two samples of three columns, against each other: of bell shape, with heavy tails, counts,
/// answers of yes or no, percents, the number of the row, a total of the other columns, or what
/// was measured again; rounded, with a mark where a value is missing, with rows that are there
/// twice, and rows that are the same before and after; weighted or not: for who tests by their
/// energy whether two samples are of one distribution.
Bodies two_samples(std::size_t n, Random& random) {
  enum What {
    bell,
    skewed,
    heavy,
    count,
    yes_or_no,
    percent,
    row_number,
    total,
    again,
    constant,
    all_of_them
  };
  struct Column {
    int what;
    double loading, spread, centre, skew, tail, step, missing, mark;
  };
  struct Row {
    Point at;
    double weight;
  };
  constexpr std::array<double, 5> marks = {-999, -1, 0, 9999, 99999};
  const bool are_alike = heads(random);
  // Many rows have more digits.
  const double finest = are_alike ? 1e-5 : 1e-4, coarsest = std::clamp(1e3 / double(n), 1e-3, 1.0);
  std::array<Column, 3> columns;
  for (std::size_t c = 0; c < 3; ++c) {
    Column& column = columns[c];
    column.what = int(random() % (c == 0 ? count : all_of_them));
    column.loading = heads(random) ? uniform(random, -1, 1) : any_sign(random);
    if (heads(random)) column.loading = 0;
    column.spread = are_alike ? 1 : log_uniform(random, 0.1, 100);
    column.centre = some(random, 0.1, 1e3) * column.spread;
    column.skew = log_uniform(random, 0.1, 1.2);
    column.tail = uniform(random, 1.2, 5);
    column.step = log_uniform(random, finest, coarsest) * column.spread;
    column.missing = some(random, 1e-3, c == 0 ? 0.2 * coarsest : 0.2);
    column.mark = marks[random() % marks.size()];
  }
  const double share = log_uniform(random, 1e-3, 0.5), effect = some(random, 1e-6, 1),
               wider = some(random, 1e-4, 0.3), apart = some(random, 0.1, 1),
               repeated = some(random, 1e-3, 0.5), unchanged = some(random, 1e-2, 0.95),
               uneven = some(random, 0.1, 2), silent = some(random, 1e-3, 0.3),
               error = log_uniform(random, 0.1, 100), bias = some(random, 1e-6, 0.3);
  const bool is_standard = heads(random), is_mixed = heads(random);
  std::vector<Point> groups(some_of(random, 30));
  std::vector<double> popularity;
  for (auto& group : groups) {
    group = around(random, {0, 0, 0}, apart);
    popularity.push_back(1 / double(popularity.size() + 1));
  }
  std::discrete_distribution<std::size_t> any_group(popularity.begin(), popularity.end());
  const auto fresh = [&](std::size_t i, bool is_second) {
    const double common = normal(random);
    Point const& group = groups[any_group(random)];
    Point p = {};
    for (std::size_t c = 0; c < 3; ++c) {
      Column const& column = columns[c];
      const double own = std::sqrt(1 - column.loading * column.loading),
                   plain = column.loading * common + own * normal(random) + group[c],
                   z = is_second ? plain * (1 + wider) + effect : plain;
      double value = column.centre;
      if (column.what == bell) value += column.spread * z;
      if (column.what == skewed) value = column.spread * std::exp(column.skew * z);
      if (column.what == heavy)
        value += column.spread * z * std::pow(1 - uniform(random), -1 / column.tail);
      if (column.what == count) value = std::floor(std::exp(column.skew * z));
      if (column.what == yes_or_no) value = z > column.skew;
      if (column.what == percent) value = std::clamp(50 + 30 * z, 0.0, 100.0);
      if (column.what == row_number) value = double(i);
      if (column.what == total) value = p[0] + p[1];
      if (column.what == again)
        value = p[c - 1] + columns[c - 1].step * std::round(error * normal(random));
      const bool is_own = column.what < count;
      p[c] = is_own ? rounded(value, column.step) : value;
      if (column.missing > 0 && uniform(random) < column.missing) p[c] = column.mark;
    }
    return p;
  };
  const std::size_t first = std::clamp(std::size_t(share * double(n)), std::size_t(1), n - 1);
  std::array<double, 2> totals = {};
  std::vector<Row> rows;
  rows.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_second = i >= first;
    const std::size_t start = is_second ? first : 0;
    const double luck = uniform(random);
    Point p;
    if (is_second && luck < unchanged)
      p = rows[(i - first) % first].at;
    else if (i > start && uniform(random) < repeated)
      p = rows[start + random() % (i - start)].at;
    else
      p = fresh(i - start, is_second);
    const bool is_silent = i > start && uniform(random) < silent;
    const double weight = is_silent ? 0 : std::exp(uneven * normal(random));
    rows.push_back({p, weight});
    totals[is_second] += weight;
  }
  for (std::size_t i = 0; i < n; ++i)
    rows[i].weight *= i < first ? double(n) / totals[0] : -double(n) * (1 + bias) / totals[1];
  if (is_standard)
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0, squares = 0;
      for (auto const& row : rows) sum += row.at[c];
      const double mean = sum / double(n);
      for (auto const& row : rows) squares += (row.at[c] - mean) * (row.at[c] - mean);
      const double deviation = squares > 0 ? std::sqrt(squares / double(n)) : 1;
      for (auto& row : rows) row.at[c] = (row.at[c] - mean) / deviation;
    }
  if (is_mixed) std::shuffle(rows.begin(), rows.end(), random);
  Bodies bodies;
  for (auto const& row : rows) add(bodies, row.at, row.weight);
  return with_something(std::move(bodies), 1);
}

/// A filter of fibres that keep their charge: thin and long, of many diameters, straight or wavy,
/// in layers or woven, flat where they are bonded, cut out as a disc or with loose ends; each has
/// two or four poles around it, patches along it, or one sign; some are dead; dust on them, in
/// chains towards the wind, and in the air: for who designs masks.
Bodies electret_filter(std::size_t n, Random& random) {
  enum Charging { by_field, any_dipole, quadrupole, patches, rubbed, all_of_them };
  struct Fibre {
    Point middle;
    double angle, length, radius, strength, phase;
  };
  const int charging = int(random() % all_of_them);
  const bool is_woven = random() % 4 == 0, is_disc = heads(random);
  const std::size_t fibres = some_of(random, std::min(double(n) / 40, 5e4)),
                    any_around = 1 + random() % 12,
                    around_it =
                        charging < patches ? std::max(any_around, std::size_t(2)) : any_around;
  const double dust = some(random, 1e-3, 0.6), thick = log_uniform(random, 1e-3, 1),
               thin = log_uniform(random, 1e-5, 1e-2), spread = some(random, 0.05, 1),
               aligned = some(random, 0.01, 1), wave = some(random, 1e-3, 0.05),
               waves = log_uniform(random, 1, 100), patch = log_uniform(random, 1e-3, 0.5),
               uneven = some(random, 0.05, 2), dead = some(random, 0.01, 0.8),
               fading = some(random, 0.1, 15), rest = some(random, 1e-5, 1),
               bonds = some(random, 0.02, 0.3), flat = log_uniform(random, 1e-2, 0.5),
               longest = log_uniform(random, 0.1, 2), chains = some(random, 0.1, 0.9),
               in_air = some(random, 0.01, 0.9), wind = log_uniform(random, 0.1, 100),
               grain = log_uniform(random, 0.02, 1), grains = uniform(random, 0.1, 1),
               burden = log_uniform(random, 0.1, 10), twist = heads(random) ? 0 : 0.5,
               size = log_uniform(random, 1e-4, 1e2);
  const std::size_t for_dust = std::size_t(dust * double(n));
  std::vector<Fibre> all;
  double lengths = 0;
  const auto lanes = std::size_t(std::ceil(double(fibres) / 2));
  for (std::size_t i = 0; i < fibres; ++i) {
    Fibre fibre;
    fibre.middle = {uniform(random, -0.5, 0.5), uniform(random, -0.5, 0.5),
                    thick * uniform(random, -0.5, 0.5)};
    fibre.angle = aligned > 0 ? aligned * normal(random) : any_angle(random);
    fibre.length = longest * uniform(random, 0.2, 1);
    if (is_woven) {
      const double aside = node(i / 2, lanes, true) / 2;
      fibre.middle = {i % 2 ? 0 : aside, i % 2 ? aside : 0, i % 2 ? thick / 2 : -thick / 2};
      fibre.angle = i % 2 ? 0 : pi / 2;
      fibre.length = 1;
    } else if (is_disc) {
      const Point d = turned({1, 0, 0}, fibre.angle);
      fibre.middle[2] = 0;
      const double t = dot(fibre.middle, d), aside = dot(fibre.middle, {-d[1], d[0], 0}),
                   high = thick * uniform(random, -0.5, 0.5);
      fibre.middle = along(fibre.middle, -t, d);
      fibre.middle[2] = high;
      fibre.length = 2 * std::sqrt(0.51 - aside * aside);
    }
    fibre.radius = thin * std::exp(spread * normal(random));
    const bool is_dead = i > 0 && uniform(random) < dead;
    fibre.strength = is_dead ? 0 : std::exp(uneven * normal(random));
    if (charging == rubbed) fibre.strength *= any_sign(random);
    fibre.phase = any_angle(random);
    all.push_back(fibre);
    lengths += fibre.length;
  }
  const double spacing = lengths * double(around_it) / double(n - for_dust);
  Bodies bodies;
  for (auto const& fibre : all) {
    const Point d = turned({1, 0, 0}, fibre.angle), side = {-d[1], d[0], 0};
    const auto rings = std::size_t(fibre.length / spacing + 1);
    const double pole = charging == by_field ? pi / 2 : fibre.phase,
                 order = charging == quadrupole ? 2 : 1;
    for (std::size_t ring = 0; ring < rings; ++ring) {
      const double t = node(ring, rings, true) * fibre.length / 2;
      Point p = along(fibre.middle, t, d);
      p = along(p, wave * std::sin(waves * t + fibre.phase), side);
      const bool is_bonded = bonds > 0 && std::hypot(std::remainder(p[0], bonds),
                                                     std::remainder(p[1], bonds)) < 0.15 * bonds;
      if (is_bonded) p[2] *= flat;
      const double left = std::exp(-fading * (0.5 - fibre.middle[2] / thick)),
                   sign = std::sin(2 * pi * t / patch + fibre.phase) > 0 ? 1 : -1;
      for (std::size_t k = 0; k < around_it && bodies.size() < n; ++k) {
        const double phi = 2 * pi * (double(k) + twist * double(ring)) / double(around_it),
                     out = fibre.radius * std::sin(phi);
        double q = std::cos(order * (phi - pole)) + rest;
        if (charging == patches) q = sign;
        if (charging == rubbed) q = 1;
        Point at = along(p, fibre.radius * std::cos(phi), side);
        at[2] += is_bonded ? flat * out : out;
        add(bodies, at, q * left * fibre.strength * fibre.radius / thin);
      }
    }
  }
  const std::size_t nodes = bodies.size();
  while (bodies.size() < n) {
    const double diameter = thin * grain * std::exp(grains * normal(random)),
                 q = std::round(burden * normal(random)) / burden;
    if (uniform(random) < in_air) {
      const Point p = {uniform(random, -0.5, 0.5), uniform(random, -0.5, 0.5),
                       thick * (0.5 + wind * exponential(random))};
      add(bodies, p, q * grain);
      continue;
    }
    const bool is_chained = bodies.size() > nodes && uniform(random) < chains;
    const std::size_t other = is_chained ? bodies.size() - 1 : random() % nodes;
    const Point foot = {bodies.positions[3 * other], bodies.positions[3 * other + 1],
                        bodies.positions[3 * other + 2]};
    Point out = on_sphere(random);
    out[2] = std::abs(out[2]);
    add(bodies, along(foot, diameter, out), q * grain);
  }
  return with_something(in_units(std::move(bodies), size, 1), size);
}

/// A field of wells that inject and produce, at five spots, in rows or anywhere, upright with
/// perforations or level with cracks across them that were made by pressure: what flows into each
/// grows without limit towards the ends; closed cracks of a power law of lengths, in sets of
/// directions, into which as much flows as out; wells that are shut; maybe images in the layers
/// above and below; in metres of a map: for who finds the pressures in rocks.
Bodies well_field(std::size_t n, Random& random) {
  enum Pattern { five_spots, rows, anywhere, producers, all_of_them };
  struct Source {
    Point middle, half_length, half_height;
    double rate, heading;
    bool is_closed;
  };
  constexpr double most_nodes = 200;
  const int pattern = int(random() % all_of_them);
  const bool is_even = heads(random), is_on_map = heads(random), are_level = heads(random),
             are_cracked = heads(random);
  const std::size_t images = n < 1000 ? 1 : std::array<std::size_t, 4>{1, 1, 2, 6}[random() % 4],
                    own = (n + images - 1) / images,
                    wells = some_of(random, std::min(double(own) / 20, 2e3)),
                    parts = some_of(random, std::min(double(own) / (5 * double(wells)),
                                                     are_level ? 60.0 : 10.0)),
                    columns = std::size_t(std::ceil(std::sqrt(double(wells)))),
                    sets = 1 + random() % 4;
  const double thick = log_uniform(random, 0.01, 1), length = log_uniform(random, 0.05, 3),
               jitter = some(random, 1e-3, 0.5), turn = any_angle(random),
               half = log_uniform(random, 0.005, 0.5), spread = some(random, 0.05, 1),
               uneven = some(random, 0.05, 2), best = some(random, 0.05, 2),
               shut = some(random, 0.01, 0.5), voidage = some(random, 1e-6, 0.5),
               for_wells = log_uniform(random, 0.02, 1), smallest = log_uniform(random, 1e-3, 0.05),
               slope = uniform(random, 1.8, 3.5), scatter = some(random, 0.01, 0.5),
               closed = log_uniform(random, 1e-3, 30), dip = some(random, 1e-3, 0.3),
               top = any_sign(random), bottom = any_sign(random),
               size = log_uniform(random, 100, 3000);
  std::vector<Source> sources;
  std::array<double, 2> flows = {};
  for (std::size_t well = 0; well < wells; ++well) {
    const std::size_t i = well % columns, j = well / columns;
    const double any = double(columns);
    const Point foot = pattern == anywhere
                           ? Point{any * uniform(random), any * uniform(random), -thick / 2}
                           : Point{double(i) + jitter * normal(random),
                                   double(j) + jitter * normal(random), -thick / 2};
    double sign = any_sign(random);
    if (pattern == five_spots) sign = (i + j) % 2 ? 1 : -1;
    if (pattern == rows) sign = j % 2 ? 1 : -1;
    if (pattern == producers) sign = -1;
    const bool is_shut = uniform(random) < shut;
    const double rate = is_shut ? 0 : sign * std::exp(uneven * normal(random)),
                 angle = turn + scatter * normal(random);
    const Point ahead = turned({1, 0, 0}, angle), across = {-ahead[1], ahead[0], 0};
    for (std::size_t part = 0; part < parts; ++part) {
      const double t = node(part, parts, true), own_rate = rate * std::exp(best * normal(random)),
                   wing = half * std::exp(spread * normal(random)), high = thick / 2;
      Source source = {foot, {}, {}, own_rate, 0, false};
      if (are_level && are_cracked) {
        source.middle = along(foot, t * length / 2, ahead);
        source.half_length = along({0, 0, 0}, wing, across);
        source.half_height = {0, 0, high * uniform(random, 0.3, 1)};
      } else if (are_level) {
        source.middle = along(foot, t * length / 2, ahead);
        source.half_length = along({0, 0, 0}, length / (2 * double(parts)), ahead);
      } else {
        source.middle[2] += t * high;
        source.half_length = {0, 0, uniform(random, 0.2, 0.95) * high / double(parts)};
      }
      sources.push_back(source);
      flows[own_rate > 0] += std::abs(own_rate);
    }
  }
  const double balance = flows[0] * flows[1] > 0 ? (1 + voidage) * flows[0] / flows[1] : 1;
  Bodies one;
  const auto drain = [&](Source const& source, std::size_t nodes) {
    const bool is_line = dot(source.half_height, source.half_height) == 0;
    const auto side = std::size_t(std::sqrt(2 * double(nodes))),
               longwise = is_line ? nodes : std::max(side, std::size_t(1)),
               upwards = is_line ? 1 : std::max(nodes / longwise, std::size_t(1));
    const double each = source.rate / double(longwise * upwards);
    for (std::size_t i = 0; i < longwise; ++i)
      for (std::size_t j = 0; j < upwards && one.size() < own; ++j) {
        const double s = node(i, longwise, is_even), t = node(j, upwards, is_even),
                     out = s * std::cos(source.heading) + t * std::sin(source.heading);
        const Point p = along(along(source.middle, s, source.half_length), t, source.half_height);
        add(one, p, source.is_closed ? each * out : each);
      }
  };
  const double nodes = for_wells * double(own) / double(sources.size());
  for (auto source : sources) {
    if (source.rate > 0) source.rate *= balance;
    drain(source, std::size_t(std::clamp(nodes, 1.0, most_nodes)));
  }
  while (one.size() < own) {
    const double wing = of_power_law(random, smallest, 0.5 * double(columns), slope),
                 set = double(random() % sets), angle = 2 * set + turn + scatter * normal(random),
                 high = std::min(wing, thick / 2) * uniform(random, 0.3, 1);
    const Point middle = {double(columns) * uniform(random), double(columns) * uniform(random),
                          -thick * uniform(random)},
                half_length = turned({wing, 0, 0}, angle), lean = turned({0, dip, 1}, angle);
    const double rate = closed * std::pow(wing, 1.5) * normal(random);
    const std::size_t nodes_of_it = 2 + some_of(random, most_nodes);
    drain({middle, half_length, along({0, 0, 0}, high, lean), rate, any_angle(random), true},
          nodes_of_it);
  }
  Bodies bodies;
  for (std::size_t image = 0; image < images; ++image) {
    const int shift = int(image / 2) - (image > 3 ? 3 : 0), hops = std::abs(shift);
    const bool is_mirrored = image % 2 == 1;
    const double both = hops % 2 ? top * bottom : 1, sign = is_mirrored ? both * top : both;
    for (std::size_t i = 0; i < own && bodies.size() < n; ++i) {
      const double x = one.positions[3 * i], y = one.positions[3 * i + 1],
                   z = one.positions[3 * i + 2],
                   layer = (is_mirrored ? -z : z) + 2 * thick * double(shift);
      bodies.add(x, y, layer + dip * x, sign * one.charges[i]);
    }
  }
  bodies = in_units(std::move(bodies), size, 1);
  if (is_on_map)
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      bodies.positions[3 * i] += 4.3e5;
      bodies.positions[3 * i + 1] += 5.8e6;
      bodies.positions[3 * i + 2] -= 2500;
    }
  return with_something(std::move(bodies), size);
}

/// What changes when molecules are excited: the product of two orbitals of an atom, a chain, a
/// ring or a ladder of atoms, the difference of their squares, or electrons with their nuclei, at
/// the points of a regular grid, with planes of nodes, where there is nothing, and decay over
/// many decades; only the largest of them may be kept, with six digits; in stacks, rings, or a
/// herringbone, or far from each other, with the signs of an exciton: for who couples dyes by
/// cubes of their transition densities.
Bodies transition_density(std::size_t n, Random& random) {
  enum Shape { chain, ring, ladder, any_shape };
  enum Density { product, difference, with_nuclei, any_density };
  enum Order { stack, circle, herringbone, far_away, any_order };
  struct Voxel {
    Point at;
    double q;
  };
  constexpr double bond = 2.6;  // in units of Bohr
  const int shape = int(random() % any_shape), density = int(random() % any_density),
            order = int(random() % any_order);
  const std::size_t atoms = some_of(random, 13),
                    copies = heads(random) ? 1 : some_of(random, std::min(double(n) / 200, 3e3)),
                    most = (n + copies - 1) / copies;
  const bool is_pi = heads(random), is_other_pi = atoms > 1 && heads(random) ? is_pi : !is_pi,
             has_digits = heads(random), is_neutral = heads(random), is_exciton = heads(random);
  const double steep = log_uniform(random, 0.5, 4), margin = log_uniform(random, 2, 12),
               over = log_uniform(random, 1, 1.5), skew = some(random, 0.01, 0.6),
               bent = some(random, 0.05, 1), near = some(random, 1e-3, 1),
               offset = density == with_nuclei ? 0.2 + 0.6 * near : near;  // no nucleus at a point
  std::vector<Point> sites;
  std::vector<std::array<double, 2>> weights;
  for (std::size_t a = 0; a < atoms; ++a) {
    const double count = double(atoms), i = double(a), odd = a % 2 ? 1 : -1;
    if (shape == ring) {
      const double phi = 2 * pi * i / count, k = std::max(std::floor(count / 4), 1.0),
                   radius = atoms > 1 ? bond / 2 / std::sin(pi / count) : 0;
      sites.push_back({radius * std::cos(phi), radius * std::sin(phi), 0});
      weights.push_back({std::cos(k * phi), std::cos((k + 1) * phi + pi / 4)});
    } else {
      const double rung = std::floor(i / 2), along_it = shape == ladder ? rung : i,
                   half = shape == ladder ? std::ceil(count / 2) : count, wave = pi / (half + 1),
                   k = std::max(std::floor(half / 2), 1.0), next = half > 1 ? k + 1 : k,
                   swap = shape == ladder ? odd : 1;
      sites.push_back({0.87 * bond * along_it, (shape == ladder ? bond : bond / 4) * odd,
                       bent * along_it * along_it / half});
      weights.push_back(
          {std::sin(k * wave * (along_it + 1)), swap * std::sin(next * wave * (along_it + 1))});
    }
  }
  if (atoms == 1) weights[0] = {1, 1};
  Point low = sites[0], high = sites[0];
  for (auto const& site : sites)
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], site[d] - margin);
      high[d] = std::max(high[d], site[d] + margin);
    }
  const Point box = along(high, -1, low);
  const double step = std::cbrt(box[0] * box[1] * box[2] / (over * double(most)));
  std::array<std::size_t, 3> sides;
  for (std::size_t d = 0; d < 3; ++d) sides[d] = std::size_t(box[d] / step + 1);
  sides[2] = std::max(sides[2], std::size_t(2));  // not in the plane of nodes alone
  std::vector<Voxel> voxels;
  voxels.reserve(sides[0] * sides[1] * sides[2]);
  double sum = 0, sizes = 0;
  for (std::size_t i = 0; i < sides[0]; ++i)
    for (std::size_t j = 0; j < sides[1]; ++j)
      for (std::size_t k = 0; k < sides[2]; ++k) {
        const double x = step * (double(i) - double(sides[0] - 1) / 2),
                     y = step * (double(j) - double(sides[1] - 1) / 2 + offset),
                     z = step * (double(k) - double(sides[2] - 1) / 2);
        const Point middle = along(along(low, 0.5, box), skew * z, {1, 0, 0}),
                    p = along(middle, 1, {x, y, z});
        std::array<double, 2> orbitals = {};
        for (std::size_t a = 0; a < atoms; ++a) {
          const Point r = along(p, -1, sites[a]);
          const double decay = std::exp(-steep * std::sqrt(dot(r, r)));
          orbitals[0] += weights[a][0] * (is_pi ? r[2] : 1) * decay;
          orbitals[1] += weights[a][1] * (is_other_pi ? r[2] : 1) * decay;
        }
        const auto [home, away] = orbitals;
        double q = home * away;
        if (density == difference) q = away * away - home * home;
        if (density == with_nuclei) q = -home * home;
        voxels.push_back({p, q});
        sum += q;
        sizes += std::abs(q);
      }
  const double excess = sum / std::max(sizes, 1e-300);
  const bool is_balanced = is_neutral && std::abs(excess) < 0.9;  // not of one sign
  std::vector<double> order_of_sizes;
  for (auto& voxel : voxels) {
    if (is_balanced) voxel.q -= excess * std::abs(voxel.q);
    if (has_digits && voxel.q != 0) {
      const double digit = std::pow(10, std::floor(std::log10(std::abs(voxel.q))) - 5);
      voxel.q = digit > 0 ? rounded(voxel.q, digit) : 0;
    }
    order_of_sizes.push_back(std::abs(voxel.q));
  }
  std::vector<Voxel> kept;
  if (density == with_nuclei && atoms < most)
    for (auto const& site : sites) kept.push_back({site, -sum / double(atoms)});
  const std::size_t grid = most - kept.size();
  const auto limit = order_of_sizes.begin() + std::ptrdiff_t(grid - 1);
  std::nth_element(order_of_sizes.begin(), limit, order_of_sizes.end(), std::greater<>());
  auto ties = grid - std::size_t(std::count_if(order_of_sizes.begin(), limit,
                                               [&](double q) { return q > *limit; }));
  for (auto const& voxel : voxels) {
    const double q = std::abs(voxel.q);
    if (q > *limit || (q == *limit && ties > 0)) {
      ties -= q == *limit;
      kept.push_back(voxel);
    }
  }
  const double wide = std::hypot(box[0], box[1]), apart = log_uniform(random, 3, 12),
               spacing = wide * log_uniform(random, 0.3, 2), slip = some(random, 0.1, 1) * wide,
               twist = some(random, 0.01, 1), tilt = heads(random) ? 0 : any_angle(random),
               room = spacing * std::cbrt(double(copies)) * log_uniform(random, 1, 300),
               mode = double(1 + random() % std::min(copies, std::size_t(5))),
               disorder = some(random, 1e-3, 0.5), length = heads(random) ? 1 : 5.29177210903e-11;
  const auto across = std::size_t(std::ceil(std::sqrt(double(copies))));
  Bodies bodies;
  for (std::size_t copy = 0; copy < copies; ++copy) {
    const double i = double(copy), column = double(copy % across), row = double(copy / across),
                 phi = 2 * pi * i / double(copies);
    Point place = {slip * i, 0, apart * i};
    double turn = twist * i, lean = tilt;
    if (order == circle) {
      const double radius = spacing * double(copies) / (2 * pi);
      place = {radius * std::cos(phi), radius * std::sin(phi), 0};
      turn = phi;
    } else if (order == herringbone) {
      place = {spacing * column, spacing * row, 0};
      turn = copy % 2 ? twist : -twist;
    } else if (order == far_away) {
      place = along({0, 0, 0}, room, in_cube(random));
      turn = any_angle(random);
      lean = any_angle(random);
    }
    const double coefficient = is_exciton ? std::sin(mode * pi * (i + 1) / double(copies + 1)) : 1,
                 strength = coefficient * (1 + disorder * normal(random));
    const std::size_t count = share_of(n, copy, copies);
    for (std::size_t k = 0; k < count; ++k) {
      const Point p = along(kept[k].at, -1, along(low, 0.5, box));
      add(bodies, along(place, 1, turned(tilted(p, lean), turn)), strength * kept[k].q);
    }
  }
  return with_something(in_units(std::move(bodies), length, 1), length);
}

/// The colours of a picture's pixels: from the black of shadows along a line to the colour of each
/// material and on to the white of its gloss, with noise, mixed at edges, cut off where it is too
/// bright, of few or many levels, grey or not, so that many pixels are of exactly one colour, or
/// are counted there; of red, green and blue, of light, of luma and chroma, in a cone of hues, or
/// as an eye sees them; some are transparent: for who clusters colours by their attraction.
Bodies colours(std::size_t n, Random& random) {
  enum Space { as_stored, of_light, luma_and_chroma, cone_of_hues, as_seen, all_of_them };
  struct Material {
    Point body;
    double dark, gloss;
  };
  struct Pixel {
    Point at;
    std::uint64_t key;
    double mass;
  };
  constexpr double finest = (1 << 21) - 1;
  const int space = int(random() % all_of_them);
  std::size_t alike = heads(random) ? 1 : some_of(random, 1e4);
  const double saturation = some(random, 0.01, 1), edges = some(random, 0.01, 0.5),
               exposure = log_uniform(random, 0.3, 1.2), gamma = heads(random) ? 1 : 1 / 2.2,
               contrast = log_uniform(random, 0.4, 3), grain = log_uniform(random, 1e-3, 0.05),
               tint = some(random, 0.01, 0.5), saliency = some(random, 0.1, 3),
               transparent = some(random, 0.01, 0.5), chroma_noise = some(random, 0.1, 1),
               zipf = uniform(random, 0.3, 1.5), size = heads(random) ? 255 : 1;
  const bool is_grey = saturation + tint + chroma_noise == 0;
  const double distinct = (is_grey ? 30 : 3000) * double(n) / double(alike),
               any_levels = std::array<double, 6>{5, 31, 63, 255, 1023, 65535}[random() % 6];
  const double levels = std::clamp(is_grey ? distinct : std::cbrt(distinct), any_levels, finest);
  const Point light = {1, 1 - tint, 1 - 2 * tint * tint};
  std::vector<Material> materials(some_of(random, 60));
  std::vector<double> shares;
  for (auto& material : materials) {
    const double grey = uniform(random, 0.05, 1);
    for (double& value : material.body)
      value = std::clamp(grey + saturation * uniform(random, -0.5, 0.5), 0.01, 1.0);
    material.dark = uniform(random, 0, 0.95);
    material.gloss = some(random, 0.01, 0.3);
    shares.push_back(std::pow(double(shares.size() + 1), -zipf));
  }
  std::discrete_distribution<std::size_t> any_material(shares.begin(), shares.end());
  const auto pixel = [&] {
    Material const& material = materials[any_material(random)];
    const double shade = material.dark + (1 - material.dark) * std::pow(uniform(random), contrast),
                 shine = uniform(random) < material.gloss ? std::pow(uniform(random), 4) : 0;
    return along(along({0, 0, 0}, shade, material.body), shine, light);
  };
  const auto seen = [&](Point const& p) {  // values from 0 to 1
    const auto [r, g, b] = p;
    if (space == as_stored) return p;
    if (space == luma_and_chroma) {
      const double y = 0.299 * r + 0.587 * g + 0.114 * b;
      return Point{y, 0.564 * (b - y), 0.713 * (r - y)};
    }
    if (space == cone_of_hues) {
      const double u = r - (g + b) / 2, v = std::sqrt(0.75) * (g - b), flat = std::hypot(u, v),
                   value = std::max({r, g, b}), chroma = value - std::min({r, g, b}),
                   scale = flat > 0 ? chroma / flat : 0;
      return Point{scale * u, scale * v, value};
    }
    const auto decoded = [](double v) {
      return v < 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    const Point linear = {decoded(r), decoded(g), decoded(b)};
    if (space == of_light) return linear;
    const auto bent = [](double t) {
      return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
    };
    const double x = bent(dot(linear, {0.4339, 0.3762, 0.1899})),
                 y = bent(dot(linear, {0.2126, 0.7152, 0.0722})),
                 z = bent(dot(linear, {0.0178, 0.1095, 0.8727}));
    return Point{1.16 * y - 0.16, 5 * (x - y), 2 * (y - z)};
  };
  const auto drawn = [&] {
    Point p = pixel();
    if (uniform(random) < edges) {
      const double t = uniform(random);
      p = along(along({0, 0, 0}, t, p), 1 - t, pixel());
    }
    const double common = grain * normal(random);
    std::uint64_t key = 0;
    for (double& value : p) {
      const double own = chroma_noise > 0 ? chroma_noise * grain * uniform(random, -1, 1) : 0,
                   bright = std::clamp(exposure * value + common + own, 0.0, 1.0),
                   level = std::round(std::pow(bright, gamma) * levels);
      value = level / levels;
      key = key << 21 | std::uint64_t(level);
    }
    const double alpha = uniform(random) < transparent ? 0 : 1,
                 mass = saliency > 0 ? alpha * std::exp(saliency * normal(random)) : alpha;
    return Pixel{seen(p), key, mass};
  };
  std::vector<Pixel> pixels;
  pixels.reserve(n + n / 8);
  for (std::size_t i = 0; i < n + n / 8; ++i) pixels.push_back(drawn());
  std::vector<std::pair<std::uint64_t, std::size_t>> by_colour;
  by_colour.reserve(pixels.size());
  for (auto const& each : pixels) by_colour.push_back({each.key, by_colour.size()});
  std::sort(by_colour.begin(), by_colour.end());
  std::vector<std::size_t> before;  // of the same colour
  for (std::size_t i = 0; i < by_colour.size(); ++i)
    before.push_back(i > 0 && by_colour[i].first == by_colour[i - 1].first ? before[i - 1] + 1 : 0);
  const auto has_enough = [&] {
    return std::count_if(before.begin(), before.end(), [&](std::size_t k) { return k < alike; }) >=
           std::ptrdiff_t(n);
  };
  while (!has_enough()) alike *= 2;
  std::vector<bool> is_counted(pixels.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] >= alike) {
      const std::size_t index = by_colour[i].second;
      is_counted[index] = true;
      pixels[by_colour[i - before[i]].second].mass += pixels[index].mass;
    }
  Bodies bodies;
  bodies.positions.reserve(3 * n);
  bodies.charges.reserve(n);
  for (std::size_t i = 0; bodies.size() < n; ++i)
    if (!is_counted[i]) add(bodies, pixels[i].at, pixels[i].mass);
  return with_something(in_units(std::move(bodies), size, 1), size);
}

/// Planets that collide: cores, mantles and thin oceans or gas, in shells of evenly spread
/// particles, of one mass or of one volume; apart, drawn out by the tide, flat where they touch,
/// or each the exact image of the other; a spiral arm with knots, a disc, fragments that are
/// small planets, what escapes with a power law of distances, and vapour of little mass: for who
/// computes how moons begin.
Bodies giant_impact(std::size_t n, Random& random) {
  const double core = uniform(random, 0.1, 0.9), denser = log_uniform(random, 1, 5),
               squeezed = uniform(random, 0, 0.6), ocean = some(random, 0.01, 0.2),
               lighter = log_uniform(random, 1e-4, 0.3), gamma = log_uniform(random, 0.003, 1),
               apart = log_uniform(random, 0.5, 20), aim = uniform(random, 0, 1.2),
               tide = some(random, 0.01, 3), crush = uniform(random, 0.02, 1),
               winding = log_uniform(random, 0.05, 1), turns = log_uniform(random, 0.3, 10),
               width = log_uniform(random, 0.003, 0.3), knots = some(random, 0.1, 0.9),
               knot = log_uniform(random, 1e-3, 0.1), outer = log_uniform(random, 2, 100),
               flat = log_uniform(random, 1e-3, 0.3), profile = uniform(random, 0.5, 4),
               far = log_uniform(random, 10, 1e4), slope = uniform(random, 1, 3),
               cone = log_uniform(random, 0.02, 3), steam = log_uniform(random, 1e-8, 1),
               haze = log_uniform(random, 0.1, 10), size = log_uniform(random, 1e-3, 1e7),
               mass = heads(random) ? 1 : 5.972e24;
  const bool is_of_mass = heads(random), is_golden = heads(random), are_twins = random() % 4 == 0,
             is_one_resolution = heads(random);
  const auto density = [&](double r) {
    const double compact = 1 - squeezed * r * r;
    if (r < core) return denser * compact;
    return r < 1 - ocean ? compact : lighter;
  };
  struct Particle {
    Point at;
    double mass;
  };
  /// A planet of radius 1 and of mass 1.
  const auto planet = [&](std::size_t count) {
    const auto shells = std::size_t(std::cbrt(double(count) * 3 / (4 * pi)) + 1);
    std::vector<double> shares, volumes;
    double all = 0, total = 0;
    for (std::size_t shell = 0; shell < shells; ++shell) {
      const double r = (double(shell) + 0.5) / double(shells);
      volumes.push_back(r * r * density(r));
      shares.push_back(is_of_mass ? volumes.back() : r * r);
      all += shares.back();
      total += volumes.back();
    }
    std::vector<Particle> particles;
    double sum = 0;
    for (std::size_t shell = 0; shell < shells; ++shell) {
      sum += shares[shell];
      const bool is_last = shell + 1 == shells;
      const auto until = is_last ? count : std::size_t(sum / all * double(count)),
                 own = until - std::min(until, particles.size());
      const double r = (double(shell) + 0.5) / double(shells), start = any_angle(random),
                   each = volumes[shell] / total / double(std::max(own, std::size_t(1)));
      for (std::size_t i = 0; i < own; ++i) {
        const double z = node(i, own, true), s = std::sqrt(1 - z * z),
                     phi = start + golden_angle * double(i);
        const Point even = {s * std::cos(phi), s * std::sin(phi), z},
                    out = is_golden ? even : on_sphere(random);
        particles.push_back({along({0, 0, 0}, r, out), is_of_mass ? 1 / double(count) : each});
      }
    }
    return particles;
  };
  std::array<double, 5> parts;  // the arm, the disc, the fragments, what escapes, the vapour
  double debris = 0;
  for (double& part : parts) debris += part = some(random, 1e-3, 0.3);
  const double scale = debris > 0.8 ? 0.8 / debris : 1, ratio = are_twins ? 1 : gamma,
               own = is_one_resolution ? ratio / (1 + ratio) : uniform(random, 0.05, 0.5),
               radius = std::cbrt(ratio), left = double(n) * (1 - scale * debris);
  const auto second = std::size_t((are_twins ? 0.5 : own) * left),
             first = std::max(std::size_t(left) - second, std::size_t(1));
  const double heaviness = (1 + ratio) / left;
  const Point away = {std::cos(aim), std::sin(aim), 0}, aside = {-away[1], away[0], 0};
  Bodies bodies;
  const auto place = [&](std::vector<Particle> const& particles, Point const& centre, double wide,
                         double heavy, double sign) {
    const double reach = std::sqrt(1 + tide);
    for (auto const& particle : particles) {
      double ahead = particle.at[0] * (1 + tide);
      const double contact = apart / (1 + radius);
      if (ahead > contact) ahead = contact + crush * (ahead - contact);
      const Point p = along(centre, sign * wide * ahead, away),
                  q = along(p, sign * wide * particle.at[1] / reach, aside);
      if (bodies.size() < n)
        add(bodies, along(q, sign * wide * particle.at[2] / reach, {0, 0, 1}),
            heavy * particle.mass);
    }
  };
  const auto target = planet(first);
  place(target, {0, 0, 0}, 1, 1, 1);
  const Point other = along({0, 0, 0}, apart, away);
  place(are_twins ? target : planet(second), other, radius, ratio, -1);
  const Point ejection = turned(away, uniform(random, -1, 1));
  const std::size_t fragments = some_of(random, std::min(double(n) / 100, 300.0)),
                    many_knots = some_of(random, 40);
  std::array<std::size_t, 4> counts;
  for (std::size_t k = 0; k < 4; ++k) counts[k] = std::size_t(scale * parts[k] * double(n));
  for (std::size_t i = 0; i < counts[0] && bodies.size() < n; ++i) {
    const bool is_in_knot = uniform(random) < knots;
    const double u = uniform(random), t = is_in_knot ? std::ceil(u * double(many_knots)) : 0,
                 theta = 2 * pi * turns * (is_in_knot ? t / double(many_knots) : u),
                 r = 1.2 * std::exp(winding * theta / (1 + winding * turns));
    const Point middle = along(other, r, turned(away, theta));
    add(bodies, around(random, middle, is_in_knot ? knot : width * r), heaviness);
  }
  for (std::size_t i = 0; i < counts[1] && bodies.size() < n; ++i) {
    const double r = of_power_law(random, 1.1, outer, profile), z = flat * r * normal(random);
    add(bodies, turned({r, 0, z}, any_angle(random)), heaviness);
  }
  for (std::size_t fragment = 0; fragment < fragments; ++fragment) {
    const std::size_t count = share_of(counts[2], fragment, fragments);
    const double wide = of_power_law(random, 0.003, 0.1, 3),
                 r = of_power_law(random, 2, outer, 1.5), phi = any_angle(random),
                 z = flat * r * normal(random);
    const Point centre = turned({r, 0, z}, phi);
    if (count > 0) place(planet(count), centre, wide, heaviness * double(count), 1);
  }
  for (std::size_t i = 0; i < counts[3] && bodies.size() < n; ++i) {
    const double r = of_power_law(random, 1, far, slope);
    add(bodies, along({0, 0, 0}, r, unit(around(random, ejection, cone))), heaviness);
  }
  while (bodies.size() < n) {
    const double r = 1 + haze * exponential(random);
    add(bodies, on_sphere(random, r), steam * heaviness);
  }
  return with_something(in_units(std::move(bodies), size, mass), size);
}

/// Snow that falls: stars with six equal arms and their side arms, plates, columns and needles of
/// cells of ice on a lattice, and flakes of several of them that touch; level, swinging or
/// tumbling, all alike or not, far from each other; the vapour that each cell takes up, most of
/// it at the tips; frozen droplets on them, flakes that are melted to one drop, and fog: for who
/// finds by the analogy of a charged conductor how crystals grow.
Bodies snowfall(std::size_t n, Random& random) {
  enum Habit { star, plate, rod, needle, any_habit };
  struct Cell {
    Point at;
    double q;
  };
  const std::size_t flakes = some_of(random, std::min(double(n) / 20, 2e4)),
                    moulds = some_of(random, std::min(double(flakes), 20.0)),
                    together = heads(random) ? 1 : some_of(random, 30);
  const bool is_one_habit = heads(random), are_arms_equal = random() % 4 > 0,
             is_tumbling = heads(random);
  const int habit = int(random() % any_habit);
  const double tips = some(random, 0.1, 4), thick = log_uniform(random, 0.3, 3),
               branching = log_uniform(random, 0.2, 2), ragged = some(random, 0.05, 1),
               swing = some(random, 0.01, 1), rime = some(random, 0.01, 0.5),
               drop = log_uniform(random, 0.1, 30), melted = some(random, 0.01, 0.5),
               fog = some(random, 0.01, 0.5), lightest = log_uniform(random, 1e-4, 1),
               room = log_uniform(random, 1, 3e3), tall = log_uniform(random, 0.1, 30),
               streaks = some(random, 0.02, 0.5), length = log_uniform(random, 1e-6, 1);
  const std::size_t layers = 1 + random() % 3, gap = 2 + random() % 8,
                    many_streaks = some_of(random, 20);
  /// A crystal of about so many cells, whose bonds have a length of 1.
  const auto crystal = [&](double cells) {
    const int own = is_one_habit ? habit : int(random() % any_habit);
    std::vector<Cell> made;
    const auto put = [&](double x, double y, double level, double reach) {
      const double r = std::hypot(x, y) / reach, q = tips > 0 ? std::pow(r, tips) + 0.01 : 1;
      made.push_back({{x, y, thick * level}, q});
    };
    const double step = double(gap), ice = std::max(cells / double(layers), 1.0);
    if (own == star) {
      const double fit = std::min(ice / 6, std::sqrt(ice * step / (3 * branching)));
      const auto reach = std::size_t(fit + 1);
      std::vector<double> lengths(reach + 1);
      for (int arm = 0; arm < 6; ++arm) {
        if (arm == 0 || !are_arms_equal)
          for (std::size_t s = gap; s <= reach; s += gap) {
            const double longest = std::min(0.95 * double(s), branching * double(reach - s));
            lengths[s] = longest * (1 - std::min(ragged, 1.0) * uniform(random));
          }
        for (std::size_t layer = 0; layer < layers; ++layer)
          for (std::size_t s = 1; s <= reach; ++s) {
            const Point p = turned({double(s), 0, double(layer)}, pi / 3 * arm);
            put(p[0], p[1], p[2], double(reach));
            for (int way = -1; way <= 1; way += 2)
              for (std::size_t t = 1; double(t) <= lengths[s]; ++t) {
                const Point side = turned({double(t), 0, 0}, pi / 3 * (arm + way));
                put(p[0] + side[0], p[1] + side[1], p[2], double(reach));
              }
          }
      }
      for (std::size_t layer = 0; layer < layers; ++layer) put(0, 0, double(layer), 1);
      return made;
    }
    const double slim = own == rod ? log_uniform(random, 1, 10) : 1,
                 wide = own == plate ? std::sqrt(ice / 3) : std::cbrt(ice / (6 * slim));
    const int reach = own == needle ? 0 : int(wide);
    const double per_layer = 3.0 * reach * (reach + 1) + 1;
    const auto levels = own == plate ? layers : std::size_t(cells / per_layer + 1);
    for (std::size_t level = 0; level < levels; ++level)
      for (int i = -reach; i <= reach; ++i)
        for (int j = std::max(-reach, -reach - i); j <= std::min(reach, reach - i); ++j)
          put(i + j / 2.0, j * std::sqrt(0.75), double(level), std::max(reach, 1));
    return made;
  };
  const double mean = double(n) / double(flakes) / double(together);
  std::vector<std::vector<Cell>> shapes;
  for (std::size_t mould = 0; mould < moulds; ++mould)
    shapes.push_back(crystal(std::min(mean * exponential(random), double(n))));
  const double flake_size = 2 * std::sqrt(mean) + 1,
               box = flake_size * room * std::cbrt(double(flakes));
  const auto anywhere = [&] {
    return Point{box * uniform(random), box * uniform(random), box * tall * uniform(random)};
  };
  std::vector<Point> tracks(many_streaks);
  for (auto& track : tracks) track = anywhere();
  Bodies bodies;
  std::vector<Cell> flake;
  while (bodies.size() < n) {
    Point centre = anywhere();
    if (streaks > 0) {
      Point const& track = tracks[random() % many_streaks];
      for (std::size_t d = 0; d < 2; ++d) centre[d] = track[d] + streaks * box * normal(random);
      centre[0] += 0.3 * centre[2];
    }
    flake.clear();
    const std::size_t crystals = 1 + random() % together;
    double sum = 0;
    for (std::size_t k = 0; k < crystals; ++k) {
      auto const& shape = shapes[random() % moulds];
      const double spin = any_angle(random),
                   lean = is_tumbling || k > 0 ? std::acos(uniform(random, -1, 1))
                                               : swing * normal(random),
                   heading = any_angle(random);
      const auto placed = [&](Point const& p) {
        return turned(tilted(turned(p, spin), lean), heading);
      };
      Point shift = {};
      if (k > 0) {
        const Point gap_between = on_sphere(random),
                    touching = along(flake[random() % flake.size()].at, 1, gap_between);
        shift = along(touching, -1, placed(shape[random() % shape.size()].at));
      }
      for (auto const& cell : shape) {
        flake.push_back({along(shift, 1, placed(cell.at)), cell.q});
        sum += cell.q;
      }
    }
    if (uniform(random) < melted) flake = {{{0, 0, 0}, sum}};
    for (auto const& cell : flake) {
      if (bodies.size() < n) add(bodies, along(centre, 1, cell.at), cell.q);
      if (bodies.size() < n && uniform(random) < rime)
        add(bodies, along(centre, 1, along(cell.at, 0.5, on_sphere(random))), drop);
      if (bodies.size() < n && uniform(random) < fog) add(bodies, anywhere(), lightest);
    }
  }
  return with_something(in_units(std::move(bodies), length, 1), length);
}

}  // namespace

/// Kinds of fields that a caller brought; a kind keeps its place.
std::vector<Kind> const& of_callers() {
  static const std::vector<Kind> kinds = {
      {"two_samples", two_samples, true, false},
      {"electret_filter", electret_filter, true, false},
      {"well_field", well_field, true, false},
      {"transition_density", transition_density, true, false},
      {"colours", colours, false, false},
      {"giant_impact", giant_impact, false, false},
      {"snowfall", snowfall, false, false},
  };
  return kinds;
}

}  // namespace kinds
