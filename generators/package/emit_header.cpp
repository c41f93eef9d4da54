// The C header: the whole contract of a set, readable without anything else.
#include <fmt/format.h>

#include "generators/package/embedded.h"
#include "generators/package/emit.h"
#include "generators/package/spelling.h"
#include "generators/runtime/set_numbers.h"

namespace kiln::generators::package {

namespace {

std::string codes(const KernelSet& set) {
  std::string text = with_names(set, "/* What functions return: 0, or one of these. The numbers never change; $_last_error() says more. */\nenum {\n  $$_OK = 0,\n");
#define KILN_CODE_LINE(id, number, meaning) text += fmt::format("  {}_ERR_{} = {}, /* {} */\n", upper(set.name), #id, number, meaning);
  KILN_SET_CODES(KILN_CODE_LINE)
#undef KILN_CODE_LINE
  return text + "};\n\n";
}

constexpr const char* kOptions = R"(/* Which variants serve a call: those built for its very extents, for an interval of extents, or for any. */
enum { $$_TIER_EXACT = 1, $$_TIER_BUCKET = 2, $$_TIER_GENERIC = 3 };

/* What plan does when only the generic tier serves a call: tell `warn` once an entry, nothing, or return $$_ERR_NO_VARIANT. */
enum { $$_FALLBACK_WARN_ONCE = 0, $$_FALLBACK_ALLOW = 1, $$_FALLBACK_ERROR = 2 };

/* All zero but `size` is a good choice. A member that a newer header adds counts as zero when the program was built with an older one. */
typedef struct $_opts {
  uint32_t size;   /* sizeof($_opts) */
  int32_t threads; /* that work on one call, its caller included; 0: as tuned (@THREADS@), at most the CPUs this process may use */
  /* When given, no thread is started: calls body(argument, i) once for each i in [0, count), on any threads, and returns after the last call
     has returned: 0, or any non-zero value that body returned. */
  int (*parallel_for)(void* user, int count, int (*body)(void* argument, int index), void* argument);
  void* parallel_for_user;
  const char* calls_path; /* when given, unload writes the call counts there */
  int32_t fallback;       /* a $$_FALLBACK_ value */
  uint32_t reserved;
  void (*warn)(void* user, const char* text); /* may be called by any thread that plans */
  void* warn_user;
} $_opts;

/* How one call will be served. Caller-owned, copied freely, bound to no thread; good until the last unload. */
typedef struct $_plan {
  uint32_t size;
  int32_t tier;    /* a $$_TIER_ value */
  int32_t variant; /* its place in the dispatch order below */
  uint32_t reserved;
  uint64_t workspace_bytes;  /* @WORKSPACE@ */
  uint64_t launches_plainly; /* @LAUNCHES@ */
  uint64_t opaque[124];
} $_plan;

/* The ABI number of the library that was found; compare it with $$_ABI. Any thread, any time. */
$$_API int $_abi_version(void);

/* Starts the threads and asks the CPU what it can. NULL: default options. Each further load only counts: the options of the first are in
   force until as many unloads have come. Any thread, any time. After fork, only the parent may call the set. */
$$_API int $_load(const $_opts* options);

/* The last unload joins the threads, gives scratch memory back and writes the call counts if calls_path was given. No call of the set may be
   running then; a program that closes the library by dlclose unloads first. Any thread. */
$$_API int $_unload(void);

/* Threads that work on one call; 0: the application's parallel_for decides. Any thread, after load. */
$$_API int $_threads(void);

@SUPPORTS@
/* Writes how often each shape was called, since the first load, as a demand file for `kiln demand import`; the file is replaced in one step.
   Any thread, any time. */
$$_API int $_dump_calls(const char* path);

/* The sentence that belongs to the last code other than 0 that this thread got. Valid until its next failing call. */
$$_API const char* $_last_error(void);

/* The bytes of share/$/manifest.json, closed by a 0 that `bytes` does not count (it may be NULL). Any thread, any time. */
$$_API const char* $_manifest(size_t* bytes);

)";

constexpr const char* kHostSupports = R"(/* The tier that would serve `entry` for densely stored, aligned arguments, or a code. `extents` has one number a symbol, in the order that the
   entry's comment below gives. Any thread, after load. */
$$_API int $_supports(const char* entry, const int64_t* extents);
)";

constexpr const char* kGpuFunctions = R"(/* The tier that would serve `entry` for densely stored, aligned arguments on this device, or a code. `extents` has one number a symbol, in the
   order that the entry's comment below gives. Any thread, after load. */
$$_API int $_supports(const char* entry, const int64_t* extents, DLDevice device);

/* Puts every kernel that cuda:`device` can run onto it. Plans do this when they first meet a device; before a graph is captured it is to be done, since a
   driver loads nothing while a stream is captured. $$_ERR_DRIVER where there is no driver, $$_ERR_NO_IMAGE where the set has no kernel for such a GPU.
   Any thread, after load. */
$$_API int $_load_device(int device);
)";

constexpr const char* kHostRun = R"(/* Runs the plan on these addresses (of the first element). Allocates nothing after the first call of a plan, logs nothing, takes no lock
   but to wake sleeping workers. One plan may run on several threads at once, on different outputs. */
)";

constexpr const char* kGpuRun = R"(/* Runs the plan on these addresses (of the first element). On a GPU it launches into `stream` (a CUstream or cudaStream_t of the tensors' device; NULL: the
   default stream) and returns; `workspace` is that device's memory, plan->workspace_bytes of it, aligned to 256 bytes, until the kernels have run (NULL where
   none is needed). It allocates nothing, takes no lock and may be captured into a graph. On the CPU it returns when done and reads neither. One plan
   may run on several threads at once, on different outputs and workspaces. */
)";

std::string argument_lines(const Entry& entry) {
  std::size_t width = 0;
  for (const PackageArgument& argument : entry.arguments) width = std::max(width, argument.name.size());
  std::string text;
  for (const PackageArgument& argument : entry.arguments) {
    const std::string role = argument.is_output ? "output" : argument.is_scalar ? "scalar" : "input";
    text += fmt::format("     {:<{}}  {:<6}  {}", argument.name, width, role, print(argument.type));
    if (!argument.is_scalar) text += "  shape " + shape_text(entry, argument);
    for (int d = argument.rank - 1; d >= 0; --d) {
      text += fmt::format("{}{} is Halide's {}", d == argument.rank - 1 ? "; dimension " : ", ", argument.rank - 1 - d, d);
    }
    if (argument.rank > 0) text += fmt::format("; dimension {} has stride 1", argument.rank - 1 - argument.unit_dimension);
    text += "\n";
  }
  return text;
}

std::string guard_text(const Variant& variant) {
  std::string text;
  for (const ExtentGuard& guard : variant.extents) {
    text += text.empty() ? " " : ", ";
    text += guard.least == guard.most ? fmt::format("{}={}", guard.symbol, guard.least) : fmt::format("{}={}..{}", guard.symbol, guard.least, guard.most);
  }
  return text;
}

std::string entry_comment(const KernelSet& set, const Entry& entry) {
  std::string text = fmt::format("/* {}: {}\n{}", entry.c_name, describe(entry), argument_lines(entry));
  text += fmt::format("   Symbols, for {}_supports:", set.name);
  for (const PackageSymbol& symbol : entry.symbols) text += " " + symbol.name;
  text += "\n   Variants, in dispatch order:\n";
  int index = 0;
  for (const Variant& variant : entry.variants) {
    text += fmt::format("     {} {}{} candidate {}\n", index++, print(variant.tier), guard_text(variant), variant.candidate.substr(0, 12));
  }
  return text + "*/\n";
}

std::string entry_functions(const KernelSet& set, const Entry& entry) {
  const std::string api = upper(set.name) + "_API ";
  return entry_comment(set, entry) +
         "/* Checks the views and chooses a variant. Views are read now, not kept. Any thread, after load; several at once. */\n" + api +
         plan_signature(set, entry) + ";\n" + (is_for_gpu(set) ? kGpuRun : kHostRun) + api + run_signature(set, entry) + ";\n/* plan and run in one. */\n" + api + call_signature(set, entry) + ";\n\n";
}

}  // namespace

std::string emit_header(const KernelSet& set) {
  const std::string name = upper(set.name);
  std::string text = fmt::format("/* {0} {1}: a kernel set made by Kiln, for x86-64 Linux{2}. Needs libc, libm, libpthread and libdl only{3}.\n", set.name, set.version,
                                 is_for_gpu(set) ? " and CUDA GPUs" : "", is_for_gpu(set) ? ", and finds the CUDA driver when a tensor on a GPU comes" : "");
  text += "   load, then plan and run (or the one-call function), then unload. Nothing here prints, throws, exits or reads the environment. */\n";
  text += fmt::format("#ifndef {0}_H\n#define {0}_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n", name);
  text += embedded_file("dlpack_view.h");
  text += fmt::format("\n#define {0}_ABI {1}\n#define {0}_VERSION \"{2}\"\n#define {0}_API __attribute__((visibility(\"default\")))\n\n", name,
                      static_cast<int>(KILN_SET_ABI), set.version);
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  std::string options = replaced(kOptions, "@THREADS@", std::to_string(set.threads));
  options = replaced(options, "@LAUNCHES@", is_for_gpu(set) ? "0, as plan leaves it: as tuned, perhaps while the kernels before in the stream end (what they write is waited for);\n                                1, set by the caller: when they have ended" : "0");
  options = replaced(options, "@WORKSPACE@", is_for_gpu(set) ? "that run needs on the GPU; 0: none" : "0: a CPU's plans need none");
  text += codes(set) + with_names(set, replaced(options, "@SUPPORTS@", is_for_gpu(set) ? kGpuFunctions : kHostSupports));
  for (const Entry& entry : set.entries) text += entry_functions(set, entry);
  return text + fmt::format("#ifdef __cplusplus\n}}\n#endif\n#endif /* {}_H */\n", name);
}

static constexpr const char* kGpuParameters = ", void* workspace, size_t workspace_bytes, void* stream";

std::string plan_signature(const KernelSet& set, const Entry& entry) {
  std::string text = "int " + function_name(set, entry) + "_plan(";
  for (const PackageArgument& argument : entry.arguments) {
    if (!argument.is_scalar) text += "const DLTensor* " + spelled(argument.name) + ", ";
  }
  return text + set.name + "_plan* plan)";
}

std::string run_signature(const KernelSet& set, const Entry& entry) {
  std::string text = "int " + function_name(set, entry) + "_run(const " + set.name + "_plan* plan";
  for (const PackageArgument& argument : entry.arguments) {
    const std::string type = argument.is_scalar ? c_type(argument.type) + " " : argument.is_output ? "void* " : "const void* ";
    text += ", " + type + spelled(argument.name);
  }
  return text + (is_for_gpu(set) ? kGpuParameters : "") + ")";
}

std::string call_signature(const KernelSet& set, const Entry& entry) {
  std::string text = "int " + function_name(set, entry) + "(";
  bool is_first = true;
  for (const PackageArgument& argument : entry.arguments) {
    text += (is_first ? "" : ", ") + (argument.is_scalar ? c_type(argument.type) + " " : "const DLTensor* ") + spelled(argument.name);
    is_first = false;
  }
  return text + (is_for_gpu(set) ? kGpuParameters : "") + ")";
}

}  // namespace kiln::generators::package
