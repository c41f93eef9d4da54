# Plain Python: buffers from the standard library, no numpy.
import array
import json
import sys
import threading

sys.path.insert(0, sys.argv[1])
import night

night.load(threads=2, fallback=night.ALLOW)
x, b, y = array.array("f", [1, 2, 3]), memoryview(array.array("f", [10, 20, 30])), array.array("f", [0, 0, 0])
night.axpb(x, 2.0, b, y)
print(list(y))

plan = night.axpb.plan(x, b, y)
plan.run(x, 3.0, b, y)
print(plan.tier, plan.variant, list(y))

rows = memoryview(bytearray(4 * 5)).cast("h")  # ten 16-bit numbers
grid = memoryview(bytes(range(24))).cast("h", [2, 6])
out, total = memoryview(bytearray(16)).cast("h", [2, 4]), memoryview(bytearray(16)).cast("i")
night.blur(grid, out, total)
print(out.tolist() == [[sum(grid[r, c + i] for i in range(3)) for c in range(4)] for r in range(2)], total.tolist()[0] == out[0, 0] + out[1, 0])

for wrong in (lambda: night.axpb(array.array("d", [1, 2, 3]), 2.0, b, y), lambda: night.axpb(x, 2.0, b, array.array("f", [0, 0]))):
    try:
        wrong()
    except night.Error as error:
        print(error.code, error)
try:
    night.axpb(x, 2.0, b, bytes(12))  # an output that may not be written
except BufferError:
    print("read-only")
try:
    night.axpb(x, b, y)
except TypeError as error:
    print(error)

results = []


def call():
    mine = array.array("f", [0, 0, 0])
    for _ in range(100):
        night.axpb(x, 2.0, b, mine)
    results.append(list(mine))


threads = [threading.Thread(target=call) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results == [[12.0, 24.0, 36.0]] * 4)
print(night.supports("matmul", 131, 7, 5), json.loads(night.manifest())["set"])
night.unload()
