// SPDX-License-Identifier: BSD-3-Clause
// P2P of a problem whose targets are not among its sources, and the contracts of P2P's problems, of operators
// on tiles and of operators that gather into cells: what satisfies them, and what does not.
#include <set>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::kernels;

/// The smallest problem: points that feel bodies, both in one unit from one origin.
template <class Space, class Precision, P2PShape Shape, bool LongSums>
struct BodiesAtPoints {
  using precision = Precision;
  using kernel = Laplace;
  using strengths = Charges<>;
  using outputs = Outputs<true, true>;
  using Real = real_t<Precision>;
  using Sum = sum_t<Precision>;
  using AnyChunk = Chunk<Lanes<Space, Real>, Shape.chunk, two_part_v<Precision>>;
  static constexpr P2PShape shape = Shape;
  static constexpr bool long_sums = LongSums;
  static constexpr int runs = 0, close_room = 0;
  struct Frame {
    int first, count;
    Laplace pair;
    Real potential_unit, field_unit;
  };
  using Cursor = int;  // the next body

  Array<Body<double>, Space> points, bodies;  // no charge at the points
  Array<Sums<Sum>, Space> sums;

  KOKKOS_FUNCTION static Place<Real, two_part_v<Precision>> place_of(Body<double> const& b) {
    if constexpr (two_part_v<Precision>) {
      const TwoFloats x = in_two_parts(b.x), y = in_two_parts(b.y), z = in_two_parts(b.z);
      return {{x.high, y.high, z.high}, {x.low, y.low, z.low}};
    } else {
      return {{Real(b.x), Real(b.y), Real(b.z)}};
    }
  }
  KOKKOS_FUNCTION Frame frame(int tile) const {
    const int first = tile * shape.tile, left = int(points.extent(0)) - first;
    return {first, left < shape.tile ? left : shape.tile, {}, Real(1), Real(1)};
  }
  KOKKOS_FUNCTION void target(Frame const& f, int i,
                              Place<Real, two_part_v<Precision>>& place) const {
    place = place_of(points(f.first + i));
  }
  KOKKOS_FUNCTION Cursor begin(Frame const&) const { return 0; }
  KOKKOS_FUNCTION int load(TeamMember<Space> const& team, Frame const&, Cursor& next,
                           WalkMemory<Real> const&, AnyChunk chunk) const {
    const int left = int(bodies.extent(0)) - next,
              take = left < AnyChunk::capacity ? left : AnyChunk::capacity;
    for (int j = team.team_rank(); j < take; j += team.team_size()) {
      const Body<double> b = bodies(next + j);
      const auto at = place_of(b);
      chunk.high.store(j, at.x[0], at.x[1], at.x[2], Real(b.q));
      if constexpr (two_part_v<Precision>)
        chunk.low.store(j, at.low[0], at.low[1], at.low[2], Real(0));
    }
    next += take;
    return take;
  }
  KOKKOS_FUNCTION int own_count(Frame const&) const { return 0; }
  KOKKOS_FUNCTION int own_index(Frame const&, int) const { return -1; }
  KOKKOS_FUNCTION int load_own(TeamMember<Space> const&, Frame const&, WalkMemory<Real> const&, int,
                               int, AnyChunk) const {
    return 0;
  }
  KOKKOS_FUNCTION void store(Frame const& f, int i, int, Sums<Sum> const& value) const {
    sums(f.first + i) = value;
  }
};

/// Bodies in memory of `Space`.
template <class Space>
struct PlacedBodies {
  ViewIn<Body<double>*, Space> view;

  explicit PlacedBodies(std::vector<Body<double>> const& bodies) : view("bodies", bodies.size()) {
    Kokkos::deep_copy(
        view, Kokkos::View<Body<double> const*, Kokkos::HostSpace,
                           Kokkos::MemoryTraits<Kokkos::Unmanaged>>(bodies.data(), bodies.size()));
  }
  Array<Body<double>, Space> array() const {
    return Array<Body<double>, Space>(view.data(), view.extent(0));
  }
};

/// Bodies of a cube that hold every precision's coordinates, of both signs.
std::vector<Body<double>> random_bodies(int n, unsigned seed) {
  const Bodies b = make_bodies(Model::cube, n, true, seed);
  std::vector<Body<double>> bodies(n);
  for (int i = 0; i < n; ++i)
    bodies[i] = {float(b.x[3 * i]), float(b.x[3 * i + 1]), float(b.x[3 * i + 2]), b.q[i] * n};
  return bodies;
}

/// Potential and field at the points by a double loop; a body at a point itself adds nothing.
std::vector<double> sums_by_loop(std::vector<Body<double>> const& points,
                                 std::vector<Body<double>> const& bodies) {
  std::vector<double> sums(4 * points.size(), 0.0);
  for (std::size_t i = 0; i < points.size(); ++i)
    for (Body<double> const& b : bodies) {
      const double d[3] = {points[i].x - b.x, points[i].y - b.y, points[i].z - b.z};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (r == 0) continue;
      sums[4 * i] += b.q / r;
      for (int k = 0; k < 3; ++k) sums[4 * i + 1 + k] += b.q * d[k] / (r * r * r);
    }
  return sums;
}

template <class T>
class P2PProblems : public testing::Test {
 public:
  using KokkosSpace = typename T::Space;
  using Space = fmm::site_t<KokkosSpace>;
  using Real = typename T::Real;
};
TYPED_TEST_SUITE(P2PProblems, Cases);

/// Sums of all points over all bodies, in tiles of one shape.
template <class Space, class Precision, P2PShape Shape, bool LongSums>
std::vector<double> sums_at_points(Space const& space, std::vector<Body<double>> const& points,
                                   std::vector<Body<double>> const& bodies) {
  const PlacedBodies<Space> at(points), from(bodies);
  const ViewIn<Sums<sum_t<Precision>>*, Space> sums("sums", points.size());
  const Array<Sums<sum_t<Precision>>, Space> results(sums.data(), points.size());
  launch_p2p(space, std::int64_t(points.size() + Shape.tile - 1) / Shape.tile,
             BodiesAtPoints<Space, Precision, Shape, LongSums>{at.array(), from.array(), results});
  space.fence();
  return numbers_of(results);
}

/// f.operator()<shape>() for all shapes that Tuning has for P2P.
template <class Space, class Real, class F>
void for_shapes(F const& f) {
  using Shapes = Tuning<Space, Real>;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f.template operator()<Shapes::near_field[I]>(), ...);
  }
  (std::make_index_sequence<Shapes::near_field.size()>());
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f.template operator()<Shapes::all_pairs[I]>(), ...);
  }
  (std::make_index_sequence<Shapes::all_pairs.size()>());
}

/// Targets that are other bodies than the sources: a problem without own sources. Numbers around the edges of tiles and
/// chunks; some points lie where a body is.
TYPED_TEST(P2PProblems, TargetsNeedNotBeAmongTheSources) {
  using Space = typename TestFixture::Space;
  using Real = typename TestFixture::Real;
  const double rounding = sizeof(Real) == 4 ? 1e-5 : 1e-13;
  const auto check = [&]<class Precision, P2PShape Shape>(int n, int m) {
    auto points = random_bodies(n, 7);
    const auto bodies = random_bodies(m, 11);
    for (int i = 0; i < std::min(n, m); i += 5) points[i] = bodies[m - 1 - i];
    const auto expected = sums_by_loop(points, bodies);
    const auto compare = [&](std::vector<double> const& sums) {
      ASSERT_EQ(sums.size(), expected.size());
      if (m == 0 || (n == 1 && m == 1))
        EXPECT_EQ(sums, expected) << n << " " << m;
      else
        EXPECT_LE(relative_l2(sums, expected), rounding) << n << " " << m;
    };
    compare(sums_at_points<Space, Precision, Shape, false>(
        site<typename TestFixture::KokkosSpace>(), points, bodies));
    compare(sums_at_points<Space, Precision, Shape, true>(site<typename TestFixture::KokkosSpace>(),
                                                          points, bodies));
  };
  for_shapes<Space, Real>([&]<P2PShape Shape> {
    const std::set<int> targets = {1, Shape.tile - 1, Shape.tile, 2 * Shape.tile + 5};
    for (const int n : targets)
      for (const int m : {0, 1, 3, Shape.chunk - 1, Shape.chunk, 2 * Shape.chunk + 37})
        check.template operator()<Real, Shape>(n, m);
    if constexpr (sizeof(Real) == 4)
      check.template operator()<Mixed, near_field_shape<Mixed>(Shape)>(Shape.tile + 5,
                                                                       Shape.chunk + 37);
  });
}

// ---- the contracts ----------------------------------------------------------------------------------

using Space = fmm::site_t<Kokkos::DefaultExecutionSpace>;
constexpr P2PShape shape = Tuning<Space, double>::near_field[0];
using Out = Outputs<true, true>;
using Good = BodiesAtPoints<Space, double, shape, false>;

static_assert(P2PProblem<Good, Space>);
static_assert(P2PProblem<ListedSources<Space, Laplace, double, shape, Out>, Space>);
constexpr P2PShape mixed_shape = near_field_shape<Mixed>(Tuning<Space, float>::near_field[0]);
static_assert(P2PProblem<ListedSources<Space, Laplace, Mixed, mixed_shape, Out>, Space>);
static_assert(P2PProblem<AllSources<Space, Laplace, Mixed, shape, Out>, Space>);
static_assert(P2PProblem<AllSources<Space, SplineGravity, double, shape, Out, false>, Space>);

struct WithoutOwnIndex : Good {
  void own_index() const = delete;
};
struct WithoutStage : Good {
  void load() const = delete;
};
struct WithStageThatReturnsNothing : Good {
  template <class... Any>
  void load(Any const&...) const {}
};
struct WithAnotherKernel : Good {
  using kernel = SoftenedGravity;
};
struct WithoutShape : Good {
  void shape() const;
};
struct WithFrameWithoutUnits : Good {
  struct Frame {
    int count;
    Laplace pair;
  };
  Frame frame(int) const;
};
static_assert(!P2PProblem<int, Space>);
static_assert(!P2PProblem<WithoutOwnIndex, Space>);
static_assert(!P2PProblem<WithoutStage, Space>);
static_assert(!P2PProblem<WithStageThatReturnsNothing, Space>);
static_assert(!P2PProblem<WithAnotherKernel, Space>);
static_assert(!P2PProblem<WithoutShape, Space>);
static_assert(!P2PProblem<WithFrameWithoutUnits, Space>);

using Expansion = SphericalExpansion<4, double, Rotation>;
struct WithoutTeamSize : P2P<Space, Good> {
  void team_size() const;
};
struct WithoutCall {
  static constexpr int team_size = 1, resident = 0, scratch_level = 0;
  static constexpr std::size_t scratch_bytes = 0;
};
static_assert(TileAction<P2P<Space, Good>, Space>);
static_assert(TileAction<L2P<Space, basis_t<Expansion>, double, Out, double>, Space>);
static_assert(TileAction<M2P<Space, basis_t<Expansion>, double, Out, double>, Space>);
static_assert(!TileAction<WithoutTeamSize, Space>);
static_assert(!TileAction<WithoutCall, Space>);

using Sources = M2L<Space, Expansion, double>;
struct WithItemsOfInt : Sources {
  int items(int) const;
};
struct WithoutAdd : Sources {
  void add() const = delete;
};
struct WithoutRoute : Sources {
  void route() const = delete;
};
/// The library's expansion has no members, and takes no room in a functor.
static_assert(std::is_empty_v<WithExpansion<Expansion>>);
static_assert(GatherOperator<P2M<Space, basis_t<Expansion>, double>, Space>);
static_assert(GatherOperator<M2M<Space, Expansion, double>, Space>);
static_assert(GatherOperator<Sources, Space>);
static_assert(TranslationOperator<M2M<Space, Expansion, double>>);
static_assert(TranslationOperator<Sources>);
static_assert(!TranslationOperator<P2M<Space, basis_t<Expansion>, double>>);
static_assert(!GatherOperator<WithItemsOfInt, Space> && !TranslationOperator<WithItemsOfInt>);
static_assert(!GatherOperator<WithoutAdd, Space> && TranslationOperator<WithoutAdd>);
static_assert(GatherOperator<WithoutRoute, Space> && !TranslationOperator<WithoutRoute>);

}  // namespace
}  // namespace fmm_test
