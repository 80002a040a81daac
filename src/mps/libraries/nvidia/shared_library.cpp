#include "mps/libraries/nvidia/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>
#include <link.h>

#include <cstdlib>
#include <sstream>

namespace metalloid::mps::nvidia {
namespace {

// Folders that match a pattern of the shell's.
void add_matches(std::vector<std::string>& folders, const std::string& pattern) {
  glob_t found = {};
  if (glob(pattern.c_str(), GLOB_ONLYDIR, nullptr, &found) == 0)
    folders.insert(folders.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
}

// Python's packages of the active environment, of the user and of the system.
std::vector<std::string> package_folders() {
  std::vector<std::string> folders;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* environment = std::getenv(variable))
      add_matches(folders, fmt::format("{}/lib/python3*/site-packages", environment));
  if (const char* home = std::getenv("HOME"))
    add_matches(folders, fmt::format("{}/.local/lib/python3*/site-packages", home));
  for (const char* root : {"/usr/local", "/usr", "/opt/conda", "/opt/venv"})
    for (const char* kind : {"dist", "site"})
      add_matches(folders, fmt::format("{}/lib/python3*/{}-packages", root, kind));
  return folders;
}

}  // namespace

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  if (const char* named = std::getenv("METALLOID_CUDA_LIBRARIES")) {
    std::istringstream list(named);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) folders.push_back(folder);
  }
  folders.push_back("");
  for (const char* root : {"/usr/local/cuda", "/opt/cuda"})
    for (const char* below : {"lib64", "lib"}) add_matches(folders, fmt::format("{}/{}", root, below));
  for (const std::string& packages : package_folders()) add_matches(folders, packages + "/nvidia/*/lib");
  return folders;
}

Result<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& files) {
  std::string problem;
  for (const std::string& file : files)
    for (const std::string& folder : library_folders()) {
      const std::string path = folder.empty() ? file : folder + "/" + file;
      if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        link_map* map = nullptr;
        return SharedLibrary(handle, dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : path);
      }
      // What is there and cannot be opened says more than what is not there.
      const std::string why = dlerror();
      if (problem.empty() || why.find("No such file") == std::string::npos) problem = why;
    }
  return Error{problem + "; METALLOID_CUDA_LIBRARIES can name its folder"};
}

void* SharedLibrary::find(const char* symbol) const {
  return dlsym(handle_, symbol);
}

}  // namespace metalloid::mps::nvidia
