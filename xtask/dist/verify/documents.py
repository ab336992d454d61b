"""Checks a bill of materials, a Kubernetes manifest and Dockerfiles by their schemas."""

import sys

import dockerfile_parse
import kubernetes_validate
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

sbom, manifest, *dockerfiles = sys.argv[1:]

with open(sbom, encoding="utf-8") as file:
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
if error is not None:
    sys.exit(f"{sbom}: {error}")
print("ok: the bill of materials follows the schema of CycloneDX 1.6")

version = kubernetes_validate.latest_version()
with open(manifest, encoding="utf-8") as file:
    documents = list(yaml.safe_load_all(file))
for document in documents:
    kubernetes_validate.validate(document, version, strict=True)
print(f"ok: {len(documents)} objects follow the schemas of Kubernetes {version}")

for path in dockerfiles:
    with open(path, "rb") as file:
        parsed = dockerfile_parse.DockerfileParser(fileobj=file)
        steps = [step["instruction"] for step in parsed.structure if step["instruction"] != "COMMENT"]
    known = {"FROM", "COPY", "EXPOSE", "VOLUME", "ENV", "ENTRYPOINT", "CMD", "HEALTHCHECK"}
    if steps[:1] != ["FROM"] or set(steps) - known or "ENTRYPOINT" not in steps:
        sys.exit(f"{path}: {steps}")
    print(f"ok: {path.rsplit('/', 1)[-1]} has {len(steps)} instructions")
