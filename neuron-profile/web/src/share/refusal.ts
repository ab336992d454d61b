// What a page with a profile inside cannot answer, with the status that a
// server would give.

export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "Refusal";
  }
}

/** Something that the file has not, though the profile may. */
export const leftOut = (what: string) => new Refusal(410, `${what}: not in this file; open the profile with neuron-profile view`);
