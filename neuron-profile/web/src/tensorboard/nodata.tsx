// A log directory without Neuron data: the line that people know, where was
// looked for what, and how to get some.

import type { Runs } from "./api";

export function NoData({ runs }: { runs: Runs }) {
  const { logdir, directories, patterns, notes } = runs;
  const some = directories === 1 ? "1 directory" : `${directories} directories`;
  return (
    <main className="tb-whole tb-nodata">
      <p>
        <b>No Neuron data found.</b>
      </p>
      <p>Please ensure the logdir is valid and that Neuron packages are installed correctly.</p>
      <p>
        {directories === 0 || notes.some((note) => note.startsWith(".: ")) ? (
          <>
            <code>{logdir}</code> is not there, or cannot be read.
          </>
        ) : (
          <>
            <code>{logdir}</code>: {some}, and none has one of these:
          </>
        )}
      </p>
      <ul>
        {patterns.map((one) => (
          <li key={one}>
            <code>{one}</code>
          </li>
        ))}
      </ul>
      {notes.map((note) => (
        <p key={note} className="bad">
          {note}
        </p>
      ))}
      <p>A run is written here by one of</p>
      <pre>
        neuron-profile capture -n model.neff --tensorboard-dir {logdir}
        {"\n"}neuron-profile export PROFILE --format tensorboard -o {logdir}
      </pre>
      <p className="dim">or copy a NEFF and its NTFF into a directory below it. It is shown as soon as it is there.</p>
    </main>
  );
}
