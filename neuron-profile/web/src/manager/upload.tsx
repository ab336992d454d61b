// Upload of NEFFs and NTFFs: files are paired by name, sent with progress, and
// stored in the background.

import { useMemo, useRef, useState } from "react";
import { isAbort, reason } from "../api/client";
import { startJob, upload } from "../api/jobs";
import { bytes, percent } from "../format/number";
import { Button, Check, TextField } from "../parts/controls";
import { Dialog } from "../parts/dialog";
import { useJobs } from "./jobs";
import { type Pair, pairs } from "./pairs";

export function UploadDialog({ initial, onClose }: { initial: readonly File[]; onClose: () => void }) {
  const [files, setFiles] = useState<readonly File[]>(initial);
  const [name, setName] = useState("");
  const [tags, setTags] = useState("");
  const [force, setForce] = useState(false);
  const [sending, setSending] = useState<{ what: string; part: number } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const stop = useRef<AbortController | null>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const found = useMemo(() => pairs(files), [files]);
  const add = (list: FileList | null) => list && setFiles([...files, ...list]);
  const close = () => {
    stop.current?.abort();
    onClose();
  };
  const sendOne = async ({ neff, ntff }: Pair<File>, i: number, signal: AbortSignal) => {
    const send = (file: File) => {
      setSending({ what: file.name, part: 0 });
      return upload(file, (part) => setSending({ what: file.name, part }), signal);
    };
    const program = await send(neff);
    const trace = await send(ntff);
    const base = name.trim() || ntff.name.replace(/\.ntff$/i, "");
    const job = await startJob({
      neff: program.upload,
      ntff: trace.upload,
      display_name: found.pairs.length > 1 && name.trim() ? `${base} ${i + 1}` : base,
      tags: tags.split(",").map((one) => one.trim()).filter((one) => one !== ""),
      force,
    });
    if (job) useJobs.getState().put(job);
  };
  const send = async () => {
    const mine = new AbortController();
    stop.current = mine;
    setError(null);
    try {
      for (const [i, pair] of found.pairs.entries()) await sendOne(pair, i, mine.signal);
      onClose();
    } catch (failure) {
      if (!isAbort(failure)) setError(reason(failure));
    } finally {
      setSending(null);
    }
  };
  return (
    <Dialog title="Upload profiles" onClose={close} wide>
      <button type="button" className="drop" onClick={() => chooser.current?.click()} onDragOver={(event) => event.preventDefault()} onDrop={(event) => (event.preventDefault(), event.stopPropagation(), add(event.dataTransfer.files))}>
        Drop NEFF and NTFF files here, or click to choose them
      </button>
      <input ref={chooser} type="file" multiple hidden accept=".neff,.ntff" aria-label="NEFF and NTFF files" onChange={(event) => add(event.target.files)} />
      {found.pairs.length > 0 && (
        <ul className="pairs">
          {found.pairs.map(({ neff, ntff }) => (
            <li key={ntff.name}>
              <span className="mono">{ntff.name}</span> <span className="dim">{bytes(ntff.size)}, with</span> <span className="mono">{neff.name}</span> <span className="dim">{bytes(neff.size)}</span>
            </li>
          ))}
        </ul>
      )}
      {found.left.map((text) => (
        <p key={text} className="bad small">
          {text}
        </p>
      ))}
      <div className="form">
        <TextField label="Name" placeholder="Name (as the trace if empty)" value={name} onChange={setName} maxLength={140} wide />
        <TextField label="Tags, with commas between" value={tags} onChange={setTags} wide />
        <Check label="Replace a profile that is stored of the same files" checked={force} onChange={setForce} />
      </div>
      {sending && (
        <p role="status">
          <progress aria-label="Progress of the upload" value={sending.part} max={1} /> {sending.what}, {percent(sending.part)}
        </p>
      )}
      {error && (
        <p className="bad" role="alert">
          {error}
        </p>
      )}
      <div className="dialog-foot">
        <Button onClick={close}>Cancel</Button>
        <Button primary icon="upload" onClick={() => void send()} disabled={found.pairs.length === 0 || sending !== null}>
          Upload{found.pairs.length > 1 ? ` ${found.pairs.length} profiles` : ""}
        </Button>
      </div>
    </Dialog>
  );
}
