/** Returns the largest number of pairs that fit, each row in at most one, by augmenting paths. */
export function mostPairs<O, T>(ours: O[], theirs: T[], fits: (one: O, other: T) => boolean): number {
  const partner = new Map<number, O>();
  const seek = (one: O, seen: Set<number>): boolean =>
    theirs.some((other, index) => {
      if (seen.has(index) || !fits(one, other)) return false;
      seen.add(index);
      const taken = partner.get(index);
      if (taken !== undefined && !seek(taken, seen)) return false;
      partner.set(index, one);
      return true;
    });
  return ours.filter((one) => seek(one, new Set())).length;
}
