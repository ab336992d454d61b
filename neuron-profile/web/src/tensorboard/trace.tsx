// A timeline with what was clicked below it: trace and operator-timeline.

import { useEffect, useState } from "react";
import { getEvent } from "../api/profiles";
import { quoted } from "../api/search";
import type { Fields } from "../api/types";
import { short } from "../format/words";
import { IconButton, TextField } from "../parts/controls";
import { Asked } from "../parts/notice";
import { useRequest } from "../parts/request";
import { find, nextMatch, previousMatch } from "../state/find";
import { useProfile } from "../state/profile";
import { useSearch } from "../state/search";
import { type EventRef, useView } from "../state/view";
import { Minimap, Timeline } from "../timeline";

const TABLE = "SystemProfileEvents";

/** What a slice tells of itself, as lines; members of a fused one each on its own. */
export function argumentLines(text: unknown): [string, string[]][] {
  if (typeof text !== "string" || text === "") return [];
  try {
    const args: unknown = JSON.parse(text);
    if (!args || typeof args !== "object" || Array.isArray(args)) return [];
    return Object.entries(args).map(([name, value]) => [name, (typeof value === "string" ? value : JSON.stringify(value)).split(/,?\n/)]);
  } catch {
    return [["args", [text]]];
  }
}

const ns = (value: unknown) => (typeof value === "number" ? `${value.toLocaleString("en-US")} ns` : "–");

function Slice({ event, fields }: { event: EventRef; fields: Fields }) {
  const args = argumentLines(fields.extra_attributes_json);
  return (
    <dl className="tb-slice">
      <dt>Title</dt>
      <dd>{short(typeof fields.name === "string" ? fields.name : event.name, 2000)}</dd>
      <dt>User Friendly Category</dt>
      <dd>other</dd>
      <dt>Start</dt>
      <dd>{ns(event.start)}</dd>
      <dt>Wall Duration</dt>
      <dd>{ns(event.end - event.start)}</dd>
      {args.length > 0 && (
        <>
          <dt className="tb-args">Args</dt>
          <dd />
          {args.map(([name, lines]) => (
            <div key={name} className="tb-arg">
              <dt>{short(name, 100)}</dt>
              <dd>
                {lines.map((line, i) => (
                  <span key={i}>{short(line, 2000)}</span>
                ))}
              </dd>
            </div>
          ))}
        </>
      )}
    </dl>
  );
}

function Panel() {
  const id = useProfile((s) => s.id);
  const focused = useView((s) => s.focused);
  const answer = useRequest(focused ? `${id}:${focused.table}:${focused.row}` : null, (signal) => getEvent(id ?? "", focused?.table ?? "", focused?.row ?? 0, signal));
  if (!focused)
    return (
      <div className="tb-panel">
        <p className="tb-panel-head">
          <b>Nothing selected. Tap stuff.</b>
        </p>
      </div>
    );
  return (
    <div className="tb-panel" role="region" aria-label="Selected slice">
      <p className="tb-panel-head">
        <b>1 item selected.</b> <span className="tb-panel-tab">Slice (1)</span>
      </p>
      <Asked answer={answer} what="The slice">
        {(detail) => <Slice event={focused} fields={detail.fields} />}
      </Asked>
    </div>
  );
}

/** Finds slices by a part of their name. */
function Search() {
  const [text, setText] = useState("");
  const { total, current, status, error } = useSearch();
  useEffect(() => {
    const timer = setTimeout(() => void find(TABLE, text.trim() === "" ? "" : `name~${quoted(text.trim())}`), 200);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <span className="tb-search">
      <TextField label="Search slices" search value={text} onChange={setText} onEnter={() => void nextMatch()} />
      <span className="dim" role="status">
        {status === "failed" ? error : text === "" ? "" : `${current + 1} of ${total}`}
      </span>
      <IconButton icon="left" label="Match before" disabled={current <= 0} onClick={() => void previousMatch()} />
      <IconButton icon="right" label="Next match" disabled={total === 0 || current >= total - 1} onClick={() => void nextMatch()} />
    </span>
  );
}

export function TraceView() {
  const profile = useProfile((s) => s.profile);
  return (
    <div className="tb-trace">
      <div className="toolbar">
        {profile?.simulated && <span className="tag warn">simulated</span>}
        {profile?.notes.slice(0, 3).map((note) => (
          <span key={note} className="tag warn">
            {short(note, 120)}
          </span>
        ))}
        <span className="spring" />
        <Search />
      </div>
      <Minimap />
      <div className="timeline-holder">
        <Timeline />
      </div>
      <Panel />
    </div>
  );
}
