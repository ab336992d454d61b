"""A client of the daemon made of the published method and field tables
(neuron-rtd.md sections 1.2 and 1.3) and of grpcio, and of nothing of ours.

usage: client.py ADDRESS NEFF
"""

import mmap
import os
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# name: type = number; a star repeats, a slash begins a oneof
TABLE = """
status | code int32 1; details bytes 2
version | full_version string 1; major_num uint32 2; minor_num uint32 3
u32 | data uint32 1
empty |
h_nn | id uint32 1
h_eg | id uint32 1
model_params | timeout u32 1; ninfer u32 2; enable_tracing u32 3; io_data_host u32 4; fmap_in_huge_tlb u32 5; enable_node_profiling u32 6
file_chunk | chunk bytes 1
load_request / content | h_eg h_eg 1; model_params model_params 2; neff_size uint64 3; neff_chunk file_chunk 4; neff_file string 5; session_id uint64 6
load_response | status status 1; h_nn h_nn 2
unload_request | h_nn h_nn 1
unload_response | status status 1
start_request | h_nn h_nn 1
start_response | status status 1
stop_request | h_nn h_nn 1
stop_response | status status 1
shared_mem_buf | path string 1
infer_io / data | buf bytes 1; buf_shm shared_mem_buf 2; - name string 3
infer_request | h_nn h_nn 1; ifmap infer_io* 2; shm_ofmap infer_io* 3; loop_end_value uint32 4
infer_wait_request | cookie uint64 1; shm_ofmap infer_io* 2
infer_response | status status 1; ofmap infer_io* 3
infer_post_response | status status 1; cookie uint64 2
infer_check_completion_request | cookie uint64* 1
infer_check_completion_response | status status 1; cookie uint64* 2
create_eg_request | nc_count uint32 1; session_id uint64 2
create_eg_response | status status 1; h_eg h_eg 2; nc_count uint32 3
destroy_eg_request | h_eg h_eg 1
destroy_eg_response | status status 1
eg_info | eg h_eg 1; vnc_start_index uint32 2; nc_count uint32 3; mla_start_index uint32 4; nc_start_index uint32 5
out_list_egs | eg_info eg_info* 1; mla_count uint32 2; nc_count uint32 3; status status 4
hugetlb_shm | path string 1; size uint32 2
shm_map_request / data | path string 1; path_hugetlb hugetlb_shm 3; - mmap_prot uint32 2; - session_id uint64 4
shm_map_response | status status 1
shm_unmap_request | path string 1; mmap_prot uint32 2
shm_unmap_response | status status 1
infer_status_counts | infer_status uint32 1; count uint32 2
nmgr_counters | infer_status_counts infer_status_counts* 2; infer_queue_drop_count uint64 3; infer_count uint64 4; model_start_count uint64 5; model_stop_count uint64 6; model_load_count uint64 7; model_unload_count uint64 8
read_inference_counters_response | nmgr_counters nmgr_counters 1
get_version_request | framework_name string 1; framework_version version 2; fal_version version 3
get_version_response | runtime_version version 1
session_monitor_request | framework_name string 1; framework_version version 2; fal_version version 3
session_monitor_response | session_id uint64 1; runtime_version version 2
"""

# section 1.10
GOLDEN = [
    ("create_eg_request", dict(nc_count=2, session_id=5), "08021005"),
    ("create_eg_response", dict(status={}, h_eg=dict(id=1), nc_count=2), "0a00120208011802"),
    ("load_request", dict(h_eg=dict(id=1)), "0a020801"),
    ("load_request", dict(session_id=5), "3005"),
    ("load_request", dict(neff_size=1048577), "18818040"),
    ("load_request", dict(neff_chunk=dict(chunk=b"abc")), "22050a03616263"),
    ("load_response", dict(status={}, h_nn=dict(id=10001)), "0a00120308914e"),
    ("start_request", dict(h_nn=dict(id=10001)), "0a0308914e"),
    ("start_request", dict(h_nn={}), "0a00"),
    ("infer_post_response", dict(status={}, cookie=1), "0a001001"),
    ("shm_map_request", dict(path="/a", mmap_prot=3, session_id=5), "0a022f6110032005"),
]


def messages():
    """The classes of the messages, by name."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="tables.proto", package="nrt", syntax="proto3")
    for row in TABLE.strip().splitlines():
        head, fields = row.split("|")
        head = [word.strip() for word in head.split("/")]
        message = file.message_type.add(name=head[0])
        if len(head) == 2:
            message.oneof_decl.add(name=head[1])
        for text in filter(str.strip, fields.split(";")):
            words = text.split()
            member = len(head) == 2 and words[0] != "-"
            name, kind, number = words[-3:]
            entry = message.field.add(name=name, number=int(number))
            repeated = kind.endswith("*")
            entry.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
            kind = kind.rstrip("*")
            scalar = getattr(field, "TYPE_" + kind.upper(), None)
            if scalar is None:
                entry.type, entry.type_name = field.TYPE_MESSAGE, ".nrt." + kind
            else:
                entry.type = scalar
            if member:
                entry.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = {}
    for message in file.message_type:
        kind = pool.FindMessageTypeByName("nrt." + message.name)
        found[message.name] = message_factory.GetMessageClass(kind)
    return found


M = messages()


def main(address, path):
    for name, fields, wanted in GOLDEN:
        assert M[name](**fields).SerializeToString().hex() == wanted, name
    channel = grpc.insecure_channel(
        address, options=[("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
    )

    def call(method, request, response=None, service="nmgr_v1"):
        kinds = {
            "list_egs": "out_list_egs",
            "infer": "infer_response",
            "infer_post": "infer_post_response",
            "infer_wait": "infer_response",
            "infer_poll": "infer_response",
        }
        response = response or kinds.get(method, method + "_response")
        unary = channel.unary_unary(
            "/nrt.%s/%s" % (service, method),
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=M[response].FromString,
        )
        answer = unary(request, timeout=60)
        if hasattr(answer, "status"):
            assert answer.HasField("status"), method
        return answer

    def good(answer):
        assert answer.status.code == 0, (answer.status.code, answer.status.details)
        return answer

    def monitor(requests):
        stream = channel.stream_stream(
            "/nrt.nmgr_session_manager/session_monitor",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=M["session_monitor_response"].FromString,
        )
        return stream(requests)

    # health and reflection, by their published numbers: status 1 is SERVING
    raw = dict(request_serializer=bytes, response_deserializer=bytes)
    health = channel.unary_unary("/grpc.health.v1.Health/Check", **raw)
    assert health(b"\x0a\x0bnrt.nmgr_v1", timeout=60) == b"\x08\x01"
    for version in ("v1", "v1alpha"):
        method = "/grpc.reflection.%s.ServerReflection/ServerReflectionInfo" % version
        answers = channel.stream_stream(method, **raw)(iter([b"\x3a\x01*"]), timeout=60)
        services = b"".join(answers)
        for name in (b"nrt.nmgr_v1", b"nrt.nmgr_session_manager", b"nrt.nmgr_stream"):
            assert name in services, services

    # the probe: reads before anything is written, then ends
    probe = monitor(iter([]))
    assert next(probe).session_id == 1
    assert list(probe) == []
    # the session: one message, then open for the life of the process
    import queue

    pending = queue.Queue()
    pending.put(M["session_monitor_request"](framework_name="TENSORFLOW"))
    session = monitor(iter(pending.get, None))
    hello = next(session)
    assert hello.session_id == 2, hello
    assert hello.runtime_version.full_version
    assert call("get_version", M["get_version_request"]()).runtime_version.full_version

    group = good(call("create_eg", M["create_eg_request"](nc_count=1, session_id=2)))
    assert (group.h_eg.id, group.nc_count) == (1, 1)
    neff = open(path, "rb").read()

    def upload():
        yield M["load_request"](h_eg=group.h_eg)
        yield M["load_request"](session_id=2)
        yield M["load_request"](neff_size=len(neff))
        params = M["model_params"](timeout=M["u32"](data=10), ninfer=M["u32"](data=2))
        yield M["load_request"](model_params=params)
        for start in range(0, len(neff), 1 << 20):
            chunk = M["file_chunk"](chunk=neff[start : start + (1 << 20)])
            yield M["load_request"](neff_chunk=chunk)

    load = channel.stream_unary(
        "/nrt.nmgr_v1/load",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=M["load_response"].FromString,
    )
    model = good(load(upload(), timeout=60)).h_nn
    assert model.id == 10001
    good(call("start", M["start_request"](h_nn=model)))
    # the ping: any code, but an answer
    assert call("start", M["start_request"](h_nn=M["h_nn"]())).status.code == 3

    def request(data, **more):
        ifmap = [M["infer_io"](name="x", buf=data)]
        return M["infer_request"](h_nn=model, ifmap=ifmap, **more)

    answer = good(call("infer", request(b"\1" * 64)))
    assert [(io.name, io.buf) for io in answer.ofmap] == [("y", b"\1" * 64)]
    cookies = [good(call("infer_post", request(bytes([n]) * 64))).cookie for n in (2, 3)]
    wait = M["infer_wait_request"]
    assert good(call("infer_wait", wait(cookie=cookies[1]))).ofmap[0].buf == b"\3" * 64
    check = M["infer_check_completion_request"](cookie=cookies[:1])
    assert list(good(call("infer_check_completion", check)).cookie) == cookies[:1]
    assert good(call("infer_poll", wait(cookie=cookies[0]))).ofmap[0].buf == b"\2" * 64
    assert call("infer_wait", wait(cookie=cookies[0])).status.code == 3
    # a NaN: the outputs come with code 1003
    answer = call("infer", request(b"\xff" * 64))
    assert answer.status.code == 1003 and answer.ofmap[0].buf == b"\xff" * 64
    answer = call("infer", request(b"short"))
    assert answer.status.code == 1002 and b"Invalid data length" in answer.status.details

    # shared memory, its name removed right after it was mapped
    maps = {}
    for name in ("in", "out"):
        shm = "/aws_neuron_runtime_%d_%s" % (os.getpid(), name)
        file = os.open("/dev/shm" + shm, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        os.ftruncate(file, 4096)
        maps[name] = (shm, mmap.mmap(file, 4096))
        good(call("shm_map", M["shm_map_request"](path=shm, mmap_prot=3, session_id=2)))
        os.unlink("/dev/shm" + shm)
    maps["in"][1][:64] = b"\7" * 64
    buf = lambda name: M["shared_mem_buf"](path=maps[name][0])
    out = [M["infer_io"](name="y", buf_shm=buf("out"))]
    ifmap = [M["infer_io"](name="x", buf_shm=buf("in"))]
    posted = M["infer_request"](h_nn=model, ifmap=ifmap, shm_ofmap=out)
    cookie = good(call("infer_post", posted)).cookie
    answer = good(call("infer_wait", wait(cookie=cookie, shm_ofmap=out)))
    assert len(answer.ofmap) == 0 and maps["out"][1][:64] == b"\7" * 64
    for shm, _ in maps.values():
        good(call("shm_unmap", M["shm_unmap_request"](path=shm, mmap_prot=3)))

    counters = call("read_inference_counters", M["empty"]()).nmgr_counters
    counts = {row.infer_status: row.count for row in counters.infer_status_counts}
    assert (counts[0], counts[1], counts[3]) == (4, 1, 1), counts
    listed = call("list_egs", M["empty"]())
    assert (listed.mla_count, listed.nc_count, len(listed.eg_info)) == (4, 16, 1)
    good(call("stop", M["stop_request"](h_nn=model)))
    good(call("unload", M["unload_request"](h_nn=model)))
    good(call("destroy_eg", M["destroy_eg_request"](h_eg=group.h_eg)))
    assert call("unload_all", M["empty"](), "status").code == 0
    pending.put(None)
    assert list(session) == []
    print("grpcio", grpc.__version__, "done")


main(*sys.argv[1:])
