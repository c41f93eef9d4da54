/* DLPack's tensor view, as DLPack 1.0 lays it out. An application that uses DLPack's own header includes that one first. */
#if !defined(DLPACK_DLPACK_H_) && !defined(KILN_DLPACK_VIEW)
#define KILN_DLPACK_VIEW
typedef enum { kDLCPU = 1, kDLCUDA = 2 } DLDeviceType;
typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 } DLDataTypeCode;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code; /* a DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL means row-major */
  uint64_t byte_offset;
} DLTensor;
#endif
