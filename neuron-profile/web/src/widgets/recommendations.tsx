// Recommendations: what limits the profile by the rules of the server, the
// heaviest first, each with its figure, advice, and the events that show it.

import { type Finding, getFindings } from "../api/findings";
import { percent, quantity } from "../format/number";
import { short, words } from "../format/words";
import { Icon } from "../parts/icons";
import { Asked, Notice } from "../parts/notice";
import { useRequest } from "../parts/request";
import { eventRef } from "../api/events";
import { goTo } from "../state/goto";
import { useProfile } from "../state/profile";
import { useView } from "../state/view";

const EVENTS = new Set(["Instruction", "DmaPacket"]);

function Evidence({ finding }: { finding: Finding }) {
  const lanes = useProfile((s) => s.lanes);
  if (finding.evidence.length === 0) return null;
  return (
    <details>
      <summary>
        Evidence: {finding.evidence.length} rows of {finding.table}
      </summary>
      <ul className="evidence">
        {finding.evidence.map((one) => {
          const text = Object.entries(one.fields).map(([name, value]) => `${words(name)}: ${typeof value === "number" ? value.toLocaleString("en-US") : short(String(value), 60)}`);
          const start = one.fields.start_ts;
          const end = one.fields.end_ts;
          const timed = typeof start === "number" && typeof end === "number";
          return (
            <li key={`${one.table}/${one.row}`}>
              {EVENTS.has(one.table) || timed ? (
                <button
                  type="button"
                  className="link"
                  onClick={() => {
                    if (EVENTS.has(one.table)) void goTo(one.table, one.row);
                    else if (timed) useView.getState().zoomTo(start, end, { record: true });
                  }}
                  onMouseEnter={() => timed && useView.getState().hover(eventRef(lanes, one.table, one.row, one.fields))}
                  onMouseLeave={() => useView.getState().hover(null)}
                >
                  {one.table} {one.row}
                </button>
              ) : (
                <span className="mono">
                  {one.table} {one.row}
                </span>
              )}
              <span className="dim">{text.join(", ")}</span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

export default function Recommendations() {
  const id = useProfile((s) => s.id);
  const answer = useRequest(id, (signal) => getFindings(id ?? "", signal));
  if (answer.status === 404) return <Notice>This server has no rules: its version does not answer for findings.</Notice>;
  return (
    <Asked answer={answer} what="The recommendations">
      {(findings) =>
        findings.length === 0 ? (
          <Notice>No rule found anything that limits this profile.</Notice>
        ) : (
          <div className="findings" role="list">
            {findings.map((one, i) => (
              <article key={`${one.rule}/${i}`} className={`finding ${one.severity}`} role="listitem">
                <header>
                  <Icon name="spark" />
                  <strong>{one.sentence}</strong>
                  <span className="spring" />
                  <span className="tag">{one.severity}</span>
                </header>
                <p>{one.advice}</p>
                {one.trade_off && <p className="dim">{one.trade_off}</p>}
                <dl className="figures">
                  <div>
                    <dt>{words(one.figure)}</dt>
                    <dd>{quantity(one.value, one.unit)}</dd>
                  </div>
                  <div>
                    <dt>Limit</dt>
                    <dd>
                      {one.side} {quantity(one.threshold, one.unit)}
                    </dd>
                  </div>
                  <div>
                    <dt>At stake</dt>
                    <dd>{percent(one.weight)}</dd>
                  </div>
                  {typeof one.speedup === "number" && (
                    <div>
                      <dt>Faster at most</dt>
                      <dd>{one.speedup.toFixed(2)} ×</dd>
                    </div>
                  )}
                </dl>
                <Evidence finding={one} />
              </article>
            ))}
          </div>
        )
      }
    </Asked>
  );
}
