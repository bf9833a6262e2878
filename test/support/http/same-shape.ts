import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';

/**
 * Returns whether two objects have the same hidden class in V8. Creates many first, because V8 learns from
 * the first ones.
 */
export function sharesItsShape(make: () => unknown): boolean {
  for (let count = 0; count < 100; count += 1) make();
  setFlagsFromString('--allow-natives-syntax'); // V8 parses functions at their first call
  try {
    const haveSameMap = runInThisContext('(a, b) => %HaveSameMap(a, b)') as (
      a: unknown,
      b: unknown,
    ) => boolean;
    return haveSameMap(make(), make());
  } finally {
    setFlagsFromString('--no-allow-natives-syntax');
  }
}
