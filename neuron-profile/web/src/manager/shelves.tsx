// The side of the list of profiles: all, favourites, those seen last, folders;
// and the dialog that puts profiles into folders.

import { useState } from "react";
import type { Entry } from "../api/types";
import { count } from "../format/number";
import { short } from "../format/words";
import { Button, Check } from "../parts/controls";
import { Dialog } from "../parts/dialog";
import { LETTERS, type Shelf, folders, foldersOf, isFavourite, recentIds, withFolder } from "./folders";

export function Shelves({ profiles, shelf, onChoose }: { profiles: readonly Entry[]; shelf: Shelf; onChoose: (shelf: Shelf) => void }) {
  const recent = recentIds().filter((id) => profiles.some((one) => one.id === id)).length;
  const item = (to: Shelf, text: string, of: number) => {
    const on = shelf.what === to.what && (to.what !== "folder" || (shelf.what === "folder" && shelf.name === to.name));
    return (
      <button key={`${to.what}/${text}`} type="button" className={on ? "shelf on" : "shelf"} aria-current={on} onClick={() => onChoose(to)}>
        <span className="shelf-name">{short(text, 40)}</span>
        <span className="dim">{count(of)}</span>
      </button>
    );
  };
  const own = folders(profiles);
  return (
    <nav className="shelves" aria-label="Shelves">
      {item({ what: "all" }, "All", profiles.length)}
      {item({ what: "favourites" }, "Favourites", profiles.filter(isFavourite).length)}
      {item({ what: "recent" }, "Recently viewed", recent)}
      {own.length > 0 && <h2 className="dim">Folders</h2>}
      {own.map(([name, of]) => item({ what: "folder", name }, name, of))}
    </nav>
  );
}

interface Props {
  entries: readonly Entry[];
  all: readonly Entry[];
  onChange: (entry: Entry, tags: string[]) => Promise<void>;
  onClose: () => void;
}

/** Puts profiles into folders and takes them out. A folder is there as long as something is in it. */
export function FolderDialog({ entries, all, onChange, onClose }: Props) {
  const before = (name: string) => entries.every((one) => foldersOf(one).includes(name));
  const [names, setNames] = useState(() => folders(all).map(([name]) => name));
  const [wanted, setWanted] = useState<Record<string, boolean>>(() => Object.fromEntries(names.map((name) => [name, before(name)])));
  const [fresh, setFresh] = useState("");
  const name = fresh.trim();
  const add = () => {
    if (name === "") return;
    if (!names.includes(name)) setNames([...names, name]);
    setWanted({ ...wanted, [name]: true });
    setFresh("");
  };
  const save = async () => {
    for (const entry of entries) {
      const tags = names.reduce<Entry>((one, folder) => (wanted[folder] === before(folder) ? one : { ...one, tags: withFolder(one, folder, wanted[folder] === true) }), entry).tags;
      if (tags !== entry.tags) await onChange(entry, tags);
    }
    onClose();
  };
  return (
    <Dialog title={entries.length === 1 ? "Folders of the profile" : `Folders of ${entries.length} profiles`} onClose={onClose}>
      {names.length === 0 && <p className="dim">There is no folder yet.</p>}
      {names.map((folder) => (
        <Check key={folder} label={short(folder, 60)} checked={wanted[folder] === true} onChange={(on) => setWanted({ ...wanted, [folder]: on })} />
      ))}
      <form
        className="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <input className="input" aria-label="New folder" placeholder="New folder" maxLength={LETTERS} value={fresh} onChange={(event) => setFresh(event.target.value)} />
        <Button disabled={name === ""} onClick={add}>
          Add
        </Button>
      </form>
      <div className="dialog-foot">
        <Button primary onClick={() => void save()}>
          Save
        </Button>
      </div>
    </Dialog>
  );
}
