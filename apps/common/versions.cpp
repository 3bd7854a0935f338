// SPDX-License-Identifier: BSD-3-Clause
#include "versions.hpp"

#include <hdf5.h>

#include <Kokkos_Macros.hpp>
#include <fmm/version.hpp>
#include <fstream>

namespace forces {

namespace {

std::string compiler_version() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "unknown";
#endif
}

}  // namespace

std::vector<std::pair<std::string, std::string>> versions() {
  const auto dotted = [](int version, int major, int minor) {
    return std::to_string(version / major) + "." + std::to_string(version % major / minor) + "." +
           std::to_string(version % minor);
  };
  std::vector<std::pair<std::string, std::string>> all{
      {"fmm", fmm::version_string}, {"kokkos", dotted(KOKKOS_VERSION, 10000, 100)}};
#ifdef FORCES_KOKKOS_KERNELS_VERSION
  all.emplace_back("kokkos_kernels", FORCES_KOKKOS_KERNELS_VERSION);
#endif
  all.emplace_back("compiler", compiler_version());
#ifdef __CUDACC_VER_MAJOR__
  all.emplace_back(
      "cuda", std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__));
#endif
  all.emplace_back("hdf5", std::to_string(H5_VERS_MAJOR) + "." + std::to_string(H5_VERS_MINOR) +
                               "." + std::to_string(H5_VERS_RELEASE));
  return all;
}

std::string commit() { return FORCES_COMMIT; }

std::string version_text() {
  std::string text;
  for (auto const& [name, version] : versions())
    text += (text.empty() ? "" : ", ") + name + " " + version;
  return text + ", commit " + commit();
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != line.npos) return line.substr(colon + 2);
  return "unknown";
}

}  // namespace forces
