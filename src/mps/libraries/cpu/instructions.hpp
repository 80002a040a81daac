// The instructions of the processor, as oneDNN and OpenBLAS use them.
#pragma once

namespace metalloid::mps::cpu {

// Called before anything else of oneDNN's, which would decide it.
void limit_instructions();

bool has_bfloat_products();
bool has_int8_products();  // that do not saturate in between

// Whether OpenBLAS has kernels for it; if not, it uses such as have no AVX2 where the processor has it.
bool openblas_knows_processor();

}  // namespace metalloid::mps::cpu
