import { Verifier } from './note';

/** The keys of a log. All have its name. */
export interface KeyRing<Current extends Verifier = Verifier> {
  /** The name of the log. */
  readonly name: string;
  /** The keys that sign now, newest first. */
  readonly current: readonly Current[];
  /** The current keys, and those that have signed before. */
  readonly all: readonly Verifier[];
}

/** @throws Error if the keys are not those of one log, or if one is listed twice. */
export function ringOf<Current extends Verifier>(
  current: readonly Current[],
  retired: readonly Verifier[] = [],
): KeyRing<Current> {
  const all = [...current, ...retired];
  const [first] = all;
  if (!first || current.length === 0) throw new Error('There is no key.');
  const other = all.find(({ name }) => name !== first.name);
  if (other) {
    throw new Error(`All keys of a log must have its name, but one is named ${first.name} and one ${other.name}.`);
  }
  const twice = all.find((key, place) => all.findIndex((one) => one.verifierKey === key.verifierKey) !== place);
  if (twice) throw new Error(`The key ${twice.verifierKey} is listed twice.`);
  return { name: first.name, current, all };
}

/** Returns the newest of the keys that sign now, if one of them has signed. */
export function currentOf<Current extends Verifier>(
  { current }: KeyRing<Current>,
  signers: readonly Verifier[],
): Current | undefined {
  return current.find((key) => signers.some(({ verifierKey }) => verifierKey === key.verifierKey));
}
