// Finds the profile inside of a page, and lets it answer.

import { answerWith } from "../api/client";
import { stay } from "../router";
import { becomeShared } from "../state/shared";
import { Answers } from "./answers";
import { Archive } from "./archive";
import { Held } from "./held";
import type { Index } from "./index";

/** The answers of a page, from its two elements. */
export function answersOf(index: Index, archive: string): Answers {
  if (index.version !== 1) throw new Error(`the page has version ${index.version} of the format, and this viewer reads 1`);
  return new Answers(new Held(index, new Archive(archive)));
}

export function begin(): void {
  const text = (id: string) => document.getElementById(id)?.textContent ?? "";
  const index = JSON.parse(text("profile-index")) as Index;
  answerWith(answersOf(index, text("profile-archive").trim()).answer);
  becomeShared(index);
  stay({ page: "profile", id: index.id });
  if (window.location.hash === "" && index.view !== "") history.replaceState(null, "", `#${index.view.replace(/^#/, "")}`);
}
