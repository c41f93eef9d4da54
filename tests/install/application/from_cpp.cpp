// Views from pointers, exceptions from codes.
#include <iostream>
#include <vector>

#include "night.hpp"

int main() {
  night::library library;
  std::vector<float> x = {1, 2, 3}, y(3);
  const std::vector<float> b = {10, 20, 30};
  night::axpb({x.data(), {3}}, 2, {b.data(), {3}}, {y.data(), {3}});
  std::cout << y[0] << " " << y[2] << "\n";
  const night::axpb_plan plan({x.data(), {2}, {1}}, {b.data(), {2}}, {y.data(), {2}});
  plan.run(x.data(), 3, b.data(), y.data());
  std::cout << y[1] << " tier " << plan.tier() << "\n";
  try {
    night::axpb({x.data(), {3}}, 2, {b.data(), {2}}, {y.data(), {3}});
  } catch (const night::error& error) {
    std::cout << error.code() << " " << error.what() << "\n";
  }
  try {
    std::vector<double> wide(3);
    night::axpb({wide.data(), {3}}, 2, {b.data(), {3}}, {y.data(), {3}});
  } catch (const night::error& error) {
    std::cout << error.code() << " " << error.what() << "\n";
  }
}
