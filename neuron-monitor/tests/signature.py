"""Checks requests that a stand-in for CloudWatch was sent, by botocore: their
signatures, worked out anew, and their bodies, against the service's model.

Reads a JSON array of {"method", "url", "headers", "body"} from stdin; prints
the number of metrics of each request. The secret is in the environment."""

import json
import os
import re
import sys

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.serialize import create_serializer
from botocore.validate import ParamValidator

operation = (
    botocore.session.get_session()
    .get_service_model("cloudwatch")
    .operation_model("PutMetricData")
)
form = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([a-z0-9-]+)/monitoring/aws4_request, ?"
    r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})"
)

for sent in json.load(sys.stdin):
    headers = sent["headers"]
    key, day, region, signed, signature = form.fullmatch(headers["authorization"]).groups()
    names = signed.split(";")
    assert {"host", "x-amz-date", "x-amz-target", "content-type"} <= set(names), names
    token = headers.get("x-amz-security-token")
    assert token is None or "x-amz-security-token" in names
    request = AWSRequest(
        method=sent["method"],
        url=sent["url"],
        headers={name: headers[name] for name in names},
        data=sent["body"].encode(),
    )
    request.context["timestamp"] = headers["x-amz-date"]
    assert headers["x-amz-date"].startswith(day)
    auth = SigV4Auth(Credentials(key, os.environ["SECRET"], token), "monitoring", region)
    text = auth.string_to_sign(request, auth.canonical_request(request))
    assert auth.signature(text, request) == signature, text

    parameters = json.loads(sent["body"])
    report = ParamValidator().validate(parameters, operation.input_shape)
    assert not report.has_errors(), report.generate_report()
    theirs = create_serializer("json").serialize_to_request(parameters, operation)
    assert json.loads(theirs["body"]) == parameters
    for name, value in theirs["headers"].items():
        assert headers[name.lower()] == value, name
    assert len(parameters["MetricData"]) <= 1000 and len(sent["body"]) <= 1_000_000
    print(len(parameters["MetricData"]))
