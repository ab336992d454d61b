// Documents that the server keeps for the viewer: layouts (shared by all
// profiles) and, by profile, named sets of annotations.

import { getJson, send } from "./client";

const at = (kind: string, name?: string) =>
  `/documents/${encodeURIComponent(kind)}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;

export const listDocuments = async (kind: string) => (await getJson<{ names: string[] }>(at(kind))).names;
export const readDocument = <T>(kind: string, name: string) => getJson<T>(at(kind, name));
export const writeDocument = (kind: string, name: string, value: unknown) => send("PUT", at(kind, name), value);
export const deleteDocument = (kind: string, name: string) => send("DELETE", at(kind, name));
