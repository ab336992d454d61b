// Code Editor: the sources of the program, what each line costs, and the way
// between lines and events in both directions.

import { useEffect, useMemo, useState } from "react";
import { getEvent } from "../api/profiles";
import { type SourceFile, listSources, locations, readSource, sourceLines, storeSource } from "../api/sources";
import { bytes, count, flops, time } from "../format/number";
import { short } from "../format/words";
import { Button, Check } from "../parts/controls";
import { Asked, Notice } from "../parts/notice";
import { useSeen } from "../parts/range";
import { useRequest } from "../parts/request";
import { DataTable } from "../parts/table";
import { reason } from "../api/client";
import { showLines, useCode } from "../state/code";
import { toast } from "../state/goto";
import { useFound } from "../state/find";
import { useProfile } from "../state/profile";
import { useView } from "../state/view";
import { Editor } from "./editor";

/** Asks for a file of this machine and stores it under the name that instructions have for it. */
async function attach(id: string, name: string, files: FileList | null, done: () => void) {
  const file = files?.[0];
  if (!file) return;
  try {
    await storeSource(id, name, await file.text());
    done();
  } catch (error) {
    toast(`${file.name}: ${reason(error)}`, true);
  }
}

function Files({ files, current, onChoose }: { files: readonly SourceFile[]; current: string | null; onChoose: (name: string) => void }) {
  return (
    <nav className="files" aria-label="Source files">
      {files.map((file) => (
        <button key={file.name} type="button" aria-current={file.name === current} className="file" onClick={() => onChoose(file.name)} title={`${file.name}\n${file.stored ? bytes(file.bytes) : "not attached"}`}>
          <span>{short(file.name.split("/").pop() ?? file.name, 40)}</span>
          <span className="dim">{file.stored ? `${count(file.count)} × ${time(file.busy_ns)}` : "not attached"}</span>
        </button>
      ))}
    </nav>
  );
}

/** Lines of the focused event, and of what it depends on. */
function useMarks(file: string | null): { clicked: number[]; related: number[] } {
  const id = useProfile((s) => s.id);
  const focused = useView((s) => s.focused);
  const answer = useRequest(file && focused?.table === "Instruction" ? `${id}/${focused.row}/${file}` : null, async (signal) => {
    const event = await getEvent(id ?? "", "Instruction", focused?.row ?? 0, signal);
    const ends = [...event.predecessors, ...event.successors].filter((one) => one.table === "Instruction" && typeof one.row === "number").slice(0, 16);
    const others = await Promise.all(ends.map((one) => getEvent(id ?? "", "Instruction", one.row ?? 0, signal)));
    const of = (value: unknown) => locations(value).filter((one) => one.file === file).map((one) => one.line);
    return { clicked: of(event.fields.nki_source_location), related: others.flatMap((one) => of(one.fields.nki_source_location)) };
  });
  return answer.data ?? { clicked: [], related: [] };
}

export default function Code() {
  const { id } = useProfile();
  const code = useCode();
  const seen = useSeen();
  const [follow, setFollow] = useState(true);
  const files = useRequest(id, (signal) => listSources(id ?? "", signal));
  const current = code.file ?? files.data?.find((one) => one.stored)?.name ?? files.data?.[0]?.name ?? null;
  const known = files.data?.find((one) => one.name === current);
  const text = useRequest(known?.stored && current ? `${id}/${current}` : null, (signal) => readSource(id ?? "", current ?? "", signal));
  const range = follow && !seen.whole ? { from: seen.from, to: seen.to } : null;
  const lines = useRequest(current ? `${id}/${current}:${range ? `${range.from}-${range.to}` : "all"}` : null, (signal) => sourceLines(id ?? "", current ?? "", range, signal), 120);
  const marks = useMarks(current);
  const metrics = useMemo(() => new Map((lines.data ?? []).map((one) => [one.line, one])), [lines.data]);
  const found = useFound((s) => s.found);

  useEffect(() => {
    const zoom = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || !event.shiftKey || event.key.toLowerCase() !== "g") return;
      event.preventDefault();
      zoomToFound();
    };
    window.addEventListener("keydown", zoom);
    return () => window.removeEventListener("keydown", zoom);
  }, []);

  const choose = (lineNumbers: readonly number[]) => current && void showLines(current, lineNumbers);
  return (
    <Asked answer={files} what="The sources">
      {(list) =>
        list.length === 0 ? (
          <Notice>No instruction of this profile names a source line, and no source is attached.</Notice>
        ) : (
          <div className="code">
            <Files files={list} current={current} onChoose={(name) => useCode.setState({ file: name, line: null, selected: [] })} />
            <div className="code-main">
              <div className="toolbar">
                <span className="mono dim" title={current ?? ""}>{short(current ?? "", 70)}</span>
                <span className="spring" />
                <Check label="Visible range only" checked={follow} onChange={setFollow} />
                <Button icon="zoom" disabled={!found || code.selected.length === 0} onClick={zoomToFound} title="Ctrl and Shift and G">
                  Zoom to the events
                </Button>
                <label className="button">
                  {known?.stored ? "Replace …" : "Attach …"}
                  <input type="file" hidden onChange={(event) => void attach(id ?? "", current ?? "", event.target.files, () => (files.reload(), text.reload()))} />
                </label>
              </div>
              {known?.stored ? (
                <Asked answer={text} what="The source">
                  {(source) => <Editor key={current} name={current ?? ""} text={source} metrics={metrics} clicked={marks.clicked} related={marks.related} selected={code.selected} goTo={code.line} turn={code.turn} onLines={choose} />}
                </Asked>
              ) : (
                <Asked answer={lines} what="The lines">
                  {(rows) => (
                    <>
                      <Notice>
                        <span>
                          The text of this file is not attached. Attach it above, or store the profile with <code>--nki-source-root</code>. What is known of its lines:
                        </span>
                      </Notice>
                      <DataTable
                        name={`Lines of ${current ?? ""}`}
                        columns={[
                          { id: "line", title: "Line", value: (one) => one.line, right: true, width: 70 },
                          { id: "count", title: "Instructions", value: (one) => one.count, text: count, right: true, sum: true },
                          { id: "busy_ns", title: "Busy", value: (one) => one.busy_ns, text: (v) => time(v), right: true, sum: true },
                          { id: "time_ns", title: "Sum of lengths", value: (one) => one.time_ns, text: (v) => time(v), right: true, sum: true },
                          { id: "flops", title: "FLOPs", value: (one) => one.flops, text: flops, right: true, sum: true, width: 100 },
                          { id: "engines", title: "Engines", value: (one) => Object.keys(one.engines).join(", "), width: 220 },
                        ]}
                        rows={rows}
                        rowId={(one) => String(one.line)}
                        selected={code.selected.length > 0 ? String(code.selected[0]) : null}
                        onPick={(one) => choose([one.line])}
                        sort={{ id: "line", desc: false }}
                      />
                    </>
                  )}
                </Asked>
              )}
            </div>
          </div>
        )
      }
    </Asked>
  );
}

/** Zooms to what the lines' events span. */
function zoomToFound() {
  const statistics = useFound.getState().found?.statistics;
  if (statistics && statistics.start_ns !== null && statistics.end_ns !== null) useView.getState().zoomTo(statistics.start_ns, statistics.end_ns, { record: true });
}
