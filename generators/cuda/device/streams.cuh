// Global memory that is read or written once, with the hint to the caches as a template argument. Addresses are multiples of the access, which is
// 16 bytes at most on sm_90: 32 bytes are two accesses. Loads but LOAD_WRITTEN are ld.global.nc: nothing may write that memory while the kernel runs.
#pragma once

enum LoadHint { LOAD_PLAIN, LOAD_NO_L1, LOAD_STREAMING, LOAD_EVICT_FIRST, LOAD_L2_128B, LOAD_L2_256B, LOAD_WRITTEN };
enum StoreHint { STORE_PLAIN, STORE_STREAMING, STORE_EVICT_FIRST, STORE_THROUGH };

DEV u64 evict_first_policy_() { u64 p; asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p)); return p; }

#define KILN_LOAD(OP)                                                                                                                     \
  if constexpr (BYTES == 4) asm volatile(OP ".u32 %0, [%1];" : "=r"(w[0]) : "l"(p));                                                       \
  else if constexpr (BYTES == 8) asm volatile(OP ".v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(p));                             \
  else asm volatile(OP ".v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p))
#define KILN_LOAD_POLICY(OP)                                                                                                              \
  if constexpr (BYTES == 4) asm volatile(OP ".u32 %0, [%1], %2;" : "=r"(w[0]) : "l"(p), "l"(evict_first_policy_()));                        \
  else if constexpr (BYTES == 8) asm volatile(OP ".v2.u32 {%0, %1}, [%2], %3;" : "=r"(w[0]), "=r"(w[1]) : "l"(p), "l"(evict_first_policy_())); \
  else asm volatile(OP ".v4.u32 {%0, %1, %2, %3}, [%4], %5;" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p), "l"(evict_first_policy_()))
template <int BYTES, LoadHint HINT> DEV void load_words_(u32* w, const void* p) {
  if constexpr (HINT == LOAD_PLAIN) { KILN_LOAD("ld.global.nc"); }
  else if constexpr (HINT == LOAD_NO_L1) { KILN_LOAD("ld.global.nc.L1::no_allocate"); }
  else if constexpr (HINT == LOAD_STREAMING) { KILN_LOAD("ld.global.cs.nc"); }
  else if constexpr (HINT == LOAD_EVICT_FIRST) { KILN_LOAD_POLICY("ld.global.nc.L1::no_allocate.L2::cache_hint"); }
  else if constexpr (HINT == LOAD_L2_128B) { KILN_LOAD("ld.global.nc.L1::no_allocate.L2::128B"); }
  else if constexpr (HINT == LOAD_L2_256B) { KILN_LOAD("ld.global.nc.L1::no_allocate.L2::256B"); }
  else { KILN_LOAD("ld.global"); }
}
template <int BYTES, LoadHint HINT = LOAD_PLAIN> DEV Vec<BYTES> load_stream(const void* p) {
  Vec<BYTES> v;
  load_words_<BYTES < 16 ? BYTES : 16, HINT>(v.w, p);
  if constexpr (BYTES == 32) load_words_<16, HINT>(v.w + 4, (const char*)p + 16);
  return v;
}
// Asks for the 128 bytes around p, into L1, and waits for nothing.
DEV void prefetch_l1(const void* p) { asm volatile("prefetch.global.L1 [%0];" ::"l"(p)); }
// One element of what an earlier kernel wrote, which may still have run when this one began.
template <class T> DEV T load_written(const T* p) { return *(const volatile T*)p; }

#define KILN_STORE(OP)                                                                                                                    \
  if constexpr (BYTES == 4) asm volatile(OP ".u32 [%0], %1;" ::"l"(p), "r"(w[0]) : "memory");                                              \
  else if constexpr (BYTES == 8) asm volatile(OP ".v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(w[0]), "r"(w[1]) : "memory");                     \
  else asm volatile(OP ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory")
#define KILN_STORE_POLICY(OP)                                                                                                             \
  if constexpr (BYTES == 4) asm volatile(OP ".u32 [%0], %1, %2;" ::"l"(p), "r"(w[0]), "l"(evict_first_policy_()) : "memory");               \
  else if constexpr (BYTES == 8) asm volatile(OP ".v2.u32 [%0], {%1, %2}, %3;" ::"l"(p), "r"(w[0]), "r"(w[1]), "l"(evict_first_policy_()) : "memory"); \
  else asm volatile(OP ".v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(p), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "l"(evict_first_policy_()) : "memory")
template <int BYTES, StoreHint HINT> DEV void store_words_(void* p, const u32* w) {
  if constexpr (HINT == STORE_PLAIN) { KILN_STORE("st.global"); }
  else if constexpr (HINT == STORE_STREAMING) { KILN_STORE("st.global.cs"); }
  else if constexpr (HINT == STORE_EVICT_FIRST) { KILN_STORE_POLICY("st.global.L2::cache_hint"); }
  else { KILN_STORE("st.global.wt"); }
}
template <int BYTES, StoreHint HINT = STORE_PLAIN> DEV void store_stream(void* p, const Vec<BYTES>& v) {
  store_words_<BYTES < 16 ? BYTES : 16, HINT>(p, v.w);
  if constexpr (BYTES == 32) store_words_<16, HINT>((char*)p + 16, v.w + 4);
}
