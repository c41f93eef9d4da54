#include "generators/cuda/emit/stream.h"

#include "dsl/error.h"
#include "generators/cuda/emit/stream_shapes.h"

namespace kiln::generators::cuda {

std::string translation_unit(const std::vector<const KernelText*>& kernels) {
  std::string text;
  for (const char* file : {"types", "barriers", "moves", "numbers", "lanes", "streams"}) text += std::string("#include \"") + file + ".cuh\"\n";
  for (const KernelText* kernel : kernels) {
    text += "\n";
    if (kernels.size() == 1) {
      text += kernel->text;
      continue;
    }
    const std::string space = "of_" + kernel->name;
    text += "namespace " + space + " {\n" + kernel->text + "}  // namespace " + space + "\nusing " + space + "::" + kernel->name + ";\n";
  }
  return text;
}

KernelText emit_stream(const StreamPlan& plan, const std::string& name) {
  switch (plan.shape) {
    case StreamPlan::Shape::flat: return emit_flat(plan, name);
    case StreamPlan::Shape::rows: return emit_rows(plan, name);
    case StreamPlan::Shape::turned: return emit_turned(plan, name);
    case StreamPlan::Shape::dots: return emit_dots(plan, name);
    case StreamPlan::Shape::strips: return emit_strips(plan, name);
  }
  KILN_CHECK(false, "a shape without a skeleton");
}

}  // namespace kiln::generators::cuda
