// What an event waited for, and what waited for it: cards as in the timeline's
// colours, each line a step to the other event.

import type { Dependence, EventDetail } from "../api/types";
import { time } from "../format/number";
import { words } from "../format/words";
import { IconButton } from "../parts/controls";
import { goTo, toast } from "../state/goto";

function name(one: Dependence): string {
  return `${one.pc ?? one.id ?? ""}`;
}

function Card({ title, tip, kind, ends }: { title: string; tip: string; kind: "predecessor" | "successor"; ends: Dependence[] }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(JSON.stringify(ends, null, 2));
      toast("Copied");
    } catch {
      toast("The browser does not let this page copy", true);
    }
  };
  return (
    <section className="card">
      <header>
        <h3 className="tip" title={tip}>
          {title}
        </h3>
        <span className="dim">{ends.length}</span>
        <span className="spring" />
        <IconButton icon="copy" label={`Copy ${title.toLowerCase()} as JSON`} onClick={() => void copy()} />
      </header>
      {ends.length === 0 && <p className="dim">None.</p>}
      <ul className="ends">
        {ends.map((one, i) => (
          <li key={i}>
            <button
              type="button"
              disabled={typeof one.row !== "number"}
              title={typeof one.row === "number" ? "Go to this event" : "This event has no row in the profile"}
              onClick={() => typeof one.row === "number" && void goTo(one.table, one.row)}
            >
              <span className="mono">{name(one)}</span>
              <span>{one.engine ?? one.table}</span>
              <span className="dim">{one.opcode ?? ""}</span>
              <span className="spring" />
              {typeof one.gap_time === "number" && <span className="mono dim">{time(one.gap_time)}</span>}
              <span className={`badge ${kind}`}>{words((one.dependency_type ?? "flow").toLowerCase().replace(/_dependence$/, ""))}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Dependencies({ detail }: { detail: EventDetail }) {
  return (
    <div className="cards">
      <Card title="Predecessor PCs" tip="This event waited for these." kind="predecessor" ends={detail.predecessors} />
      <Card title="Successor PCs" tip="These waited for this event." kind="successor" ends={detail.successors} />
    </div>
  );
}
