# Who may include whom: greps the includes of the tree. cmake -DROOT=… -P layering_test.cmake
# Each row: a folder (the longest match wins) and the folders of ours that it may include beside itself.
set(rows
  "dsl:"
  "schedules:dsl"
  "db:dsl"
  "generators/runtime:"
  "generators/cuda/compile:dsl,generators/core"
  "generators/cuda/driver:dsl"
  "generators/cuda/emit:dsl,generators/cuda/plan,generators/cuda/program,generators/cuda/resources"
  "generators/cuda/emulated:dsl,generators/cuda,generators/cuda/emit,generators/cuda/emulator,generators/cuda/plan,generators/cuda/program"
  "generators/cuda/emulator:"
  "generators/cuda/launch:dsl,generators/cuda,generators/cuda/driver"
  "generators/cuda/plan:dsl,generators/cuda/program,generators/cuda/resources"
  "generators/cuda/program:dsl"
  "generators/cuda/resources:dsl,generators/core"
  "generators/cuda:dsl,generators/core,generators/cuda/compile,generators/cuda/emit,generators/cuda/plan,generators/cuda/program,generators/cuda/resources"
  "generators/operators:dsl"
  "generators/halide_plugin:dsl,db"
  "generators/host:dsl,generators/core"
  "generators/package:dsl,db,generators/core,generators/cuda,generators/runtime"
  "generators/core:dsl"
  "autotune/cli:dsl,schedules,db,autotune,generators/core,generators/cuda,generators/cuda/compile,generators/cuda/driver,generators/cuda/launch,generators/cuda/resources,generators/host,generators/operators,generators/package,generators/runtime"
  "autotune:dsl,schedules,db,generators/core,generators/cuda,generators/cuda/compile,generators/cuda/driver,generators/cuda/emulated,generators/cuda/launch,generators/host,generators/operators,generators/runtime"
)
# Files that may speak of Halide's internals: a version of Halide is met here and nowhere else.
set(internals "^(dsl/(algorithm|read_algorithm|read_schedule|rebuild|apply|stage_facts)[^/]*|generators/host/lowered[^/]*|generators/operators/operators.cpp)$")

function(folder_of path result)
  if(path MATCHES "^generators/[^/]+$")
    set(${result} "generators/core" PARENT_SCOPE)  # files directly in generators/
  elseif(path MATCHES "^(generators/cuda/[a-z_]+|generators/[a-z_]+|autotune/cli)/")
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  elseif(path MATCHES "^([a-z]+)/")
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    set(${result} "" PARENT_SCOPE)
  endif()
endfunction()

set(complaints "")
set(files 0)
foreach(top dsl schedules db generators autotune)
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/${top}/*.h ${ROOT}/${top}/*.cpp ${ROOT}/${top}/*.c)
  foreach(source ${sources})
    math(EXPR files "${files} + 1")
    folder_of(${source} here)
    set(allowed "")
    foreach(row ${rows})
      if(row MATCHES "^${here}:(.*)$")
        string(REPLACE "," ";" allowed "${CMAKE_MATCH_1}")
      endif()
    endforeach()
    file(STRINGS ${ROOT}/${source} includes REGEX "^#include \"")
    foreach(line ${includes})
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
      folder_of(${included} there)
      if(there STREQUAL "" OR there STREQUAL here)
        continue()
      endif()
      if(NOT there IN_LIST allowed)
        string(APPEND complaints "${source} includes ${included}: ${here} may include only: ${allowed}\n")
      endif()
    endforeach()
    file(STRINGS ${ROOT}/${source} inner REGEX "Halide::Internal")
    if(inner AND NOT source MATCHES "${internals}")
      string(APPEND complaints "${source} names Halide::Internal\n")
    endif()
  endforeach()
endforeach()
if(files LESS 100)
  message(FATAL_ERROR "only ${files} files were found under ${ROOT}")
endif()
if(complaints)
  message(FATAL_ERROR "${complaints}")
endif()
message(STATUS "${files} files keep the layers")
