// Events of the visible range as CSV files, one for each kind; and the link to
// what is seen.

import { useState } from "react";
import { getJson, query, reason } from "../api/client";
import { search } from "../api/search";
import type { Fields, Rows, Value } from "../api/types";
import { csv } from "../format/csv";
import { downloadCsv } from "../format/download";
import { count, moment } from "../format/number";
import { Button, Check } from "../parts/controls";
import { Dialog } from "../parts/dialog";
import { useSeen } from "../parts/range";
import { useProfile } from "../state/profile";
import { shared } from "../state/shared";

/** Rows of one file; more are not a table that a person reads. */
const MOST = 200_000;
const PAGE = 1000;

const KINDS = [
  { table: "Instruction", text: "Instructions" },
  { table: "DmaPacket", text: "DMA packets" },
  { table: "SemaphoreUpdate", text: "Semaphores" },
  { table: "PendingDma", text: "Pending DMA" },
  { table: "Error", text: "Errors" },
];

type Told = (rows: number) => void;

/** Events that begin in a range, page by page. */
async function events(id: string, table: string, from: number, to: number, told: Told, signal: AbortSignal): Promise<Fields[]> {
  const rows: Fields[] = [];
  let offset: number | null = 0;
  while (offset !== null && rows.length < MOST) {
    const found = await search(id, { q: "start_ts>=0", tables: [table], from, to, offset, limit: PAGE }, signal);
    rows.push(...found.rows);
    offset = found.next;
    told(rows.length);
  }
  return rows;
}

/** Rows of a table that have a moment in a range. */
async function moments(id: string, table: string, range: [number, number], told: Told, signal: AbortSignal): Promise<Fields[]> {
  const rows: Fields[] = [];
  let from: number | null = 0;
  while (from !== null && rows.length < MOST) {
    const path = `/profiles/${id}/search/${table}${query({ timestamp: range.join(".."), from, limit: 10_000 })}`;
    const found: Rows = await getJson<Rows>(path, signal);
    rows.push(...found.rows);
    from = found.next;
    told(rows.length);
  }
  return rows;
}

/** Events of a page where nothing is said, as of the command. */
const EVENTS = 200_000;

/** The viewer with the profile inside as one file, which needs no server. */
function WholePage({ id }: { id: string }) {
  const { profile, totalNs } = useProfile();
  const seen = useSeen();
  const [part, setPart] = useState(false);
  const many = (profile?.events ?? 0) > EVENTS;
  const range = { from: Math.floor(seen.from), to: Math.min(Math.ceil(seen.to), Math.max(totalNs, 1)) };
  const asked = { ...((part || (many && !seen.whole)) && range), view: window.location.hash.slice(1) };
  return (
    <fieldset className="one-page">
      <legend>One page for others</legend>
      <p className="dim">
        The viewer with this profile inside: a file that works without a server and sends nothing anywhere. Annotations, layouts and attached sources go with it.
        {many && ` Of the ${count(profile?.events ?? 0)} events the first ${count(EVENTS)} ${seen.whole ? "" : "of the visible range "}are in it; neuron-profile export --format html takes more.`}
      </p>
      {!seen.whole && !many && <Check label="Only the events of the visible range" checked={part} onChange={setPart} />}
      <a className="button" download href={`/api/v1/profiles/${encodeURIComponent(id)}/page${query(asked)}`}>
        Save as HTML
      </a>
    </fieldset>
  );
}

export function ExportDialog({ onClose }: { onClose: () => void }) {
  const { id, profile, lanes } = useProfile();
  const seen = useSeen();
  const known = KINDS.filter(({ table }) => profile && table in profile.tables);
  const [chosen, setChosen] = useState<readonly string[]>(["Instruction"]);
  const [state, setState] = useState<string | null>(null);
  const [stop] = useState(() => new AbortController());
  const save = async () => {
    try {
      for (const { table } of known.filter((one) => chosen.includes(one.table))) {
        const told = (rows: number) => setState(`${table}: ${count(rows)} rows`);
        const timed = table === "Instruction" || table === "DmaPacket";
        const found = await (timed ? events(id ?? "", table, seen.from, seen.to, told, stop.signal) : moments(id ?? "", table, [seen.from, seen.to], told, stop.signal));
        const names = [...new Set(found.flatMap((row) => Object.keys(row)))].filter((name) => !["timeline_track", "lane", "table"].includes(name));
        const track = (row: Fields): Value => row.timeline_track ?? (typeof row.lane === "number" ? (lanes[row.lane]?.name ?? "") : table);
        downloadCsv(`${table}.csv`, csv(["timeline_track", ...names], found.map((row) => [track(row), ...names.map((name) => row[name])])));
        if (found.length >= MOST) setState(`${table}: only the first ${count(MOST)} rows; zoom in for the others`);
      }
      setState((before) => (before?.includes("only") ? before : "Saved"));
    } catch (error) {
      setState(reason(error));
    }
  };
  return (
    <Dialog
      title="Save what is seen"
      onClose={() => {
        stop.abort();
        onClose();
      }}
    >
      <p className="dim">
        Events that begin from <span className="mono">{moment(seen.from)}</span> to <span className="mono">{moment(seen.to)}</span>
        {seen.box ? " (the box)" : ""}, one file for each kind.
      </p>
      {known.map(({ table, text }) => (
        <Check key={table} label={`${text} (${table}.csv)`} checked={chosen.includes(table)} onChange={(on) => setChosen(on ? [...chosen, table] : chosen.filter((one) => one !== table))} />
      ))}
      {state && <p role="status">{state}</p>}
      {!shared() && id && <WholePage id={id} />}
      <div className="dialog-foot">
        <Button onClick={() => void navigator.clipboard?.writeText(window.location.href).then(() => setState("The link is copied"), () => setState("The browser does not let this page copy"))} icon="copy">
          Copy the link
        </Button>
        <Button primary icon="download" onClick={() => void save()} disabled={chosen.length === 0}>
          Save
        </Button>
      </div>
    </Dialog>
  );
}
