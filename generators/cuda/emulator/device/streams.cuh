// Global memory that is read or written once, as in generators/cuda/device/streams.cuh. Hints change nothing here.
#pragma once

namespace kiln_device {

void load_words_(u32* w, const void* p, int bytes, int line);
void store_words_(void* p, const u32* w, int bytes, int line);
void prefetch_(const void* p, int line);

enum LoadHint { LOAD_PLAIN, LOAD_NO_L1, LOAD_STREAMING, LOAD_EVICT_FIRST, LOAD_L2_128B, LOAD_L2_256B, LOAD_WRITTEN };
enum StoreHint { STORE_PLAIN, STORE_STREAMING, STORE_EVICT_FIRST, STORE_THROUGH };

template <int BYTES, LoadHint HINT = LOAD_PLAIN> DEV Vec<BYTES> load_stream(const void* p, KILN_LINE) {
  Vec<BYTES> v;
  load_words_(v.w, p, BYTES, line);
  return v;
}
DEV void prefetch_l1(const void* p, KILN_LINE) { prefetch_(p, line); }
template <class T> DEV T load_written(const T* p) { return *(const volatile T*)p; }
template <int BYTES, StoreHint HINT = STORE_PLAIN> DEV void store_stream(void* p, const Vec<BYTES>& v, KILN_LINE) { store_words_(p, v.w, BYTES, line); }

}  // namespace kiln_device
