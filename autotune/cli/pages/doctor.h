// `kiln doctor`: what this machine can do, what is missing and how to get it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autotune/probe.h"

namespace kiln::autotune::cli {

// A program that something of ours starts.
struct Tool {
  std::string name, path;      // path: empty when it is not there
  std::string apt_package;     // what brings it on Debian
  std::string needed_for;
};

struct Diagnosis {
  Probe machine;
  std::string target;          // Halide's target string for this device
  std::string halide_version, halide_path;  // path: empty when the program does not run with it
  std::vector<std::string> autoschedulers;
  std::string nvrtc_version, nvrtc_path;  // path: empty when it is not there; nothing of a CPU's needs it
  std::string sqlite_version;
  std::filesystem::path store_folder;
  double free_bytes = 0;       // where the store lies
  std::vector<Tool> tools;
  std::vector<std::string> missing;   // each a sentence with the cure; not empty: exit code 3
  std::vector<std::string> warnings;  // what will disturb times or fill the disk
};

// `$PATH` searched for `name`; empty when no executable file is found.
std::string find_program(const std::string& name, const std::string& path);

// The tools that export and loading need, as found along `path`.
std::vector<Tool> find_tools(const std::string& path);

// Fills `missing` and `warnings` from the rest. Pure.
void judge(Diagnosis& diagnosis);

std::string print_diagnosis(const Diagnosis& diagnosis);
std::string diagnosis_json(const Diagnosis& diagnosis);

}  // namespace kiln::autotune::cli
