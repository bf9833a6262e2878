import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';

/**
 * Returns whether two objects have the same hidden class in V8. Makes many before it compares, because V8 learns from the
 * first ones.
 */
export function sharesItsShape(make: () => unknown): boolean {
  setFlagsFromString('--allow-natives-syntax');
  const haveSameMap = runInThisContext('(a, b) => %HaveSameMap(a, b)') as (a: unknown, b: unknown) => boolean;
  setFlagsFromString('--no-allow-natives-syntax');
  for (let count = 0; count < 100; count += 1) make();
  return haveSameMap(make(), make());
}
