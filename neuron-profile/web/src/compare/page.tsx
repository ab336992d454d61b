// Several profiles on one page: their timelines under each other, with ranges
// that follow each other, and the comparison of two below. Each profile stands in
// a frame of its own, so that every widget works on each.

import { useEffect, useMemo, useState } from "react";
import { reason } from "../api/client";
import { listProfiles } from "../api/profiles";
import { short } from "../format/words";
import { type Follow, followKey } from "../layout/follow";
import { Button, Check, Select } from "../parts/controls";
import { Notice } from "../parts/notice";
import { useRequest } from "../parts/request";
import { go } from "../router";
import { Comparison } from "../widgets/comparison";

export function ComparePage({ ids }: { ids: string[] }) {
  const list = useRequest("profiles", (signal) => listProfiles(signal));
  const [follow, setFollow] = useState<Follow>(() => (sessionStorage.getItem(followKey) as Follow | null) ?? "relative");
  const [table, setTable] = useState(ids.length === 2);
  const [base, setBase] = useState(ids[0] ?? "");
  useEffect(() => sessionStorage.setItem(followKey, follow), [follow]);
  const known = useMemo(() => new Map((list.data?.profiles ?? []).map((one) => [one.id, one])), [list.data]);
  const name = (id: string) => known.get(id)?.display_name ?? id;
  const found = list.data ? ids.filter((id) => known.has(id)) : ids;
  useEffect(() => {
    document.title = `${ids.map(name).join(" vs ").slice(0, 120)} – neuron-profile`;
  }, [ids, known]);
  const other = found.find((id) => id !== base);
  return (
    <div className="page">
      <header className="topbar">
        <button type="button" className="brand" onClick={() => go("/")} title="All profiles">
          neuron-profile
        </button>
        <span className="profile-name">{short(found.map(name).join(" vs "), 120)}</span>
        <span className="spring" />
        <Select<Follow>
          label="Ranges"
          shown
          value={follow}
          options={[
            { value: "off", text: "each its own" },
            { value: "absolute", text: "the same times" },
            { value: "relative", text: "the same parts" },
          ]}
          onChange={setFollow}
        />
        <Check label="Table of differences" checked={table} onChange={setTable} />
      </header>
      {list.error !== null && <Notice kind="bad">{reason(list.error)}</Notice>}
      {found.length < ids.length && <Notice kind="bad">{ids.length - found.length} of the profiles are not there any more.</Notice>}
      {found.length === 0 && (
        <Notice>
          <p>No profile to show.</p>
          <Button onClick={() => go("/")}>All profiles</Button>
        </Notice>
      )}
      <main className="frames">
        {found.map((id) => (
          <section key={id} aria-label={name(id)}>
            <h2>
              <button type="button" className="link" onClick={() => go(`/profile/${id}`)}>
                {short(name(id), 100)}
              </button>
            </h2>
            <iframe title={`Profile ${name(id)}`} src={`/profile/${encodeURIComponent(id)}#l=Timeline`} />
          </section>
        ))}
        {table && other && base && (
          <section className="differences" aria-label="Differences">
            <div className="toolbar">
              <Select label="Base" shown value={base} options={found.map((id) => ({ value: id, text: name(id) }))} onChange={setBase} />
            </div>
            <Comparison first={base} second={other} names={[name(base), name(other)]} />
          </section>
        )}
      </main>
    </div>
  );
}
