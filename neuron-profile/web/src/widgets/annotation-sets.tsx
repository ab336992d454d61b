// Named sets of annotations: saved with the profile, loaded, deleted; as files
// of JSON too.

import { useRef, useState } from "react";
import { reason } from "../api/client";
import { deleteDocument, listDocuments, readDocument, writeDocument } from "../api/documents";
import { downloadJson } from "../format/download";
import { short } from "../format/words";
import { IconButton } from "../parts/controls";
import { AskName, Confirm } from "../parts/dialog";
import { MenuItem, Pop } from "../parts/menu";
import { useRequest } from "../parts/request";
import { useAnnotations } from "../state/annotations";
import { toast } from "../state/goto";
import { CURRENT, currentSet, readSet } from "../state/keep";
import { useProfile } from "../state/profile";

export function AnnotationSets() {
  const { id, profile } = useProfile();
  const [saving, setSaving] = useState(false);
  const [deleting, setDeleting] = useState<string | null>(null);
  const file = useRef<HTMLInputElement>(null);
  const names = useRequest(id, async () => (await listDocuments(id ?? "")).filter((name) => name !== CURRENT));
  const attempt = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work();
      names.reload();
    } catch (error) {
      toast(`${what}: ${reason(error)}`, true);
    }
  };
  const put = (value: unknown, name: string) => {
    const set = readSet(value);
    if (!set) throw new Error("this is not a set of annotations");
    useAnnotations.getState().replace(set.annotations, `load annotations ${name}`);
    useAnnotations.setState({ diff: set.diff ?? {} });
  };
  return (
    <>
      <Pop label="Sets of annotations" text="Sets" icon="list" end={false}>
        {(close) => (
          <div className="menu-scroll">
            {(names.data ?? []).map((name) => (
              <div className="menu-row" key={name}>
                <MenuItem onClick={() => (close(), void attempt("Load", async () => put(await readDocument(id ?? "", name), name)))}>{short(name, 40)}</MenuItem>
                <IconButton icon="trash" label={`Delete set ${name}`} onClick={() => (close(), setDeleting(name))} />
              </div>
            ))}
            {names.data?.length === 0 && <p className="dim small">No saved set yet.</p>}
            {names.error && <p className="bad small">{names.error}</p>}
            <hr />
            <MenuItem onClick={() => (close(), setSaving(true))}>Save as …</MenuItem>
            <MenuItem onClick={() => (close(), downloadJson(`annotations-${profile?.display_name ?? id}.json`, currentSet()))}>Save as a file</MenuItem>
            <MenuItem onClick={() => (close(), file.current?.click())}>Load a file …</MenuItem>
          </div>
        )}
      </Pop>
      <input
        ref={file}
        type="file"
        accept="application/json,.json"
        hidden
        aria-label="File of annotations"
        onChange={(event) => {
          const chosen = event.target.files?.[0];
          event.target.value = "";
          if (chosen) void attempt("Load", async () => put(JSON.parse(await chosen.text()), chosen.name));
        }}
      />
      {saving && <AskName title="Save these annotations" label="Name of the set" action="Save" onDone={(name) => void attempt("Save", () => writeDocument(id ?? "", name, currentSet()))} onClose={() => setSaving(false)} />}
      {deleting && (
        <Confirm title="Delete set" text={`The set "${deleting}" is deleted.`} action="Delete" onDone={() => void attempt("Delete", () => deleteDocument(id ?? "", deleting))} onClose={() => setDeleting(null)} />
      )}
    </>
  );
}
