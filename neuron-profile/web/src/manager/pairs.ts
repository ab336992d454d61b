// Which NEFF belongs to which NTFF, by their names.

export interface Named {
  name: string;
}

export interface Pair<T> {
  neff: T;
  ntff: T;
}

const stem = (name: string) => name.replace(/\.(neff|ntff)$/i, "");

/** Letters that two names share at their start. */
function shared(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

/** Each NTFF with the NEFF whose name is most alike; one NEFF is for all. What is left over is said. */
export function pairs<T extends Named>(files: readonly T[]): { pairs: Pair<T>[]; left: string[] } {
  const is = (kind: string) => files.filter((file) => file.name.toLowerCase().endsWith(kind));
  const [neffs, ntffs] = [is(".neff"), is(".ntff")];
  const left = files.filter((file) => !/\.(neff|ntff)$/i.test(file.name)).map((file) => `${file.name} is neither a NEFF nor an NTFF`);
  const only = neffs.length === 1 ? neffs[0] : undefined;
  const used = new Set<T>();
  const found = ntffs.flatMap((ntff) => {
    const neff = only ?? [...neffs].sort((a, b) => shared(stem(b.name), stem(ntff.name)) - shared(stem(a.name), stem(ntff.name)))[0];
    if (!neff || (!only && shared(stem(neff.name), stem(ntff.name)) === 0)) {
      left.push(`${ntff.name} has no NEFF: add the program that it was captured with`);
      return [];
    }
    used.add(neff);
    return [{ neff, ntff }];
  });
  for (const neff of neffs) if (!used.has(neff)) left.push(`${neff.name} has no NTFF`);
  return { pairs: found, left };
}
