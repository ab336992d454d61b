// The list of profiles: search, tags, rename, delete, upload, open several.

import { useEffect, useMemo, useState } from "react";
import { ApiError, reason, useServer } from "../api/client";
import { listen } from "../api/jobs";
import { changeProfile, deleteProfile, listProfiles } from "../api/profiles";
import type { Entry } from "../api/types";
import { bytes, count, time } from "../format/number";
import { short } from "../format/words";
import { nextTheme } from "../layout/theme";
import { Button, Check, IconButton } from "../parts/controls";
import { AskName, Confirm } from "../parts/dialog";
import { Notice } from "../parts/notice";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { go } from "../router";
import { toast, useToast } from "../state/goto";
import { FolderDialog, Shelves } from "./shelves";
import { type Shelf, foldersOf, isFavourite, onShelf, plainTags, recentIds, withFavourite, withPlain } from "./folders";
import { Jobs, useJobs } from "./jobs";
import { UploadDialog } from "./upload";

const base = (path: string) => path.split("/").pop() ?? path;
const when = (ns: number) => new Date(ns / 1e6).toISOString().slice(0, 16).replace("T", " ");

const columns: Col<Entry>[] = [
  { id: "tick", title: "", value: () => null, width: 34 },
  { id: "display_name", title: "Name", value: (one) => one.display_name, width: 250 },
  { id: "actions", title: "", value: () => null, width: 150 },
  { id: "tags", title: "Tags", value: (one) => plainTags(one).join(", "), width: 110 },
  { id: "folders", title: "Folders", value: (one) => foldersOf(one).join(", "), width: 90 },
  { id: "type", title: "Type", value: (one) => (one.system ? "system" : "device"), width: 70 },
  { id: "total_ns", title: "Length", value: (one) => one.total_ns, text: (v) => time(v), right: true, width: 90 },
  { id: "events", title: "Events", value: (one) => one.events, text: count, right: true, width: 100 },
  { id: "bytes", title: "Size", value: (one) => one.bytes, text: bytes, right: true, width: 90, sum: true },
  { id: "written_at_ns", title: "Stored (UTC)", value: (one) => one.written_at_ns, text: when, width: 130 },
  { id: "neff", title: "NEFF", value: (one) => base(one.neff), width: 120 },
  { id: "trace", title: "Trace", value: (one) => base(one.trace), width: 120 },
  { id: "execution", title: "Execution", value: (one) => one.execution, right: true, width: 80, hidden: true },
  { id: "id", title: "Id", value: (one) => one.id, width: 300, hidden: true },
];

/** Asked for: a new name, new tags, a deletion. */
type Asking = { what: "name" | "tags"; entry: Entry } | { what: "delete" | "folder"; entries: Entry[] } | { what: "upload"; files: File[] } | null;

/** Says of each deletion that failed why; the others are done. */
async function deleteAll(entries: readonly Entry[]): Promise<void> {
  const results = await Promise.allSettled(entries.map((one) => deleteProfile(one.id)));
  const failed = results.flatMap((one, i) => (one.status === "rejected" && !(one.reason instanceof ApiError && one.reason.status === 404) ? [`${entries[i]?.display_name}: ${reason(one.reason)}`] : []));
  if (failed.length > 0) toast(failed.join("; "), true);
}

/** Counts up when the server tells that profiles changed. */
function useChanges(): number {
  const [turn, setTurn] = useState(0);
  useEffect(
    () =>
      listen({
        hello: () => setTurn((n) => n + 1),
        profiles: () => setTurn((n) => n + 1),
        job: (job) => useJobs.getState().put(job),
      }),
    [],
  );
  return turn;
}

export function ManagerPage() {
  const turn = useChanges();
  const list = useRequest(`profiles ${turn}`, (signal) => listProfiles(signal));
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const [asking, setAsking] = useState<Asking>(null);
  const [over, setOver] = useState(false);
  const [shelf, setShelf] = useState<Shelf>({ what: "all" });
  const away = useServer((s) => s.away);
  const message = useToast();
  const all = list.data?.profiles ?? [];
  const profiles = useMemo(() => onShelf(list.data?.profiles ?? [], shelf, recentIds()), [list.data, shelf]);
  const chosen = profiles.filter((one) => ticked.includes(one.id));
  useEffect(() => {
    document.title = "Profiles – neuron-profile";
    void useJobs.getState().refresh();
  }, []);
  const change = async (entry: Entry, to: { display_name?: string; tags?: string[] }) => {
    try {
      await changeProfile(entry.id, to);
      list.reload();
    } catch (error) {
      toast(reason(error), true);
    }
  };
  const tick = (id: string, on: boolean) => setTicked(on ? [...ticked, id] : ticked.filter((one) => one !== id));
  const allTicked = useMemo(() => profiles.length > 0 && profiles.every((one) => ticked.includes(one.id)), [profiles, ticked]);
  const dropped = (files: FileList) => setAsking({ what: "upload", files: [...files] });
  return (
    <div
      className={over ? "page over" : "page"}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => event.currentTarget === event.target && setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        dropped(event.dataTransfer.files);
      }}
    >
      <header className="topbar">
        <span className="brand">neuron-profile</span>
        <h1 className="profile-name">Profiles</h1>
        <span className="spring" />
        {away && (
          <span className="tag bad" role="alert">
            The server is away. Trying again …
          </span>
        )}
        <Button primary icon="upload" onClick={() => setAsking({ what: "upload", files: [] })}>
          Upload
        </Button>
        <IconButton icon="theme" label="Dark, light, or as the system" onClick={nextTheme} />
      </header>
      <main className="manager">
        <Jobs />
        {list.data?.damaged.map((text) => (
          <Notice key={text} kind="bad">
            {short(text, 1000)}
          </Notice>
        ))}
        {list.error !== null ? (
          <Notice kind="bad">
            <p>The profiles: {list.error}</p>
            <Button icon="reload" onClick={list.reload}>
              Try again
            </Button>
          </Notice>
        ) : list.data && all.length === 0 ? (
          <Notice>
            <p>No profile is stored yet.</p>
            <p>Drop a NEFF and its NTFF here, or store one:</p>
            <code>neuron-profile view -n FILE.neff -s FILE.ntff --ingest-only</code>
          </Notice>
        ) : (
          <div className="shelved">
          <Shelves profiles={all} shelf={shelf} onChoose={setShelf} />
          <DataTable
            name="Profiles"
            columns={columns}
            rows={profiles}
            rowId={(one) => one.id}
            onPick={(one) => go(`/profile/${one.id}`)}
            sort={{ id: "written_at_ns", desc: true }}
            empty={list.loading ? "Loading …" : "No profile here."}
            tools={
              <>
                <Check label="All" checked={allTicked} onChange={(on) => setTicked(on ? profiles.map((one) => one.id) : [])} />
                <Button icon="compare" disabled={chosen.length < 2} title="Tick two or more" onClick={() => go(`/compare?ids=${chosen.map((one) => one.id).join(",")}`)}>
                  {chosen.length > 2 ? `Open ${chosen.length} together` : "Compare"}
                </Button>
                <Button icon="folder" disabled={chosen.length === 0} onClick={() => setAsking({ what: "folder", entries: chosen })}>
                  Folder
                </Button>
                <Button icon="trash" disabled={chosen.length === 0} onClick={() => setAsking({ what: "delete", entries: chosen })}>
                  Delete
                </Button>
              </>
            }
            cell={(column, one) => {
              switch (column.id) {
                case "tick":
                  return (
                    <span onClick={(event) => event.stopPropagation()} onKeyDown={(event) => event.stopPropagation()} role="presentation">
                      <Check bare label={`Tick ${one.display_name}`} checked={ticked.includes(one.id)} onChange={(on) => tick(one.id, on)} />
                    </span>
                  );
                case "display_name":
                  return (
                    <a
                      className="cell-text"
                      href={`/profile/${one.id}`}
                      onClick={(event) => {
                        // A click with a key, or of the middle, is the browser's.
                        event.stopPropagation();
                        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                        event.preventDefault();
                        go(`/profile/${one.id}`);
                      }}
                    >
                      {short(one.display_name, 120)}
                      {one.simulated && <span className="tag warn">simulated</span>}
                    </a>
                  );
                case "tags":
                  return (
                    <span className="tags">
                      {plainTags(one).map((tag) => (
                        <span key={tag} className="tag">
                          {short(tag, 30)}
                        </span>
                      ))}
                    </span>
                  );
                case "actions":
                  return (
                    <span className="row-actions" onClick={(event) => event.stopPropagation()} onKeyDown={(event) => event.stopPropagation()} role="presentation">
                      <IconButton icon="star" label={isFavourite(one) ? `${one.display_name} is a favourite` : `Make ${one.display_name} a favourite`} pressed={isFavourite(one)} onClick={() => void change(one, { tags: withFavourite(one, !isFavourite(one)) })} />
                      <IconButton icon="folder" label={`Folders of ${one.display_name}`} onClick={() => setAsking({ what: "folder", entries: [one] })} />
                      <IconButton icon="pencil" label={`Rename ${one.display_name}`} onClick={() => setAsking({ what: "name", entry: one })} />
                      <IconButton icon="list" label={`Tags of ${one.display_name}`} onClick={() => setAsking({ what: "tags", entry: one })} />
                      <IconButton icon="trash" label={`Delete ${one.display_name}`} onClick={() => setAsking({ what: "delete", entries: [one] })} />
                    </span>
                  );
                default:
                  return undefined;
              }
            }}
          />
          </div>
        )}
      </main>
      {asking?.what === "name" && (
        <AskName title="Rename profile" label="Name" action="Rename" initial={asking.entry.display_name} maxLength={150} onDone={(display_name) => void change(asking.entry, { display_name })} onClose={() => setAsking(null)} />
      )}
      {asking?.what === "tags" && (
        <AskName
          title="Tags"
          label="Tags, with commas between"
          action="Save"
          initial={plainTags(asking.entry).join(", ")}
          maxLength={2000}
          onDone={(text) => void change(asking.entry, { tags: withPlain(asking.entry, text.split(",").map((one) => one.trim()).filter((one) => one !== "")) })}
          onClose={() => setAsking(null)}
        />
      )}
      {asking?.what === "delete" && (
        <Confirm
          title={asking.entries.length === 1 ? "Delete profile" : `Delete ${asking.entries.length} profiles`}
          text={`${asking.entries.slice(0, 8).map((one) => `"${short(one.display_name, 60)}"`).join(", ")}${asking.entries.length > 8 ? " …" : ""}: the data, tags and annotations are removed. This cannot be undone.`}
          action="Delete"
          onDone={() => void deleteAll(asking.entries).then(() => (setTicked([]), list.reload()))}
          onClose={() => setAsking(null)}
        />
      )}
      {asking?.what === "folder" && <FolderDialog entries={asking.entries} all={all} onChange={(entry, tags) => change(entry, { tags })} onClose={() => setAsking(null)} />}
      {asking?.what === "upload" && <UploadDialog initial={asking.files} onClose={() => setAsking(null)} />}
      {over && <div className="drop-here">Drop a NEFF and its NTFF</div>}
      {message.text && (
        <div className={message.bad ? "toast bad" : "toast"} role={message.bad ? "alert" : "status"}>
          {message.text}
        </div>
      )}
    </div>
  );
}
