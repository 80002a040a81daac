// The instructions of the processor, as oneDNN and OpenBLAS use them.
#pragma once

namespace metalloid::mps::cpu {

// Called before anything else of oneDNN's, which would decide it.
void limit_instructions();

bool has_bfloat_products();
bool has_int8_products();  // that do not saturate in between

// Whether OpenBLAS's kernels have the longest vectors that it could know of.
bool openblas_knows_processor();

bool is_by_intel();

}  // namespace metalloid::mps::cpu
