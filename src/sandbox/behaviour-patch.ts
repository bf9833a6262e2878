import Decimal from 'decimal.js';
import { Behaviour, EventSettings, LISTED_TYPES, ListedType, QuirkName, QUIRKS } from './behaviour';
import { anObject, check, flag, integer, isObject, number, Rule, trimmedText, webAddress } from './rules';

/** The settings of a {@link Behaviour} to change, as PATCH /_sandbox/settings and the environment give them. */
export interface BehaviourPatch {
  quirks?: Partial<Record<QuirkName, boolean>>;
  feePercent?: number;
  magicMs?: number;
  unpaidExpiresAfterMs?: number;
  listedAfterMs?: Partial<Record<ListedType, number>>;
  events?: Partial<EventSettings>;
}

const TEN_YEARS_MS = 315_360_000_000; // Far below the largest date.
const MAX_COPIES = 10;
const LONGEST_MS = 600_000; // As for requested faults.

/** The rule of each setting, by name. */
export const SETTING_RULES = {
  feePercent: number(0, 100),
  magicMs: integer(0, LONGEST_MS),
  unpaidExpiresAfterMs: integer(1, TEN_YEARS_MS),
  listedAfterMs: anObject,
  quirks: anObject,
  events: anObject,
} satisfies Record<string, Rule>;

const QUIRK_RULES: Record<string, Rule> = Object.fromEntries(Object.keys(QUIRKS).map((name) => [name, flag]));

const LISTED_RULES: Record<string, Rule> = Object.fromEntries(
  LISTED_TYPES.map((type) => [type, integer(0, LONGEST_MS)]),
);

export const EVENT_RULES = {
  url: webAddress,
  secret: trimmedText,
  copies: integer(1, MAX_COPIES),
  reversed: flag,
} satisfies Record<keyof EventSettings, Rule>;

/** Returns the patch. Undefined if it is invalid. `faults` then lists everything that is wrong. */
export function readBehaviourPatch(given: unknown, faults: string[]): BehaviourPatch | undefined {
  if (!isObject(given)) {
    faults.push(`the settings must be an object with any of ${Object.keys(SETTING_RULES).join(', ')}`);
    return undefined;
  }
  check(given, SETTING_RULES, faults);
  if (isObject(given.quirks)) check(given.quirks, QUIRK_RULES, faults, 'quirks.');
  if (isObject(given.listedAfterMs)) check(given.listedAfterMs, LISTED_RULES, faults, 'listedAfterMs.');
  if (isObject(given.events)) check(given.events, EVENT_RULES, faults, 'events.');
  return faults.length === 0 ? given : undefined;
}

/** Applies a patch in place. Calls in progress and the sender of events see it at their next check. */
export function patchBehaviour(behaviour: Behaviour, patch: BehaviourPatch): void {
  Object.assign(behaviour.quirks, patch.quirks);
  Object.assign(behaviour.events, patch.events);
  Object.assign(behaviour.listedAfterMs, patch.listedAfterMs);
  if (patch.feePercent !== undefined) behaviour.feePercent = new Decimal(patch.feePercent);
  if (patch.magicMs !== undefined) behaviour.magicMs = patch.magicMs;
  if (patch.unpaidExpiresAfterMs !== undefined) behaviour.unpaidExpiresAfterMs = patch.unpaidExpiresAfterMs;
}

/** Returns a behaviour as the API shows it: a patch that would change nothing. */
export function showBehaviour({ quirks, feePercent, listedAfterMs, events, ...numbers }: Behaviour): BehaviourPatch {
  const copies = { quirks: { ...quirks }, listedAfterMs: { ...listedAfterMs }, events: { ...events } };
  return { feePercent: feePercent.toNumber(), ...numbers, ...copies };
}
