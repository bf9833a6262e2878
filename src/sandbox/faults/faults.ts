import { MAGIC, MagicName, magicOf } from '../behaviour/magic-recipients';
import { check, flag, integer, isObject, number, oneOf, Rule } from '../http/rules';
import { FaultName, FaultSettings, rowOf, FAULTS, isFaultName, FaultRow } from './table';

/** A fault from POST /_sandbox/faults, validated and with its defaults. */
interface RequestedFault {
  fault: FaultName;
  /** Null for any operation. */
  operation: string | null;
  /** Position of the one request to strike, among the matching ones from now. */
  nth?: number;
  /** Probability for each matching request, drawn from a sequence that `seed` alone determines. */
  probability?: number;
  seed?: number;
  processed: boolean;
  settings: FaultSettings;
}

/** A fault that strikes one request. */
export type FaultStrike = Pick<RequestedFault, 'fault' | 'processed' | 'settings'> & {
  /** Present if a magic recipient caused it. */
  isMagic?: true;
};

interface RegisteredFault extends RequestedFault {
  id: number;
  /** Number of matching requests so far, and of struck ones. */
  matches: number;
  struck: number;
  random: () => number;
}

const DEFAULT_SEED = 1;

/** Faults of the control interface. A restart clears them. */
export class Faults {
  private registered: RegisteredFault[] = [];
  private lastId = 0;

  add(request: RequestedFault) {
    const { probability, seed = DEFAULT_SEED } = request;
    const seeded = probability === undefined ? request : { ...request, seed };
    const random = randomNumbers(seeded.seed ?? DEFAULT_SEED);
    const fault = { ...seeded, id: ++this.lastId, matches: 0, struck: 0, random };
    this.registered.push(fault);
    return shown(fault);
  }

  /** Returns the first due fault for a request to `operation`. All matching faults count the request. */
  strike(operation: string): FaultStrike | undefined {
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

  /** Removes a fault. Returns false for an unknown ID. */
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
function defaultFault(fault: FaultName): FaultStrike {
  const row = rowOf(fault);
  const defaults = Object.entries(row.settings ?? {}).map(([name, { byDefault }]) => [name, byDefault]);
  return { fault, processed: row.processed, settings: Object.fromEntries(defaults) as FaultSettings };
}

/** Counts the request, and returns whether the fault would strike it. */
function isDue(fault: RegisteredFault): boolean {
  fault.matches++;
  // If an earlier fault struck the nth request, this one strikes the next.
  if (fault.nth !== undefined) return fault.struck === 0 && fault.matches >= fault.nth;
  return fault.probability === undefined || fault.random() < fault.probability;
}

function shown({
  id,
  fault,
  operation,
  nth,
  probability,
  seed,
  processed,
  settings,
  struck,
}: RegisteredFault) {
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

/** Returns the requested fault. Undefined if the request is invalid, with the reasons in `faults`. */
export function readFault(body: unknown, operations: string[], faults: string[]): RequestedFault | undefined {
  if (!isObject(body) || !isFaultName(body.fault)) {
    faults.push(`fault must be ${oneOf(...Object.keys(FAULTS)).must}`);
    return undefined;
  }
  const { fault, operation, nth, probability, seed, processed, ...settings } = body;
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
  check(body, rules, faults);
  if (nth !== undefined && probability !== undefined) faults.push('nth and probability exclude each other');
  if (seed !== undefined && probability === undefined) faults.push('seed requires probability');
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
  return { holds: (processed) => processed === value, must: `${value} or omitted for this fault` };
}

/** Lists the kinds of faults for the control interface. */
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

/** Lists the magic recipients, each with a phone number and the result of a payout to it. */
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

/** Returns the fault of the first magic recipient in an unchecked body, with the given `ms`. */
export function magicFault(body: unknown, ms: number): FaultStrike | undefined {
  for (const item of itemsOf(body)) {
    const name = magicOf({
      phoneNumber: text(item.phoneNumber) ?? text(item.phone_number),
      email: text(item.email),
      twitter: text(item.twitter),
    });
    const row = name && MAGIC[name];
    if (row && 'fault' in row && isFaultName(row.fault)) {
      const fault: FaultStrike = { ...defaultFault(row.fault), isMagic: true };
      return 'ms' in fault.settings ? { ...fault, settings: { ...fault.settings, ms } } : fault;
    }
  }
  return undefined;
}

/** Returns the items in the lists of a body, or the body itself if it has no lists. */
function itemsOf(body: unknown): Record<string, unknown>[] {
  if (!isObject(body)) return [];
  const lists = Object.values(body).filter((value) => Array.isArray(value));
  return lists.length > 0 ? lists.flat().filter(isObject) : [body];
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
