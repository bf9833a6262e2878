import { MAGIC, MagicName, magicOf } from '../behaviour/magic-recipients';
import { check, flag, integer, isObject, number, oneOf, Rule } from '../http/rules';
import { FaultName, FaultSettings, rowOf, FAULTS, isFaultName, FaultRow } from './table';

/** A fault as POST /_sandbox/faults requests it, validated and with its defaults. */
interface AskedFault {
  fault: FaultName;
  /** Null for any operation. */
  operation: string | null;
  /** Strikes once: the nth matching request from now. */
  nth?: number;
  /**
   * Strikes each matching request with this probability, drawn from a sequence that only `seed` determines.
   */
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
  /** Number of matching requests, and of struck ones, so far. */
  seen: number;
  struck: number;
  random: () => number;
}

const DEFAULT_SEED = 1;

/** Faults requested over the control interface. They are kept in memory only: a restart clears them. */
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
   * Returns the fault that strikes a request for `operation`: the first registered one that is due. All
   * faults that match count the request.
   */
  strike(operation: string): Struck | undefined {
    const matching = this.registered.filter(
      (fault) => fault.operation === null || fault.operation === operation,
    );
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
function defaultFault(fault: FaultName): Struck {
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

/** Generates pseudo-random numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const LARGEST_SEED = 2 ** 32 - 1;

/**
 * Returns the requested fault. Undefined if the request is invalid. `faults` then lists everything that is
 * wrong.
 */
export function readFault(given: unknown, operations: string[], faults: string[]): AskedFault | undefined {
  if (!isObject(given) || !isFaultName(given.fault)) {
    faults.push(`fault must be ${oneOf(...Object.keys(FAULTS)).must}`);
    return undefined;
  }
  const { fault, operation, nth, probability, seed, processed, ...settings } = given;
  const row = rowOf(fault);
  const settingRules = Object.entries(row.settings ?? {}).map(([name, { rule }]): [string, Rule] => [
    name,
    rule,
  ]);
  const rules: Record<string, Rule> = {
    fault: oneOf(fault),
    operation: oneOf(...operations),
    nth: integer(1, Number.MAX_SAFE_INTEGER),
    probability: number(0, 1),
    seed: integer(0, LARGEST_SEED),
    processed: row.choosesProcessed ? flag : fixed(row.processed),
    ...Object.fromEntries(settingRules),
  };
  check(given, rules, faults);
  if (nth !== undefined && probability !== undefined) faults.push('nth and probability exclude each other');
  if (seed !== undefined && probability === undefined) faults.push('seed is of use with probability only');
  if (faults.length > 0) return undefined;

  const byDefault = defaultFault(fault);
  return {
    fault,
    operation: (operation as string | undefined) ?? null,
    ...(nth !== undefined && { nth: nth as number }),
    ...(probability !== undefined && { probability: probability as number }),
    ...(seed !== undefined && { seed: seed as number }),
    processed: (processed as boolean | undefined) ?? byDefault.processed,
    settings: { ...byDefault.settings, ...(settings as FaultSettings) },
  };
}

function fixed(value: boolean): Rule {
  return {
    holds: (given) => given === value,
    must: `${value} or left out: this fault is nothing without it`,
  };
}

/** The faults that can be requested, as the control interface lists them. */
export function faultKinds() {
  return Object.entries<FaultRow>(FAULTS).map(
    ([fault, { does, processed, choosesProcessed, settings = {} }]) => ({
      fault,
      does,
      processed,
      choosesProcessed: choosesProcessed ?? false,
      settings: Object.entries(settings).map(([name, { byDefault, rule }]) => ({
        name,
        default: byDefault,
        must: rule.must,
      })),
    }),
  );
}

/** The magic recipients, each with one of its phone numbers and the result of a payout to it. */
export function magicRecipients() {
  return (Object.keys(MAGIC) as MagicName[]).map((name) => {
    const row = MAGIC[name];
    return {
      name,
      phoneNumber: `+2547${row.digits}`,
      email: `${name}@sandbox.example`,
      twitter: `@sandbox_${name}`,
      does: 'does' in row ? row.does : rowOf(row.fault).does,
    };
  });
}

/**
 * Returns the fault of the first magic recipient in a request's body, with its defaults and the given `ms`.
 * Nothing in the body is validated yet.
 */
export function magicFault(body: unknown, ms: number): Struck | undefined {
  for (const item of itemsOf(body)) {
    const name = magicOf({
      phoneNumber: text(item.phoneNumber) ?? text(item.phone_number),
      email: text(item.email),
      twitter: text(item.twitter),
    });
    const row = name && MAGIC[name];
    if (row && 'fault' in row && isFaultName(row.fault)) {
      const fault: Struck = { ...defaultFault(row.fault), isMagic: true };
      return 'ms' in fault.settings ? { ...fault, settings: { ...fault.settings, ms } } : fault;
    }
  }
  return undefined;
}

/** Returns the items that a body lists, or the body if it is an item itself. */
function itemsOf(body: unknown): Record<string, unknown>[] {
  if (!isObject(body)) return [];
  const lists = Object.values(body).filter((value) => Array.isArray(value));
  return lists.length > 0 ? lists.flat().filter(isObject) : [body];
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
