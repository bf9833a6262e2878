/**
 * Gives each of the `left` one of the `right` of its own (augmenting paths: it finds a way wherever there is one).
 * @returns the place on the right of each on the left; undefined if not each can have one.
 */
export function oneToOne<L, R>(
  left: readonly L[],
  right: readonly R[],
  fits: (one: L, other: R) => boolean,
): number[] | undefined {
  const choices = left.map((one) => right.flatMap((other, at) => (fits(one, other) ? [at] : [])));
  const takenBy = new Map<number, number>();
  const settle = (one: number, tried: Set<number>): boolean => {
    const open = choices[one]?.filter((at) => !tried.has(at)) ?? [];
    const free = open.find((at) => !takenBy.has(at)); // first: where many are alike, nobody has to move
    const found = free ?? open.find((at) => !tried.has(at) && tried.add(at) && settle(takenBy.get(at) ?? 0, tried));
    if (found === undefined) return false;
    takenBy.set(found, one);
    return true;
  };
  for (const one of left.keys()) if (!settle(one, new Set())) return undefined;
  const given = new Array<number>(left.length);
  for (const [at, one] of takenBy) given[one] = at;
  return given;
}
