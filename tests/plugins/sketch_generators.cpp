// Pipelines of the shapes that spaces must be derived for: stencils in a graph, pyramids, scans, tables, several outputs, chains around a product.
#include <Halide.h>

namespace {

using namespace Halide;

// Corners: two gradients, three products, three box sums, one response.
class HarrisLike : public Generator<HarrisLike> {
 public:
  Input<Buffer<float, 3>> input{"input"};
  Output<Buffer<float, 2>> output{"output"};
  void generate() {
    Var x("x"), y("y");
    Func gray("gray"), ix("ix"), iy("iy"), ixx("ixx"), iyy("iyy"), ixy("ixy"), sxx("sxx"), syy("syy"), sxy("sxy");
    // The output's corner lies two pixels inside the input.
    gray(x, y) = 0.299f * input(x + 2, y + 2, 0) + 0.587f * input(x + 2, y + 2, 1) + 0.114f * input(x + 2, y + 2, 2);
    iy(x, y) = gray(x - 1, y + 1) - gray(x - 1, y - 1) + 2.0f * (gray(x, y + 1) - gray(x, y - 1)) + gray(x + 1, y + 1) - gray(x + 1, y - 1);
    ix(x, y) = gray(x + 1, y - 1) - gray(x - 1, y - 1) + 2.0f * (gray(x + 1, y) - gray(x - 1, y)) + gray(x + 1, y + 1) - gray(x - 1, y + 1);
    ixx(x, y) = ix(x, y) * ix(x, y);
    iyy(x, y) = iy(x, y) * iy(x, y);
    ixy(x, y) = ix(x, y) * iy(x, y);
    sxx(x, y) = box(ixx, x, y);
    syy(x, y) = box(iyy, x, y);
    sxy(x, y) = box(ixy, x, y);
    const Expr trace = sxx(x, y) + syy(x, y);
    output(x, y) = sxx(x, y) * syy(x, y) - sxy(x, y) * sxy(x, y) - 0.04f * trace * trace;
    input.set_estimates({{0, 772}, {0, 516}, {0, 3}});
    output.set_estimates({{0, 768}, {0, 512}});
  }

 private:
  static Expr box(const Func& f, const Var& x, const Var& y) {
    Expr sum = 0.0f;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) sum += f(x + dx, y + dy);
    }
    return sum;
  }
};

// Nine taps down, then across, edges repeated.
class BlurTwice : public Generator<BlurTwice> {
 public:
  Input<Buffer<uint8_t, 2>> input{"input"};
  Output<Buffer<uint8_t, 2>> output{"output"};
  void generate() {
    Var x("x"), y("y");
    const Func bounded = BoundaryConditions::repeat_edge(input);
    Func down("down"), across("across");
    Expr columns = cast<uint16_t>(0), rows = cast<uint16_t>(0);
    for (int i = -2; i <= 2; ++i) columns += cast<uint16_t>(bounded(x, y + i));
    down(x, y) = columns;
    for (int i = -2; i <= 2; ++i) rows += down(x + i, y) / cast<uint16_t>(5);
    across(x, y) = rows;
    output(x, y) = cast<uint8_t>(across(x, y) / cast<uint16_t>(5));
    input.set_estimates({{0, 640}, {0, 480}});
    output.set_estimates({{0, 640}, {0, 480}});
  }
};

// Two levels down and up again, the detail of each added back.
class PyramidDetail : public Generator<PyramidDetail> {
 public:
  Input<Buffer<float, 2>> input{"input"};
  Output<Buffer<float, 2>> output{"output"};
  void generate() {
    const Func level0 = BoundaryConditions::mirror_image(input);
    Func level1("level1"), level2("level2"), up1("up1"), up0("up0"), base("base");
    base(x, y) = level0(x, y);
    down(level1, base);
    down(level2, level1);
    up1(x, y) = level1(x, y) + 0.5f * up(level2);
    up0(x, y) = base(x, y) - up(level1) + up(up1);
    output(x, y) = up0(x, y);
    input.set_estimates({{0, 640}, {0, 480}});
    output.set_estimates({{0, 640}, {0, 480}});
  }

 private:
  void down(Func& coarse, const Func& fine) const {
    coarse(x, y) = 0.25f * (fine(2 * x, 2 * y) + fine(2 * x + 1, 2 * y) + fine(2 * x, 2 * y + 1) + fine(2 * x + 1, 2 * y + 1));
  }
  Expr up(const Func& coarse) const { return 0.5f * (coarse(x / 2, y / 2) + coarse((x + 1) / 2, (y + 1) / 2)); }
  Var x{"x"}, y{"y"};
};

// A histogram, its running sum, and every pixel looked up in it.
class Equalise : public Generator<Equalise> {
 public:
  Input<Buffer<uint8_t, 2>> input{"input"};
  Output<Buffer<uint8_t, 2>> output{"output"};
  void generate() {
    Var x("x"), y("y"), i("i");
    RDom r(0, input.width(), 0, input.height(), "r"), b(1, 255, "b");
    Func histogram("histogram"), running("running"), table("table");
    histogram(i) = 0;
    histogram(cast<int>(input(r.x, r.y))) += 1;
    running(i) = histogram(i);
    running(b) += running(b - 1);
    running(i) = min(running(i), input.width() * input.height());
    table(i) = cast<uint8_t>(255.0f * cast<float>(running(i)) / cast<float>(input.width() * input.height()));
    output(x, y) = table(cast<int>(input(x, y)));
    input.set_estimates({{0, 640}, {0, 480}});
    output.set_estimates({{0, 640}, {0, 480}});
  }
};

// A picture and the sums of its columns, both from one stage between.
class PictureAndSums : public Generator<PictureAndSums> {
 public:
  Input<Buffer<float, 3>> input{"input"};
  Output<Buffer<float, 3>> picture{"picture"};
  Output<Buffer<float, 1>> sums{"sums"};
  void generate() {
    Var x("x"), y("y"), c("c");
    Func gamma("gamma"), luma("luma");
    gamma(x, y, c) = sqrt(abs(input(x, y, c)));
    luma(x, y) = (gamma(x, y, 0) + gamma(x, y, 1) + gamma(x, y, 2)) / 3.0f;
    picture(x, y, c) = gamma(x, y, c) / (luma(x, y) + 0.1f);
    RDom r(0, input.dim(1).extent(), "r");
    sums(x) = 0.0f;
    sums(x) += luma(x, r);
    input.set_estimates({{0, 320}, {0, 240}, {0, 3}});
    picture.set_estimates({{0, 320}, {0, 240}, {0, 3}});
    sums.set_estimates({{0, 320}});
  }
};

// A recursive filter, down and up the columns.
class Recursive : public Generator<Recursive> {
 public:
  Input<Buffer<float, 2>> input{"input"};
  Output<Buffer<float, 2>> output{"output"};
  void generate() {
    Var x("x"), y("y");
    const Expr height = input.height();
    RDom r(1, height - 1, "r");
    Func filtered("filtered");
    filtered(x, y) = input(x, y);
    filtered(x, r) = 0.3f * filtered(x, r) + 0.7f * filtered(x, r - 1);
    const Expr back = height - 1 - r;
    filtered(x, back) = 0.3f * filtered(x, back) + 0.7f * filtered(x, back + 1);
    output(x, y) = filtered(x, y) * 0.5f;
    input.set_estimates({{0, 640}, {0, 480}});
    output.set_estimates({{0, 640}, {0, 480}});
  }
};

// silu(a) * b, then rounded to eight bits: three stages in a chain.
class GateChain : public Generator<GateChain> {
 public:
  Input<Buffer<float, 2>> a{"a"};
  Input<Buffer<float, 2>> b{"b"};
  Output<Buffer<int8_t, 2>> output{"output"};
  void generate() {
    Var n("n"), m("m");
    Func silu("silu"), gated("gated");
    silu(n, m) = a(n, m) / (1.0f + exp(-a(n, m)));
    gated(n, m) = silu(n, m) * b(n, m);
    output(n, m) = cast<int8_t>(clamp(round(gated(n, m) * 16.0f), -127.0f, 127.0f));
    a.set_estimates({{0, 1024}, {0, 256}});
    b.set_estimates({{0, 1024}, {0, 256}});
    output.set_estimates({{0, 1024}, {0, 256}});
  }
};

// Each row of A divided by its largest element and rounded, times B.
class QuantisedProduct : public Generator<QuantisedProduct> {
 public:
  Input<Buffer<float, 2>> A{"A"};
  Input<Buffer<int8_t, 2>> B{"B"};
  Output<Buffer<float, 2>> output{"output"};
  void generate() {
    Var n("n"), m("m"), k("k");
    RDom r(0, A.dim(0).extent(), "r"), s(0, A.dim(0).extent(), "s");
    Func largest("largest"), quantised("quantised"), product("product");
    largest(m) = 1e-6f;
    largest(m) = max(largest(m), abs(A(r, m)));
    quantised(k, m) = cast<int8_t>(round(A(k, m) * 127.0f / largest(m)));
    product(n, m) = 0;
    product(n, m) += cast<int32_t>(quantised(s, m)) * cast<int32_t>(B(n, s));
    output(n, m) = cast<float>(product(n, m)) * largest(m) / 127.0f;
    A.set_estimates({{0, 512}, {0, 256}});
    B.set_estimates({{0, 384}, {0, 512}});
    output.set_estimates({{0, 384}, {0, 256}});
  }
};

// A product that is itself the output: nothing is read from it.
class BareProduct : public Generator<BareProduct> {
 public:
  Input<Buffer<float, 2>> A{"A"};
  Input<Buffer<float, 2>> B{"B"};
  Output<Buffer<float, 2>> C{"C"};
  void generate() {
    Var n("n"), m("m");
    RDom k(0, A.dim(0).extent(), "k");
    C(n, m) = 0.0f;
    C(n, m) += A(k, m) * B(n, k);
    A.set_estimates({{0, 256}, {0, 256}});
    B.set_estimates({{0, 256}, {0, 256}});
    C.set_estimates({{0, 256}, {0, 256}});
  }
};

// Channels lie together, as files have them: the innermost loop is shorter than a vector.
class Interleaved : public Generator<Interleaved> {
 public:
  Input<Buffer<uint8_t, 3>> input{"input"};
  Output<Buffer<uint8_t, 3>> output{"output"};
  void generate() {
    Var c("c"), x("x"), y("y");
    Func wide("wide");
    wide(c, x, y) = cast<uint16_t>(input(c, x, y)) * cast<uint16_t>(3);
    output(c, x, y) = cast<uint8_t>((wide(c, x, y) + wide(c, x, y)) / cast<uint16_t>(7));
    input.dim(0).set_stride(1);
    input.set_estimates({{0, 3}, {0, 640}, {0, 480}});
    output.set_estimates({{0, 3}, {0, 640}, {0, 480}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(HarrisLike, harris_like)
HALIDE_REGISTER_GENERATOR(BlurTwice, blur_twice)
HALIDE_REGISTER_GENERATOR(PyramidDetail, pyramid_detail)
HALIDE_REGISTER_GENERATOR(Equalise, equalise)
HALIDE_REGISTER_GENERATOR(PictureAndSums, picture_and_sums)
HALIDE_REGISTER_GENERATOR(Recursive, recursive)
HALIDE_REGISTER_GENERATOR(GateChain, gate_chain)
HALIDE_REGISTER_GENERATOR(QuantisedProduct, quantised_product)
HALIDE_REGISTER_GENERATOR(BareProduct, bare_product)
HALIDE_REGISTER_GENERATOR(Interleaved, interleaved)
