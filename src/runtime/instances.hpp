// SPDX-License-Identifier: BSD-3-Clause
// Which of the library's templates fmm::runtime has instances of. Each macro declares (prefix = extern) or defines
// (prefix empty) instances for one space: the library's sources define them, and compiled_instances.hpp declares them
// to the programs, benchmarks and tests of this repository, which do not compile them again.
#pragma once

#include <fmm/fmm.hpp>

#include "backends.hpp"
#include "kinds.hpp"

// instance(.., has_potential, has_field) for each choice of results.
#define FMM_FOR_EACH_OUTPUTS(instance, ...)                             \
  instance(__VA_ARGS__, true, false) instance(__VA_ARGS__, false, true) \
      instance(__VA_ARGS__, true, true)

// The operators of an order, and the far field of an FMM, of one whose lists have M2L alone, and of a treecode.
#define FMM_INSTANCES_OF_OPERATORS(prefix, Space, Real, order)                                     \
  prefix template void fmm::kernels::p2m<fmm::SphericalBasis<order, Real>>(                        \
      Space const&, fmm::Array<fmm::Cell, Space>, fmm::Array<fmm::CellIndex, Space>,               \
      fmm::kernels::SourceStrengths<Space, Real, fmm::kernels::Charges<>> const&,                  \
      fmm::Array<Real, Space>, int, fmm::SphericalBasis<order, Real> const&);                      \
  prefix template void fmm::kernels::p2l<fmm::SphericalBasis<order, Real>>(                        \
      Space const&, fmm::Array<fmm::Cell, Space> const&, fmm::Csr<Space>,                          \
      fmm::kernels::SourceStrengths<Space, Real, fmm::kernels::Charges<>> const&,                  \
      fmm::Array<Real, Space>, int, fmm::SphericalBasis<order, Real> const&);                      \
  prefix template void fmm::kernels::m2m<fmm::SphericalExpansion<order, Real, fmm::Rotation>>(     \
      Space const&, fmm::Array<fmm::Cell, Space>, fmm::Array<fmm::CellIndex, Space>,               \
      fmm::Array<Real, Space>, fmm::SphericalExpansion<order, Real, fmm::Rotation> const&);        \
  prefix template void fmm::kernels::m2l<fmm::SphericalExpansion<order, Real, fmm::Rotation>>(     \
      Space const&, fmm::Array<fmm::Cell, Space> const&, fmm::Csr<Space>, fmm::Array<Real, Space>, \
      fmm::Array<Real, Space>, fmm::SphericalExpansion<order, Real, fmm::Rotation> const&);        \
  prefix template void fmm::kernels::l2l<fmm::SphericalExpansion<order, Real, fmm::Rotation>>(     \
      Space const&, fmm::Array<fmm::Cell, Space>, fmm::CellIndex, fmm::CellIndex,                  \
      fmm::Array<Real, Space>, fmm::Array<fmm::BodyIndex, Space>,                                  \
      fmm::SphericalExpansion<order, Real, fmm::Rotation> const&);
#define FMM_INSTANCE_OF_L2P(prefix, Space, Precision, order, ...)                            \
  prefix template void fmm::kernels::l2p<fmm::SphericalBasis<order, fmm::real_t<Precision>>, \
                                         fmm::kernels::Outputs<__VA_ARGS__>>(                \
      Space const&, fmm::Array<fmm::Cell, Space>, fmm::Array<fmm::Tile, Space>,              \
      fmm::Array<fmm::Body<fmm::real_t<Precision>>, Space>,                                  \
      fmm::Array<fmm::real_t<Precision>, Space>,                                             \
      fmm::Array<fmm::Sums<fmm::sum_t<Precision>>, Space>, int,                              \
      fmm::SphericalBasis<order, fmm::real_t<Precision>> const&);
#define FMM_INSTANCES_AT_BODIES(prefix, Space, Precision, order, ...)                            \
  prefix template void fmm::kernels::m2p<fmm::SphericalBasis<order, fmm::real_t<Precision>>,     \
                                         fmm::kernels::Outputs<__VA_ARGS__>>(                    \
      Space const&, fmm::Array<fmm::Cell, Space> const&, fmm::Array<fmm::Tile, Space>,           \
      fmm::Csr<Space>, fmm::Csr<Space>, fmm::Array<fmm::Body<fmm::real_t<Precision>>, Space>,    \
      fmm::kernels::PreparedMultipoles<Space, fmm::real_t<Precision>>,                           \
      fmm::Array<fmm::Sums<fmm::sum_t<Precision>>, Space>,                                       \
      fmm::kernels::SplitRows<Space, fmm::sum_t<Precision>>,                                     \
      fmm::SphericalBasis<order, fmm::real_t<Precision>> const&);                                \
  prefix template class fmm::engine::FarFieldOf<                                                 \
      fmm::SphericalExpansion<order, fmm::real_t<Precision>, fmm::Rotation>,                     \
      fmm::engine::M2LBy<fmm::Rotation>, Space, Precision, fmm::kernels::Outputs<__VA_ARGS__>>;  \
  prefix template class fmm::engine::FarFieldOf<                                                 \
      fmm::SphericalExpansion<order, fmm::real_t<Precision>, fmm::Rotation>,                     \
      fmm::engine::OnlyM2L<fmm::engine::M2LBy<fmm::Rotation>>, Space, Precision,                 \
      fmm::kernels::Outputs<__VA_ARGS__>>;                                                       \
  prefix template class fmm::engine::FarFieldOf<                                                 \
      fmm::SphericalExpansion<order, fmm::real_t<Precision>, fmm::Rotation>, fmm::engine::NoM2L, \
      Space, Precision, fmm::kernels::Outputs<__VA_ARGS__>>;
// On a host fields alone have the L2P of both results (engine/far_field_of.hpp); that of a GPU is not shared.
#define FMM_INSTANCES_OF_OUTPUTS(prefix, Space, Precision, order)   \
  FMM_INSTANCE_OF_L2P(prefix, Space, Precision, order, true, false) \
  FMM_INSTANCE_OF_L2P(prefix, Space, Precision, order, true, true)  \
  FMM_FOR_EACH_OUTPUTS(FMM_INSTANCES_AT_BODIES, prefix, Space, Precision, order)
#define FMM_INSTANCES_OF_ORDER_IN_FLOAT(prefix, Space, order) \
  FMM_INSTANCES_OF_OPERATORS(prefix, Space, float, order)     \
  FMM_INSTANCES_OF_OUTPUTS(prefix, Space, float, order)       \
  FMM_INSTANCES_OF_OUTPUTS(prefix, Space, fmm::Mixed, order)
#define FMM_INSTANCES_OF_ORDER_IN_DOUBLE(prefix, Space, order) \
  FMM_INSTANCES_OF_OPERATORS(prefix, Space, double, order)     \
  FMM_INSTANCES_OF_OUTPUTS(prefix, Space, double, order)

// Sums over pairs of a kernel: the near field, all pairs and chosen targets.
#define FMM_INSTANCE_OF_P2P(prefix, Space, Precision, Kernel, ...)                        \
  prefix template void fmm::kernels::p2p<fmm::kernels::Outputs<__VA_ARGS__>, Precision>(  \
      Space const&, Kernel const&, fmm::Array<fmm::Cell, Space>, fmm::TargetTiles<Space>, \
      fmm::Csr<Space>, fmm::Array<fmm::Body<fmm::real_t<Precision>>, Space>,              \
      fmm::Array<fmm::Body<fmm::real_t<Precision>>, Space>,                               \
      fmm::Array<fmm::Sums<fmm::sum_t<Precision>>, Space>,                                \
      fmm::kernels::SplitRows<Space, fmm::sum_t<Precision>>, fmm::kernels::MixedSums,     \
      fmm::Array<fmm::real_t<Precision>, Space>, fmm::Array<int, Space>);
#define FMM_INSTANCE_OF_P2P_ALL(prefix, Space, Precision, Kernel, ...)                        \
  prefix template void fmm::kernels::p2p_all<fmm::kernels::Outputs<__VA_ARGS__>, Precision>(  \
      Space const&, Kernel const&, double, fmm::Array<fmm::Body<double>, Space> const&,       \
      fmm::Array<fmm::Tile, Space>, int, fmm::Array<fmm::Sums<fmm::sum_t<Precision>>, Space>, \
      fmm::Array<double, Space>);
// The same of any strengths, in one set of bodies and in two.
#define FMM_INSTANCE_OF_P2P_KIND(prefix, Space, Precision, Kernel, Kind)                \
  prefix template void                                                                  \
  fmm::kernels::p2p<fmm::runtime::Kind::Out, Precision, fmm::runtime::Kind::Strengths>( \
      Space const&, Kernel const&, fmm::CellsOfSets<Space, fmm::runtime::Kind::Shift>,  \
      fmm::TargetTiles<Space>, fmm::Csr<Space>,                                         \
      fmm::OfSets<fmm::Array<fmm::Body<fmm::real_t<Precision>>, Space>,                 \
                  fmm::runtime::Kind::Shift>,                                           \
      fmm::OfSets<fmm::Array<fmm::Body<fmm::real_t<Precision>>, Space>,                 \
                  fmm::runtime::Kind::Shift>,                                           \
      fmm::Array<fmm::Sums<fmm::sum_t<Precision>>, Space>,                              \
      fmm::kernels::SplitRows<Space, fmm::sum_t<Precision>>, fmm::kernels::MixedSums,   \
      fmm::Array<fmm::real_t<Precision>, Space>, fmm::Array<int, Space>);
#define FMM_INSTANCE_OF_P2P_ALL_KIND(prefix, Space, Precision, Kernel, Kind)                  \
  prefix template void                                                                        \
  fmm::kernels::p2p_all<fmm::runtime::Kind::Out, Precision, fmm::runtime::Kind::Strengths>(   \
      Space const&, Kernel const&, double,                                                    \
      fmm::OfSets<fmm::Array<fmm::Body<double>, Space>, fmm::runtime::Kind::Shift> const&,    \
      fmm::Array<fmm::Tile, Space>, int, fmm::Array<fmm::Sums<fmm::sum_t<Precision>>, Space>, \
      fmm::Array<double, Space>);
#define FMM_INSTANCE_OF_P2P_CHOSEN(prefix, Space, Kernel, ...)                       \
  prefix template void fmm::kernels::p2p_chosen<fmm::kernels::Outputs<__VA_ARGS__>>( \
      Space const&, Kernel const&, double, fmm::Array<fmm::Body<double>, Space>,     \
      fmm::Array<fmm::BodyIndex, Space>, fmm::Array<fmm::Sums<double>, Space>);
#define FMM_INSTANCE_OF_P2P_MAGNITUDES(prefix, Space, Kernel)                         \
  prefix template std::vector<fmm::kernels::Magnitudes> fmm::kernels::p2p_magnitudes( \
      Space const&, Kernel const&, double, fmm::Array<fmm::Body<double>, Space>,      \
      fmm::Array<fmm::BodyIndex, Space>);
#define FMM_INSTANCE_OF_EWALD(prefix, Space, Sum, Kernel)                            \
  prefix template void fmm::engine::add_ewald_sums(                                  \
      Space const&, fmm::periodic::Lattice const&, fmm::periodic::EwaldSplit const&, \
      Kernel const&, double, double, fmm::kernels::DensityStrengths<Space> const&,   \
      fmm::kernels::DensityTargets<Space, Sum> const&);
#define FMM_INSTANCES_OF_KERNEL_IN_FLOAT(prefix, Space, Kernel)                           \
  FMM_INSTANCE_OF_EWALD(prefix, Space, float, Kernel)                                     \
  FMM_FOR_EACH_OUTPUTS(FMM_INSTANCE_OF_P2P, prefix, Space, float, Kernel)                 \
  FMM_FOR_EACH_OUTPUTS(FMM_INSTANCE_OF_P2P, prefix, Space, fmm::Mixed, Kernel)            \
  FMM_FOR_EACH_OUTPUTS(FMM_INSTANCE_OF_P2P, prefix, Space, fmm::MixedInOnePart, Kernel)   \
  FMM_FOR_EACH_OUTPUTS(FMM_INSTANCE_OF_P2P_ALL, prefix, Space, float, Kernel)             \
  FMM_FOR_EACH_OUTPUTS(FMM_INSTANCE_OF_P2P_ALL, prefix, Space, fmm::Mixed, Kernel)        \
  FMM_FOR_EACH_KIND(FMM_INSTANCE_OF_P2P_KIND, prefix, Space, float, Kernel)               \
  FMM_FOR_EACH_KIND(FMM_INSTANCE_OF_P2P_KIND, prefix, Space, fmm::Mixed, Kernel)          \
  FMM_FOR_EACH_KIND(FMM_INSTANCE_OF_P2P_KIND, prefix, Space, fmm::MixedInOnePart, Kernel) \
  FMM_FOR_EACH_KIND(FMM_INSTANCE_OF_P2P_ALL_KIND, prefix, Space, float, Kernel)           \
  FMM_FOR_EACH_KIND(FMM_INSTANCE_OF_P2P_ALL_KIND, prefix, Space, fmm::Mixed, Kernel)
#define FMM_INSTANCES_OF_KERNEL_IN_DOUBLE(prefix, Space, Kernel)                            \
  FMM_INSTANCE_OF_EWALD(prefix, Space, double, Kernel)                                      \
  FMM_FOR_EACH_OUTPUTS(FMM_INSTANCE_OF_P2P, prefix, Space, double, Kernel)                  \
  FMM_FOR_EACH_OUTPUTS(FMM_INSTANCE_OF_P2P, prefix, Space, fmm::DoubleInTwoParts, Kernel)   \
  FMM_FOR_EACH_OUTPUTS(FMM_INSTANCE_OF_P2P_ALL, prefix, Space, double, Kernel)              \
  FMM_FOR_EACH_KIND(FMM_INSTANCE_OF_P2P_KIND, prefix, Space, double, Kernel)                \
  FMM_FOR_EACH_KIND(FMM_INSTANCE_OF_P2P_KIND, prefix, Space, fmm::DoubleInTwoParts, Kernel) \
  FMM_FOR_EACH_KIND(FMM_INSTANCE_OF_P2P_ALL_KIND, prefix, Space, double, Kernel)            \
  FMM_FOR_EACH_OUTPUTS(FMM_INSTANCE_OF_P2P_CHOSEN, prefix, Space, Kernel)                   \
  FMM_INSTANCE_OF_P2P_MAGNITUDES(prefix, Space, Kernel)

// Trees and lists in a precision.
#define FMM_INSTANCE_OF_LISTS(prefix, Space, Precision, Traversal)                        \
  prefix template fmm::tree::InteractionLists<Space> fmm::engine::lists_stage<Traversal>( \
      Space const&, fmm::engine::Workspace<Space, Precision>&,                            \
      fmm::engine::BodyTree<Space, Precision> const&, fmm::Options const&,                \
      fmm::engine::FarFieldRule, fmm::Report*);
#define FMM_INSTANCES_OF_PRECISION(prefix, Space, Precision)                           \
  prefix template class fmm::engine::PlanPool<Space, Precision>;                       \
  FMM_INSTANCE_OF_LISTS(prefix, Space, Precision, fmm::BarnesHut)                      \
  FMM_INSTANCE_OF_LISTS(prefix, Space, Precision, fmm::DualTree<fmm::RadiusCriterion>) \
  FMM_INSTANCE_OF_LISTS(prefix, Space, Precision, fmm::DualTree<fmm::FieldCriterion>)  \
  FMM_INSTANCE_OF_LISTS(prefix, Space, Precision, fmm::DualTree<fmm::SourceCriterion>)

// Of all precisions.
#define FMM_INSTANCES_OF_SPACE(prefix, Space)                                              \
  prefix template std::optional<fmm::tree::Octree<Space>> fmm::tree::build_octree(         \
      Space const&, fmm::tree::OctreeBuffers<Space>&, fmm::Array<std::uint64_t, Space>,    \
      fmm::tree::SplitRule const&, fmm::tree::TileRule, int);                              \
  prefix template fmm::tree::Sorted<Space> fmm::tree::sort_keys(                           \
      Space const&, fmm::tree::SortBuffers<Space>&, fmm::tree::UnsortedKeys<Space> const&, \
      fmm::Array<std::uint64_t, Space>, int);
