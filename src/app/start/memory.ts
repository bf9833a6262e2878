import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * From 1 MB to its full 16 at the first sign of load: V8's own factor is 2, with which it stayed small for long, and was collected
 * so often that a request cost 10 % more.
 */
const GROWTH_FACTOR_UNDER_LOAD = 16;

/** A hundred times V8's own: what only the start works through does not come near it. */
const WASM_TIERING_BUDGET = 180_000_000;

/**
 * Shapes of objects outlive that many collections without such an object, where V8 keeps them for two. In a lull of seconds there
 * are more, and what the code for requests was compiled for was gone: the first second after it took up to a third more CPU for each.
 * Measured: docs/internals/decisions/0020.
 */
const COLLECTIONS_WITHOUT_USE = 10;

/**
 * Keeps the start from taking memory that it does not need again; to be called first. What a start loads survives, for which V8
 * would make the young generation 32 MB, and keep it so at rest: it stays at 1 MB until `afterStart`. And V8 would optimise
 * WebAssembly, Prisma's compiler of queries, in a thread of its own, whose allocator never returns the 15 MB: under load, where
 * plans are cached, less than 1 % of the work is WebAssembly's. Measured at rest, with `afterStart`: 142 MB instead of 183.
 */
export function startSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1'); // read whenever it could grow
  setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`);
}

/**
 * Collects once what the start has left behind: some 50 ms, so before requests come in, and at rest V8 would not do it for a long
 * time. Measured: 15 MB. From then on the young generation grows as load asks for it, and compiled code lasts.
 */
export function afterStart(): void {
  setFlagsFromString('--expose-gc'); // for the contexts made while it holds: ours stays without
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH_FACTOR_UNDER_LOAD}`);
  setFlagsFromString(`--retain-maps-for-n-gc=${COLLECTIONS_WITHOUT_USE}`); // read at each collection
}
