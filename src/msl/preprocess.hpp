// Metal source after the preprocessor, as text.
#pragma once

#include <metalloid/compiler.hpp>

namespace metalloid::msl {

PreprocessResult preprocess_source(const std::string& source, const std::filesystem::path& path,
                                   const CompileOptions& options);

}  // namespace metalloid::msl
