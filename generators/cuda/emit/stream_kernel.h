// What the three shapes of the stream skeleton have in common: signature, operands, functions of the values.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "generators/cuda/emit/functions.h"
#include "generators/cuda/emit/lines.h"
#include "generators/cuda/emit/stream.h"

namespace kiln::generators::cuda {

class StreamKernel {
 public:
  StreamKernel(const StreamPlan& plan, std::string name);

  KernelText emit();

 protected:
  virtual ~StreamKernel() = default;
  virtual void body() = 0;
  virtual std::string header() const { return {}; }       // functions of the skeleton's own, after those of the values
  virtual std::string argument(const Expression& leaf) = 0;  // what a leaf is where element i of access v is computed

  const StreamPlan& plan() const { return plan_; }
  const Computation& computation() const { return plan_.computation; }
  const Operand& operand(std::size_t place) const { return computation().operands[place]; }
  const Value& value_of(const Output& output) const { return computation().values[static_cast<std::size_t>(output.value)]; }

  // An operand's identifier: its pointer `x`; its vectors are `x_v`.
  const std::string& pointer(const std::string& operand) const { return pointers_.at(operand); }
  std::string vectors(const std::string& operand) const { return pointers_.at(operand) + "_v"; }
  const std::string& local(const std::string& value) const { return locals_.at(value); }
  std::string call(const std::string& value);   // the value, computed here
  std::string scalar(const std::string& name) const { return scalars_.at(name); }

  bool is_narrow(const Operand& operand) const { return plan_.vector * operand.type.bytes() < 4; }  // less than a word: element by element
  std::string vector_type(const Operand& operand) const;
  std::string load(const Operand& operand, const std::string& at) const;   // `load_stream<16, …>(x + at)`
  std::string load_one(const Operand& operand, const std::string& at) const;  // an element: `__ldg(x + at)`
  std::string load_word(const Operand& operand) const;                        // the hint of load_stream

  // Declares the vectors of an operand; with `accesses` of them an array.
  void declare_vectors(const Operand& operand, int accesses);
  void load_vectors(const Operand& operand, const std::string& subscript, const std::string& at);
  std::string lane(const Operand& operand, const std::string& subscript) const;  // element i of an access
  // The text of an output's stored element, of what its function gives.
  std::string stored_element(const Output& output, const std::string& value) const;
  // Computes an output's elements of one access and stores them.
  void store_vector(const Output& output, const std::string& at);
  void wait_for_the_kernel_before();

  void parameter(KernelParameter::Kind kind, int place, const std::string& declaration);

  Lines lines_{1};
  Identifiers identifiers_;

 private:
  void declare_operands();
  void write_functions();

  const StreamPlan& plan_;
  std::string name_;
  Functions functions_;
  std::map<std::string, std::string> pointers_, locals_, scalars_;
  std::map<std::string, Called> called_;
  std::set<std::string> encoded_;  // values whose functions stop before E4M3: four of their elements are converted into a word
  std::vector<KernelParameter> parameters_;
  std::vector<std::string> declarations_;
};

std::string word_of(LoadHint hint);
std::string word_of(StoreHint hint);

}  // namespace kiln::generators::cuda
