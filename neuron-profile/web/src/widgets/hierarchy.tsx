// Hierarchy: layers over time, one row for each level; linked with the timeline
// by range, and with the operators by search.

import { type ComponentProps, useMemo, useState } from "react";
import { queryText } from "../api/search";
import { type LayerBar, getLayers, wholeNs } from "../api/trees";
import { colourOf } from "../format/colour";
import { moment, percent, time } from "../format/number";
import { short } from "../format/words";
import { Bars } from "../parts/bars";
import { Button, IconButton, Select } from "../parts/controls";
import { Asked, Notice } from "../parts/notice";
import { useRequest } from "../parts/request";
import { find } from "../state/find";
import { useProfile } from "../state/profile";
import { useResting } from "../state/resting";
import { useView } from "../state/view";

/** Bars that move with the view, with nothing else around them. */
function MovingBars(props: Omit<ComponentProps<typeof Bars>, "from" | "to">) {
  const from = useView((s) => s.from);
  const to = useView((s) => s.to);
  return <Bars {...props} from={from} to={to} />;
}

/** Makes what is seen so many times as long. */
function zoom(factor: number) {
  const { from, to, zoomTo } = useView.getState();
  const [middle, half] = [(from + to) / 2, ((to - from) * factor) / 2];
  zoomTo(middle - half, middle + half, { record: true });
}

export default function Hierarchy() {
  const { id, lanes } = useProfile();
  const resting = useResting();
  const [lane, setLane] = useState("");
  const [marked, setMarked] = useState<readonly string[]>([]);
  const range = wholeNs(resting);
  const answer = useRequest(
    `${id}:${range.from}-${range.to}:${lane}`,
    (signal) => getLayers(id ?? "", range, 1000, lane === "" ? undefined : [Number(lane)], signal),
    100,
  );
  const known = useMemo(() => new Map<string, LayerBar>(), [answer.data]);
  const rows = useMemo(() => {
    const cores = new Set((answer.data?.rows ?? []).map((row) => row.core)).size;
    return (answer.data?.rows ?? []).map((row, i) => ({
      label: `${row.depth === 0 ? "Model" : `Level ${row.depth}`}${cores > 1 ? ` (nc${row.core})` : ""}`,
      bars: row.bars.map((bar, n) => {
        const key = `${i}/${n}`;
        known.set(key, bar);
        return { from: bar.from, to: bar.to, name: bar.name === "" ? "(no layer)" : bar.name, colour: colourOf(bar.path), key, marked: marked.includes(bar.path) };
      }),
    }));
  }, [answer.data, marked]);
  const view = useView.getState();
  const engines = lanes.filter((one) => one.kind === "engine");
  return (
    <>
      <div className="toolbar">
        <Select
          label="Engine"
          value={lane}
          options={[{ value: "", text: "All engines" }, ...engines.map((one) => ({ value: String(one.number), text: `${one.name} (nc${one.core})` }))]}
          onChange={setLane}
        />
        <IconButton icon="plus" label="Zoom in" onClick={() => zoom(1 / 2)} />
        <IconButton icon="minus" label="Zoom out" onClick={() => zoom(2)} />
        <IconButton icon="fit" label="Whole profile" onClick={() => view.fit()} />
        {marked.length > 0 && (
          <Button onClick={() => (setMarked([]), void find("Instruction", ""))}>Unmark {marked.length}</Button>
        )}
        {answer.data?.cut && <span className="tag warn">too many layers to show all; zoom in</span>}
      </div>
      <Asked answer={answer} what="The layers">
        {() =>
          rows.length === 0 ? (
            <Notice>No instruction in this range names a layer.</Notice>
          ) : (
            <MovingBars
              label="Layers over time"
              rows={rows}
              axis={(value) => Math.round(value).toLocaleString("en-US")}
              onZoom={(a, b, record) => view.zoomTo(a, b, { record })}
              onPick={(bar) => {
                const found = known.get(bar.key);
                if (found) void find("Instruction", queryText([{ field: "layer", operator: "~", value: found.path }], "AND"));
              }}
              onMenu={(bar) => {
                const path = known.get(bar.key)?.path;
                if (path === undefined) return;
                const next = marked.includes(path) ? marked.filter((one) => one !== path) : [...marked, path];
                setMarked(next);
                void find("Instruction", queryText(next.map((value) => ({ field: "layer", operator: "~" as const, value })), "OR"));
              }}
              tell={(bar) => {
                const found = known.get(bar.key);
                return (
                  <dl>
                    <div><dt>Name</dt><dd>{short(found?.path || bar.name, 300)}</dd></div>
                    <div><dt>Time</dt><dd>{moment(bar.from)} – {moment(bar.to)}</dd></div>
                    <div><dt>Duration</dt><dd>{time(bar.to - bar.from)}</dd></div>
                    <div><dt>Busy</dt><dd>{time(found?.busy_ns)} ({percent((found?.busy_ns ?? 0) / Math.max(1, bar.to - bar.from))})</dd></div>
                  </dl>
                );
              }}
            />
          )
        }
      </Asked>
    </>
  );
}
