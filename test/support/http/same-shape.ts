import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';

/**
 * Returns whether two objects have the same hidden class in V8. Makes many before it compares, because V8 learns from the
 * first ones.
 */
export function sharesItsShape(make: () => unknown): boolean {
  for (let count = 0; count < 100; count += 1) make();
  setFlagsFromString('--allow-natives-syntax'); // functions are parsed when they are first called
  try {
    const haveSameMap = runInThisContext('(a, b) => %HaveSameMap(a, b)') as (a: unknown, b: unknown) => boolean;
    return haveSameMap(make(), make());
  } finally {
    setFlagsFromString('--no-allow-natives-syntax');
  }
}
