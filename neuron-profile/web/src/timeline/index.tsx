// The timeline and its minimap. They read the stores of ../state and nothing
// else.

export function Timeline() {
  return <div className="missing">The timeline is not part of this build.</div>;
}

export function Minimap() {
  return <div className="missing">The minimap is not part of this build.</div>;
}
