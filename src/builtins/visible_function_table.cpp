// Tables of visible functions: memory that the host fills with addresses.
#include "builtins/device_memory.hpp"
#include "device/texture.hpp"

namespace metalloid::builtins {

using Table = const METAL_DEVICE device::FunctionTable*;

unsigned visible_function_table_size(unsigned long long table) asm("metal.visible_function_table_size");
unsigned visible_function_table_size(unsigned long long table) {
  return table == 0 ? 0 : static_cast<unsigned>(reinterpret_cast<Table>(table)->size);
}

unsigned long long visible_function_table_entry(unsigned long long table,
                                                unsigned index) asm("metal.visible_function_table_entry");
unsigned long long visible_function_table_entry(unsigned long long table, unsigned index) {
  return index < visible_function_table_size(table) ? reinterpret_cast<Table>(table)->entries[index] : 0;
}

}  // namespace metalloid::builtins
