// Profile Comparison: metrics and operators of this profile beside another, with
// the difference.

import { useMemo, useState } from "react";
import { getMetrics, getTree } from "../api/trees";
import { getProfile, listProfiles } from "../api/profiles";
import { go } from "../router";
import { Button, Select, Tabs } from "../parts/controls";
import { Notice } from "../parts/notice";
import { useRequest } from "../parts/request";
import { DataTable } from "../parts/table";
import { useProfile } from "../state/profile";
import { type DiffLine, diffColumns, diffMetrics, diffTrees } from "./diff";
import { Asked } from "../parts/notice";

export function Comparison({ first, second, names }: { first: string; second: string; names: [string, string] }) {
  const [tab, setTab] = useState<"metrics" | "layer" | "operator" | "opcode">("metrics");
  const answer = useRequest(`${first}:${second}:${tab}`, async (signal): Promise<DiffLine[]> => {
    if (tab === "metrics") {
      const whole = async (id: string) => getMetrics(id, { from: 0, to: (await getProfile(id, signal)).total_ns }, signal);
      const [a, b] = await Promise.all([whole(first), whole(second)]);
      return diffMetrics(a.metrics, b.metrics);
    }
    const [a, b] = await Promise.all([first, second].map((id) => getTree(id, tab, null, { limit: 5000 }, signal)));
    return diffTrees(a?.nodes ?? [], b?.nodes ?? []);
  });
  const columns = useMemo(() => diffColumns(names, tab === "metrics"), [names[0], names[1], tab]);
  return (
    <>
      <div className="toolbar">
        <Tabs
          label="What is compared"
          value={tab}
          onChange={setTab}
          options={[
            { value: "metrics", text: "Metrics" },
            { value: "layer", text: "Layers" },
            { value: "operator", text: "Operators" },
            { value: "opcode", text: "Opcodes" },
          ]}
        />
      </div>
      <Asked answer={answer} what="The comparison">
        {(rows) => (
          <DataTable
            key={tab}
            name={`${names[0]} and ${names[1]}`}
            columns={columns}
            rows={rows}
            rowId={(one) => one.id}
            childRows={(one) => one.below}
            open={1}
            {...(tab !== "metrics" && { sort: { id: "size", desc: true } })}
            cell={(column, one) =>
              column.id === "change" && one.below.length === 0 ? (
                <span className={one.delta === null || one.delta === 0 ? "cell-text" : one.delta > 0 ? "cell-text more" : "cell-text less"}>{column.text?.(one.ratio ?? Number.NaN, one)}</span>
              ) : undefined
            }
          />
        )}
      </Asked>
    </>
  );
}

export default function ComparisonWidget() {
  const { id, profile } = useProfile();
  const [other, setOther] = useState("");
  const list = useRequest("profiles", (signal) => listProfiles(signal));
  const others = (list.data?.profiles ?? []).filter((one) => one.id !== id);
  const second = others.find((one) => one.id === other) ?? others[0];
  if (list.data && !second) return <Notice>There is no other profile to compare with. Store one, or upload one in the list of profiles.</Notice>;
  return (
    <>
      <div className="toolbar">
        <Select label="Compare with" shown value={second?.id ?? ""} options={others.map((one) => ({ value: one.id, text: one.display_name }))} onChange={setOther} />
        {second && id && (
          <Button icon="compare" onClick={() => go(`/compare?ids=${id},${second.id}`)}>
            Side by side
          </Button>
        )}
      </div>
      {second && id && <Comparison first={id} second={second.id} names={[profile?.display_name ?? "this", second.display_name]} />}
    </>
  );
}
