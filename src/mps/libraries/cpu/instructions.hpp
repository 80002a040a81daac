// The instructions that oneDNN may use.
#pragma once

namespace metalloid::mps::cpu {

// Called before anything else of oneDNN's, which would decide it.
void limit_instructions();

bool has_bfloat_products();
bool has_int8_products();  // that do not saturate in between

}  // namespace metalloid::mps::cpu
