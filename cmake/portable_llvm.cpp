// Debian's Clang calls Polly when it optimises for a file, which we never ask of it, and its archive lacks Polly.
#include <llvm/Plugins/PassPlugin.h>

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "", [](llvm::PassBuilder&) {}, {}};
}
