// NVIDIA's assembler, where it is installed: what it says about PTX.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace metalloid::nvidia {

// Found in PATH or where CUDA is usually installed.
inline std::optional<std::string> find_assembler() {
  std::string folders = std::getenv("PATH") ? std::getenv("PATH") : "";
  folders += ":/usr/local/cuda/bin";
  std::stringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');)
    if (const auto path = std::filesystem::path(folder) / "ptxas"; access(path.c_str(), X_OK) == 0)
      return path.string();
  return std::nullopt;
}

// Empty if the assembler takes it.
inline std::string problem_of(const std::string& ptx, const std::string& architecture, const std::string& assembler) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string name = (folder / ("metalloid_" + std::to_string(getpid()) + ".ptx")).string();
  std::ofstream(name) << ptx;
  const std::string command = assembler + " -arch=" + architecture + " " + name + " -o /dev/null 2>&1";
  std::string said;
  if (FILE* output = popen(command.c_str(), "r")) {
    char part[512];
    while (std::fgets(part, sizeof part, output)) said += part;
    if (pclose(output) == 0) said.clear();
  }
  std::filesystem::remove(name);
  return said;
}

}  // namespace metalloid::nvidia
