// Who called an instruction: the functions and the loop iterations of its kernel, and the framework's call that the
// kernel was made for. Each line leads to the source.

import type { CallStack } from "../api/types";
import { short } from "../format/words";
import { openLine } from "../state/code";

type Frame = CallStack["frames"][number];
type Loop = CallStack["loops"][number];

function Place({ at, prefix = "" }: { at: Pick<Loop, "file" | "line">; prefix?: string }) {
  const { file, line } = at;
  if (!file || !line) return file ? <span className="dim mono">{short(file, 100)}</span> : null;
  const place = `${file}:${line}`;
  return (
    <button type="button" className="link mono" title={place} onClick={() => openLine(file, line)}>
      {prefix}
      {short(`${file.split("/").at(-1)}:${line}`, 60)}
    </button>
  );
}

/** A function whose line is not known has the one where it begins. */
function Call({ frame }: { frame: Frame }) {
  const known = typeof frame.line === "number";
  return (
    <li>
      <span className="mono">{short(frame.function ?? "?", 120)}</span>
      <span className="spring" />
      <Place at={known ? frame : { file: frame.file ?? null, line: frame.begins ?? null }} prefix={known ? "" : "begins at "} />
    </li>
  );
}

const iteration = ({ variable, value }: Loop) => `${variable || "?"} = ${value ?? "?"}`;

function Stack({ stack }: { stack: CallStack }) {
  const title = stack.of === "kernel" ? "Kernel" : "Framework";
  return (
    <section className="card" aria-label={`Call stack of the ${stack.of}`}>
      <header>
        <h3>{title}</h3>
        <span className="dim mono">{short(stack.name, 80)}</span>
      </header>
      <ol className="ends calls">
        {stack.frames.map((frame, i) => (
          <Call key={i} frame={frame} />
        ))}
      </ol>
      {stack.loops.length > 0 && (
        <>
          <h4 className="dim">Loop iterations</h4>
          <ol className="ends calls">
            {stack.loops.map((loop, i) => (
              <li key={i}>
                <span className="mono">{short(iteration(loop), 120)}</span>
                <span className="spring" />
                <Place at={loop} />
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

export function CallStacks({ stacks }: { stacks: readonly CallStack[] }) {
  return (
    <div className="cards">
      {stacks.map((stack, i) => (
        <Stack key={i} stack={stack} />
      ))}
    </div>
  );
}
