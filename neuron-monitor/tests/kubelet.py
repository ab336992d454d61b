"""A kubelet's pod-resources service, version 1, by gRPC's own library and
messages of the public proto file's fields.

Arguments: the socket, and a JSON array of pods, [{"name", "namespace",
"containers": [{"name", "devices": [{"resource_name", "device_ids"}]}]}]. Says
"ready" once it serves, and ends when stdin does."""

import json
import sys
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

Field = descriptor_pb2.FieldDescriptorProto
file = descriptor_pb2.FileDescriptorProto(name="api.proto", package="v1", syntax="proto3")


def message(name, *fields):
    added = file.message_type.add(name=name)
    for number, (field, kind, repeated) in enumerate(fields, 1):
        label = Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL
        if isinstance(kind, str):
            added.field.add(
                name=field, number=number, label=label, type=Field.TYPE_MESSAGE, type_name=kind
            )
        else:
            added.field.add(name=field, number=number, label=label, type=kind)


# k8s.io/kubelet/pkg/apis/podresources/v1/api.proto
message("ListPodResourcesRequest")
message("ListPodResourcesResponse", ("pod_resources", ".v1.PodResources", True))
message(
    "PodResources",
    ("name", Field.TYPE_STRING, False),
    ("namespace", Field.TYPE_STRING, False),
    ("containers", ".v1.ContainerResources", True),
    ("cpu_ids", Field.TYPE_INT64, True),
    ("memory", ".v1.ContainerMemory", True),
)
message(
    "ContainerResources",
    ("name", Field.TYPE_STRING, False),
    ("devices", ".v1.ContainerDevices", True),
    ("cpu_ids", Field.TYPE_INT64, True),
    ("memory", ".v1.ContainerMemory", True),
)
message(
    "ContainerMemory",
    ("memory_type", Field.TYPE_STRING, False),
    ("size", Field.TYPE_UINT64, False),
    ("topology", ".v1.TopologyInfo", False),
)
message("TopologyInfo", ("nodes", ".v1.NUMANode", True))
message("NUMANode", ("ID", Field.TYPE_INT64, False))
message(
    "ContainerDevices",
    ("resource_name", Field.TYPE_STRING, False),
    ("device_ids", Field.TYPE_STRING, True),
    ("topology", ".v1.TopologyInfo", False),
)
pool = descriptor_pool.DescriptorPool()
pool.Add(file)
get = lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName("v1." + name))

pods = json.loads(sys.argv[2])
for pod in pods:
    for container in pod["containers"]:
        container.setdefault("cpu_ids", [0, 1])
        container.setdefault("memory", [{"memory_type": "memory", "size": 4096}])
        for devices in container["devices"]:
            devices["topology"] = {"nodes": [{"ID": 1}]}
answer = json_format.ParseDict({"pod_resources": pods}, get("ListPodResourcesResponse")())


def list_pods(request, context):
    return answer


handlers = grpc.method_handlers_generic_handler(
    "v1.PodResourcesLister",
    {
        "List": grpc.unary_unary_rpc_method_handler(
            list_pods,
            request_deserializer=get("ListPodResourcesRequest").FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )
    },
)
server = grpc.server(futures.ThreadPoolExecutor(2))
server.add_generic_rpc_handlers((handlers,))
server.add_insecure_port("unix:" + sys.argv[1])
server.start()
print("ready", flush=True)
sys.stdin.read()
server.stop(None)
