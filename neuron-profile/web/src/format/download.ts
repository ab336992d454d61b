// Files that the browser saves: made here, from what is seen.

/** Saves a text or bytes under a name. */
export function download(name: string, content: BlobPart, type: string) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replace(/[^\w.()-]+/g, "_").slice(0, 120);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const downloadCsv = (name: string, text: string) => download(name, text, "text/csv");
export const downloadJson = (name: string, value: unknown) =>
  download(name, JSON.stringify(value, null, 2), "application/json");
