// A client of the daemon with Node's gRPC and the published names: a session,
// a group, a model, inferences by three styles, the end.
//
// usage: node client.mjs MODULES PROTO ADDRESS NEFF
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import assert from "node:assert/strict";

const [modules, proto, address, path] = process.argv.slice(2);
const require = createRequire(modules + "/");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const options = { keepCase: true, longs: Number, enums: Number, defaults: true, includeDirs: [proto] };
const { nrt } = grpc.loadPackageDefinition(loader.loadSync("nmgr.proto", options));
const unlimited = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
const credentials = grpc.credentials.createInsecure();
const manager = new nrt.nmgr_session_manager(address, credentials, unlimited);
const client = new nrt.nmgr_v1(address, credentials, unlimited);
const call = (name, request) => promisify(client[name].bind(client))(request);
const good = (answer) => {
  assert.equal(answer.status.code, 0, answer.status.details.toString());
  return answer;
};

const session = manager.session_monitor();
const hello = await new Promise((resolve, reject) => {
  session.once("data", resolve);
  session.once("error", reject);
});
assert.equal(hello.session_id, 1);

const group = good(await call("create_eg", { nc_count: 1, session_id: hello.session_id })).h_eg;
const neff = readFileSync(path);
const model = await new Promise((resolve, reject) => {
  const load = client.load((error, answer) => (error ? reject(error) : resolve(good(answer).h_nn)));
  load.write({ h_eg: group });
  load.write({ session_id: hello.session_id });
  load.write({ neff_size: neff.length });
  load.write({ model_params: { timeout: { data: 10 }, ninfer: { data: 2 } } });
  load.write({ neff_chunk: { chunk: neff } });
  load.end();
});
good(await call("start", { h_nn: model }));
const request = (byte) => ({ h_nn: model, ifmap: [{ name: "x", buf: Buffer.alloc(64, byte) }] });
const outputs = (answer) => good(answer).ofmap.map((io) => [io.name, io.buf.toString("hex")]);
const wanted = (byte) => [["y", Buffer.alloc(64, byte).toString("hex")]];
assert.deepEqual(outputs(await call("infer", request(1))), wanted(1));
const { cookie } = good(await call("infer_post", request(2)));
assert.deepEqual(outputs(await call("infer_wait", { cookie })), wanted(2));
assert.equal((await call("infer_wait", { cookie })).status.code, 3);
const short = await call("infer", { h_nn: model, ifmap: [{ name: "x", buf: Buffer.alloc(3) }] });
assert.equal(short.status.code, 1002);
assert.match(short.status.details.toString(), /Invalid data length for \[x\], received 3/);

const stream = new nrt.nmgr_stream(address, credentials, unlimited).infer_stream();
const answers = [];
stream.on("data", (answer) => answers.push(outputs(answer)));
for (const byte of [3, 4]) {
  const before = answers.length;
  stream.write(request(byte));
  while (answers.length === before) await new Promise((resolve) => setTimeout(resolve, 2));
}
stream.end();
assert.deepEqual(answers, [wanted(3), wanted(4)]);

good(await call("unload", { h_nn: model }));
good(await call("destroy_eg", { h_eg: group }));
session.end();
await new Promise((resolve) => session.once("end", resolve).resume());
console.log("grpc-js done");
process.exit(0);
