import { FaultName, FaultSettings, rowOf } from './table';
import { randomNumbers } from './random';

/** A fault as POST /_sandbox/faults requests it, validated and with its defaults. */
export interface AskedFault {
  fault: FaultName;
  /** Null for any operation. */
  operation: string | null;
  /** Strikes once: the nth matching request from now. */
  nth?: number;
  /** Strikes each matching request with this probability, drawn from a sequence that only `seed` determines. */
  probability?: number;
  seed?: number;
  processed: boolean;
  settings: FaultSettings;
}

/** The effect on one request. */
export type Struck = Pick<AskedFault, 'fault' | 'processed' | 'settings'> & {
  /** A magic recipient asked for it. */
  isMagic?: true;
};

interface Registered extends AskedFault {
  id: number;
  /** The number of matching requests so far, and of those that it struck. */
  seen: number;
  struck: number;
  random: () => number;
}

const DEFAULT_SEED = 1;

/** The faults requested over the control interface. They are kept in memory, so a restarted sandbox has none. */
export class Faults {
  private registered: Registered[] = [];
  private lastId = 0;

  add(asked: AskedFault) {
    const seeded = asked.probability === undefined ? asked : { ...asked, seed: asked.seed ?? DEFAULT_SEED };
    const random = randomNumbers(seeded.seed ?? DEFAULT_SEED);
    const fault = { ...seeded, id: ++this.lastId, seen: 0, struck: 0, random };
    this.registered.push(fault);
    return shown(fault);
  }

  /**
   * Returns the fault that strikes a request for `operation`: the first registered one that is due. All faults that
   * match count the request.
   */
  strike(operation: string): Struck | undefined {
    const matching = this.registered.filter((fault) => fault.operation === null || fault.operation === operation);
    const [first] = matching.filter(isDue);
    if (first) first.struck++;
    return first;
  }

  list() {
    return this.registered.map(shown);
  }

  /** Returns false if there is no such fault. */
  remove(id: number): boolean {
    const before = this.registered.length;
    this.registered = this.registered.filter((fault) => fault.id !== id);
    return this.registered.length < before;
  }

  clear(): void {
    this.registered = [];
  }
}

/** Returns a fault with its defaults. */
export function defaultFault(fault: FaultName): Struck {
  const row = rowOf(fault);
  const defaults = Object.entries(row.settings ?? {}).map(([name, { byDefault }]) => [name, byDefault]);
  return { fault, processed: row.processed, settings: Object.fromEntries(defaults) as FaultSettings };
}

/** Counts the request, and returns whether the fault would strike it. */
function isDue(fault: Registered): boolean {
  fault.seen++;
  // Not only the nth: if an earlier fault took that one, the next one is struck.
  if (fault.nth !== undefined) return fault.struck === 0 && fault.seen >= fault.nth;
  return fault.probability === undefined || fault.random() < fault.probability;
}

function shown({ id, fault, operation, nth, probability, seed, processed, settings, struck }: Registered) {
  return {
    id,
    fault,
    operation,
    ...(nth !== undefined && { nth }),
    ...(probability !== undefined && { probability, seed }),
    processed,
    ...settings,
    struck,
  };
}
