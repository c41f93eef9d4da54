# Kernel set plain 2.0.1. plain::plain is the static library, plain::shared the shared one; link either, not both.
get_filename_component(plain_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET plain::plain)
  add_library(plain::plain STATIC IMPORTED)
  set_target_properties(plain::plain PROPERTIES
    IMPORTED_LOCATION "${plain_PREFIX}/lib/libplain.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${plain_PREFIX}/include"
    INTERFACE_LINK_LIBRARIES "m;pthread;dl")
  add_library(plain::shared SHARED IMPORTED)
  set_target_properties(plain::shared PROPERTIES
    IMPORTED_LOCATION "${plain_PREFIX}/lib/libplain.so.1"
    IMPORTED_SONAME libplain.so.1
    INTERFACE_INCLUDE_DIRECTORIES "${plain_PREFIX}/include")
endif()
