import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Lets the young generation grow from 1 MB to 16 MB at the first sign of load, and then to its full size.
 * With V8's factor of 2 it stayed small for long, and was collected so often that a request cost 10 % more.
 * `npm start` allows it 64 MB (`--max-semi-space-size`). Under a load with lulls of 40 seconds, the main
 * thread then took a fifth less CPU time than with V8's 16 MB. Without lulls, it made no difference.
 */
const GROWTH_FACTOR_UNDER_LOAD = 16;

/**
 * The old generation grows by this share of what lives in it before V8 collects all of it. V8 allowed a
 * quarter, so that long bodies had it collected several times a second. Each time took a tenth of a second,
 * in which payments shared two cores with V8's helper threads, of which `npm start` allows one
 * (`--v8-pool-size`). Measured: decision 0042.
 */
const GROWTH_BEFORE_FULL_COLLECTION_PERCENT = 100;

/**
 * V8 creates objects in its old generation if most objects of the same place in the code have survived. Under
 * a load of long answers they have, for some milliseconds. Later ones then lie in the old generation, die
 * there, and keep everything that they refer to until the next full collection. Measured: decision 0042.
 */
const ALL_BEGIN_YOUNG = '--no-allocation-site-pretenuring';

/** A hundred times V8's default. The work of the start stays far below it. */
const WASM_TIERING_BUDGET = 180_000_000;

/**
 * Object shapes survive this number of collections without use. V8 keeps them for two. In a lull of seconds
 * there are more collections, and the compiled code for requests was lost. The first second after a lull then
 * took up to a third more CPU time. Measured: decision 0020.
 */
const COLLECTIONS_WITHOUT_USE = 10;

/**
 * Keeps the start from taking memory that is not needed later. Call it first.
 *
 * Objects that are loaded at the start survive, so V8 would enlarge the young generation and keep it so. It
 * stays at 1 MB until `afterStart`. V8 would also optimize WebAssembly (Prisma's query compiler) in a
 * separate thread, whose allocator never returns its 15 MB. Under load, plans are cached, and WebAssembly is
 * less than 1 % of the work. Measured at rest with `afterStart`: 142 MB instead of 183.
 */
export function startSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1'); // read whenever the young generation could grow
  leaveWasmUnoptimized();
  setFlagsFromString(ALL_BEGIN_YOUNG);
}

/** Keeps V8 from optimizing WebAssembly. A command on the database ends before it gains what that costs. */
export function leaveWasmUnoptimized(): void {
  setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`);
}

/**
 * Collects the garbage of the start once. It takes some 50 ms, so it runs before requests arrive. An idle V8
 * would not do it for a long time. Measured: 15 MB. From then on, the young generation grows with the load,
 * and compiled code lasts.
 */
export function afterStart(): void {
  setFlagsFromString('--expose-gc'); // only contexts created now get `gc`, ours does not
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH_FACTOR_UNDER_LOAD}`);
  // read at each collection
  setFlagsFromString(`--heap-growing-percent=${GROWTH_BEFORE_FULL_COLLECTION_PERCENT}`);
  setFlagsFromString(`--retain-maps-for-n-gc=${COLLECTIONS_WITHOUT_USE}`); // read at each collection
}
