// Rectangles by WebGL2: one buffer, one instanced call for each clip, nothing blended but what asks for it.

import type { Packed } from "../colour";
import { unpack } from "../colour";
import { type DisplayList, STRIDE } from "../display-list";
import type { Renderer } from "./renderer";

const VERTEX = `#version 300 es
in vec4 place;
in vec4 colour;
uniform vec2 scale;
flat out vec4 ink;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 at = mix(place.xy, place.zw, corner) * scale;
  gl_Position = vec4(at.x - 1.0, 1.0 - at.y, 0.0, 1.0);
  ink = colour;
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
flat in vec4 ink;
out vec4 pixel;
void main() { pixel = ink; }`;

interface Parts {
  readonly program: WebGLProgram;
  readonly buffer: WebGLBuffer;
  readonly array: WebGLVertexArrayObject;
  readonly scale: WebGLUniformLocation | null;
}

function compile(gl: WebGL2RenderingContext): Parts {
  const program = gl.createProgram();
  for (const [type, text] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type);
    if (!shader) throw new Error("WebGL2: no shader");
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.bindAttribLocation(program, 0, "place");
  gl.bindAttribLocation(program, 1, "colour");
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`WebGL2: ${gl.getProgramInfoLog(program) ?? "the program does not link"}`);
  }
  const buffer = gl.createBuffer();
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  for (const place of [0, 1]) {
    gl.enableVertexAttribArray(place);
    gl.vertexAttribDivisor(place, 1);
  }
  return { program, buffer, array, scale: gl.getUniformLocation(program, "scale") };
}

/** Null where the browser has no WebGL2. `lost` and `restored` tell of the context. */
export function webgl(canvas: HTMLCanvasElement, lost: () => void, restored: () => void): Renderer | null {
  const gl = canvas.getContext("webgl2", {
    alpha: false,
    antialias: false,
    depth: false,
    stencil: false,
    preserveDrawingBuffer: false,
  });
  if (!gl) return null;
  let parts: Parts | null;
  try {
    parts = compile(gl);
  } catch {
    return null;
  }
  let room = 0;
  const gone = (event: Event) => {
    // Without this the browser never gives the context back.
    event.preventDefault();
    parts = null;
    lost();
  };
  const back = () => {
    parts = compile(gl);
    room = 0;
    restored();
  };
  canvas.addEventListener("webglcontextlost", gone);
  canvas.addEventListener("webglcontextrestored", back);
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const device = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));

  return {
    kind: "webgl",
    over: null,
    device,
    resize(width, height) {
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
    },
    draw(list: DisplayList, background: Packed) {
      if (!parts || gl.isContextLost()) return;
      const { width, height } = canvas;
      gl.viewport(0, 0, width, height);
      const { r, g, b } = unpack(background);
      gl.disable(gl.SCISSOR_TEST);
      gl.clearColor(r / 255, g / 255, b / 255, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.useProgram(parts.program);
      gl.uniform2f(parts.scale, 2 / width, 2 / height);
      gl.bindVertexArray(parts.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, parts.buffer);
      const words = list.count * STRIDE;
      if (words > room) {
        room = list.words.length;
        gl.bufferData(gl.ARRAY_BUFFER, room * 4, gl.STREAM_DRAW);
      }
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, list.words, 0, words);
      gl.enable(gl.SCISSOR_TEST);
      for (const { clip, blend, first, count } of list.sections) {
        if (count === 0) continue;
        gl.scissor(clip.x, height - clip.y - clip.height, clip.width, clip.height);
        if (blend) {
          gl.enable(gl.BLEND);
          gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        } else gl.disable(gl.BLEND);
        const at = first * STRIDE * 4;
        gl.vertexAttribPointer(0, 4, gl.FLOAT, false, STRIDE * 4, at);
        gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, STRIDE * 4, at + 16);
        gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
      }
    },
    dispose() {
      canvas.removeEventListener("webglcontextlost", gone);
      canvas.removeEventListener("webglcontextrestored", back);
      if (parts) {
        gl.deleteProgram(parts.program);
        gl.deleteBuffer(parts.buffer);
        gl.deleteVertexArray(parts.array);
      }
    },
  };
}
