// The emulating prelude, for the files that define its functions. Included last: the language's macros are not for other headers.
#pragma once

#include <cstddef>

#include "generators/cuda/emulator/device/language.cuh"
#include "generators/cuda/emulator/device/types.cuh"
#include "generators/cuda/emulator/device/barriers.cuh"
#include "generators/cuda/emulator/device/copies.cuh"
#include "generators/cuda/emulator/device/mma.cuh"
#include "generators/cuda/emulator/device/moves.cuh"
#include "generators/cuda/emulator/device/numbers.cuh"
#include "generators/cuda/emulator/device/streams.cuh"
#include "generators/cuda/emulator/device/wgmma_bf16.cuh"
#include "generators/cuda/emulator/device/wgmma_e4m3.cuh"
#include "generators/cuda/emulator/device/wgmma_f16.cuh"
