// The text of a ring kernel, part by part: what is constant, who copies, who multiplies, how results leave.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "generators/cuda/emit/functions.h"
#include "generators/cuda/emit/lines.h"
#include "generators/cuda/emit/ring.h"

namespace kiln::generators::cuda {

class RingKernel {
 public:
  RingKernel(const RingPlan& plan, const std::string& name);

  KernelText emit();

 private:
  const Computation& computation() const { return plan_.computation; }
  const Operand& stored() const { return plan_.output(); }
  bool is_split() const { return plan_.parts > 1; }
  bool has_roles() const { return plan_.consumers > 1; }  // registers go from who copies to who multiplies
  int sums_of_an_instruction() const { return plan_.q.rows() / 2; }  // of a thread

  // ---- kernel.cpp
  void declare_maps();
  bool is_copied(int operand) const;
  void declare_operands();
  void declare_lengths();
  void write_function();
  std::string constants() const;
  std::string place_function() const;
  void prologue();
  void parameter(KernelParameter::Kind kind, int place, const std::string& declaration);
  std::string signature() const;

  // ---- copy.cpp
  void copy();
  void copy_step();
  void copy_side(const RingSide& side, const std::string& letter, const std::string& at);
  void copy_matrix(const RingSide& side, int product, const std::string& letter, std::string to);

  // ---- multiply.cpp
  void multiply();
  void multiply_tile();
  void step();
  void promoted_step();
  void groups_one_by_one();
  void two_groups_at_once();
  void multiply_group(const std::string& part, const std::string& line, const std::string& high);
  void add_group(const std::string& part, const std::string& high);
  void clear_sums();
  void next_stage();
  std::string instruction() const;
  void release(const std::string& condition);
  std::string sums(const std::string& high, const std::string& index) const;  // a thread's, as the text names them
  std::string descriptor(const RingSide& side, const std::string& base) const;
  std::string offset_of_rows(const RingSide& side, const std::string& rows_by_64) const;
  std::string offset_of_instruction() const;   // `high` of those below each other

  // ---- parts.cpp
  void share_sums();
  void gather_sums();

  // ---- store.cpp
  void store_tile();
  void store_chunk();
  void define_pair();
  void fill_buffer();
  void fill_by_pairs();
  std::string line_offset(const std::string& line, const std::string& piece) const;  // swizzled

  // ---- value.cpp
  bool needs(const std::string& word) const;   // "row", "column": whether an element's value asks where it is
  void prefetch_operands();
  void read_operands();
  std::string value(int odd) const;            // of element `odd` of a pair
  std::string argument(const Expression& leaf, int odd) const;
  std::string sum_of(std::size_t product, int odd) const;
  std::string element_operand(const Operand& one, int odd) const;
  bool comes_in_pairs(const Operand& one) const;

  const RingPlan& plan_;
  const RingMap map_;
  std::string name_;
  Lines lines_{1};
  Identifiers identifiers_;
  Functions functions_;
  std::vector<std::string> maps_;                     // identifiers, as the plan's maps: the output's last
  std::map<std::string, std::string> pointers_, scalars_;
  Called value_;
  std::vector<KernelParameter> parameters_;
  std::vector<std::string> declarations_;
};

}  // namespace kiln::generators::cuda
