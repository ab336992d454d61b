"""A gRPC server whose one method gives back what it got, and its client.

usage: echo.py serve ADDRESS
       echo.py call ADDRESS   reads counts of calls, writes their microseconds
"""

import sys
import time
from concurrent import futures

import grpc

METHOD = "/nrt.nmgr_v1/infer"
# as many bytes as the request of the null model has
REQUEST = bytes(80)


def serve(address):
    handler = grpc.unary_unary_rpc_method_handler(lambda request, context: request)
    service = grpc.method_handlers_generic_handler("nrt.nmgr_v1", {"infer": handler})
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    server.add_generic_rpc_handlers((service,))
    server.add_insecure_port(address)
    server.start()
    server.wait_for_termination()


def call(address):
    channel = grpc.insecure_channel(address)
    echo = channel.unary_unary(METHOD)
    assert echo(REQUEST, wait_for_ready=True) == REQUEST
    print("ready", flush=True)
    for line in sys.stdin:
        micros = []
        for _ in range(int(line)):
            start = time.perf_counter_ns()
            echo(REQUEST)
            micros.append((time.perf_counter_ns() - start) / 1000)
        print(*micros, flush=True)


{"serve": serve, "call": call}[sys.argv[1]](sys.argv[2])
