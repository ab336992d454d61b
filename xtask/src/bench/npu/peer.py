"""The peers of `cargo xtask bench npu`: NumPy and onnxruntime.

Each line of standard input names a case, which is run once and answered by the
nanoseconds it took and those of processors, or by `missing` and the reason. The environment says how
many threads each library takes.
"""

import os
import sys
import time

import numpy as np

THREADS = int(os.environ["NPU_BENCH_THREADS"])
RANDOM = np.random.default_rng(90)


def numbers(*shape):
    return RANDOM.standard_normal(shape, dtype=np.float32) * np.float32(0.3)


def gemm():
    """What the program of records computes: both matrices by rows of k."""
    at, b = numbers(1024, 1024), numbers(1024, 1024)
    return lambda: at.T @ b


class Graph:
    """An ONNX graph as it grows: weights by name, nodes in order."""

    def __init__(self):
        import onnx

        self.onnx = onnx
        self.nodes, self.weights = [], []

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def node(self, kind, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        node = self.onnx.helper.make_node(kind, list(inputs), [name], **attributes)
        self.nodes.append(node)
        return name

    def linear(self, x, inner, outer):
        product = self.node("MatMul", x, self.weight(numbers(inner, outer)))
        return self.node("Add", product, self.weight(numbers(outer)))

    def norm(self, x, size):
        scale, bias = self.weight(np.ones(size, np.float32)), self.weight(numbers(size))
        return self.node("LayerNormalization", x, scale, bias, axis=-1)

    def run(self, rows, columns, result, outer):
        """A function that runs the graph on an input of rows x columns."""
        import onnxruntime

        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self.nodes,
            "graph",
            [helper.make_tensor_value_info("x", kind, [rows, columns])],
            [helper.make_tensor_value_info(result, kind, [rows, outer])],
            self.weights,
        )
        opset = [helper.make_opsetid("", 20)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=10)
        self.onnx.checker.check_model(model)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        x = {"x": numbers(rows, columns)}
        return lambda: session.run(None, x)


def mlp():
    """784-512-512-10 with ReLU, 64 rows."""
    graph = Graph()
    x = graph.node("Relu", graph.linear("x", 784, 512))
    x = graph.node("Relu", graph.linear(x, 512, 512))
    return graph.run(64, 784, graph.linear(x, 512, 10), 10)


def transformer():
    """One block of the size of BERT-tiny: 128 rows, width 128, 2 heads, 512
    inside, exact GELU."""
    rows, width, heads, inside = 128, 128, 2, 512
    graph = Graph()
    split = graph.weight(np.array([rows, heads, width // heads], np.int64))
    whole = graph.weight(np.array([rows, width], np.int64))

    def head(perm):
        parts = graph.node("Reshape", graph.linear("x", width, width), split)
        return graph.node("Transpose", parts, perm=perm)

    query, key, value = head([1, 0, 2]), head([1, 2, 0]), head([1, 0, 2])
    scale = graph.weight(np.float32([(width // heads) ** -0.5]))
    scores = graph.node("Mul", graph.node("MatMul", query, key), scale)
    mixed = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), value)
    mixed = graph.node("Reshape", graph.node("Transpose", mixed, perm=[1, 0, 2]), whole)
    x = graph.norm(graph.node("Add", "x", graph.linear(mixed, width, width)), width)
    hidden = graph.node("Gelu", graph.linear(x, width, inside))
    out = graph.node("Add", x, graph.linear(hidden, inside, width))
    return graph.run(rows, width, graph.norm(out, width), width)


CASES = {"gemm": gemm, "mlp": mlp, "transformer": transformer}


def main():
    ready = {}
    for line in sys.stdin:
        name = line.strip()
        try:
            if name not in ready:
                ready[name] = CASES[name]()
                ready[name]()
            before, start = time.process_time_ns(), time.perf_counter_ns()
            ready[name]()
            wall = time.perf_counter_ns() - start
            print(wall, time.process_time_ns() - before, flush=True)
        except Exception as error:
            print("missing", str(error).splitlines()[0], flush=True)


main()
