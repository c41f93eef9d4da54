// The report that only the compiler's output can give: read from the object's instructions with LLVM's disassembler.
#pragma once

#include <string>

#include "generators/report.h"

namespace kiln::generators::host {

// A loop is the address range of a backward jump that can be reached from where it jumps to; the innermost loops are counted, where time goes.
// The stack frame is what [rsp …] names, and [rbp …] in a function that sets rbp from rsp: spilled registers and small arrays alike. A frame's
// size is the largest `sub rsp` of a function plus its pushes. Vector width: of the widest register that an instruction names which does more
// than move, spread, shuffle or zero values; 0 when there is none.
// Throws Error with LLVM's words when `object` is not an object file.
Actual read_machine_code(const std::string& object);

}  // namespace kiln::generators::host
