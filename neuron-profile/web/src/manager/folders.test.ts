import { describe, expect, it } from "vitest";
import type { Entry } from "../api/types";
import { folders, foldersOf, isFavourite, onShelf, plainTags, withFavourite, withFolder, withPlain } from "./folders";

const entry = (id: string, ...tags: string[]) => ({ id, tags }) as unknown as Entry;

describe("folders and favourites", () => {
  const one = entry("a", "job7", "favourite", "folder/runs", "folder/b c");
  const all = [one, entry("b", "folder/runs"), entry("c")];

  it("are tags beside the plain ones", () => {
    expect([isFavourite(one), foldersOf(one), plainTags(one)]).toEqual([true, ["runs", "b c"], ["job7"]]);
    expect(withPlain(one, ["x"])).toEqual(["favourite", "folder/runs", "folder/b c", "x"]);
    expect(withFavourite(withTags(one, withFavourite(one, false)), true)).toContain("favourite");
    expect(withFavourite(one, false)).not.toContain("favourite");
    expect(withFolder(one, "runs", false)).toEqual(["job7", "favourite", "folder/b c"]);
    expect(withFolder(all[2]!, "new", true)).toEqual(["folder/new"]);
  });

  it("are shelves of the list", () => {
    expect(folders(all)).toEqual([["b c", 1], ["runs", 2]]);
    const ids = (found: Entry[]) => found.map(({ id }) => id);
    expect(ids(onShelf(all, { what: "all" }, []))).toEqual(["a", "b", "c"]);
    expect(ids(onShelf(all, { what: "favourites" }, []))).toEqual(["a"]);
    expect(ids(onShelf(all, { what: "folder", name: "runs" }, []))).toEqual(["a", "b"]);
    expect(ids(onShelf(all, { what: "recent" }, ["c", "gone", "a"]))).toEqual(["c", "a"]);
  });
});

const withTags = (one: Entry, tags: string[]): Entry => ({ ...one, tags });
