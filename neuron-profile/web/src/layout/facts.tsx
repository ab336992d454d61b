// What a profile is: files, times, programs, the NEFF's header.

import { getRows } from "../api/profiles";
import type { Fields } from "../api/types";
import { bytes, count, quantity, time } from "../format/number";
import { short, words } from "../format/words";
import { useRequest } from "../parts/request";
import { useProfile } from "../state/profile";

function List({ title, fields }: { title: string; fields: Fields }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className="facts">
        {Object.entries(fields).map(([name, value]) => (
          <div key={name}>
            <dt>{words(name)}</dt>
            <dd>{value === null || value === "" ? "–" : short(typeof value === "string" ? value : JSON.stringify(value), 400)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function ProfileFacts() {
  const { profile, tables } = useProfile();
  const header = useRequest(profile ? profile.id : null, async (signal) => {
    const has = (name: string) => profile && name in profile.tables;
    const first = async (name: string) => (has(name) && profile ? (await getRows(profile.id, name, 0, 1, signal)).rows[0] : undefined);
    return { neff: await first("NeffHeader"), meta: await first("Metadata") };
  });
  if (!profile) return null;
  const without = (row: Fields | undefined, table: string): Fields => {
    const columns = tables.find((one) => one.name === table)?.columns ?? [];
    const shown = Object.entries(row ?? {}).filter(([name, value]) => name !== "row" && value !== null);
    return Object.fromEntries(
      shown.map(([name, value]) => [name, typeof value === "number" ? quantity(value, columns.find((c) => c.name === name)?.unit) : value]),
    );
  };
  return (
    <>
      <List
        title="Profile"
        fields={{
          id: profile.id,
          name: profile.display_name,
          tags: profile.tags.join(", "),
          neff: profile.neff,
          trace: profile.trace,
          simulated: profile.simulated ? "yes" : "no",
          execution: profile.execution,
          length: time(profile.total_ns),
          events: count(profile.events),
          size_on_disk: bytes(profile.bytes),
          stored: new Date(profile.written_at_ns / 1e6).toLocaleString(),
          written_by: profile.written_by,
        }}
      />
      {header.data?.neff && <List title="NEFF" fields={without(header.data.neff, "NeffHeader")} />}
      {header.data?.meta && <List title="Hardware and programs" fields={without(header.data.meta, "Metadata")} />}
    </>
  );
}
