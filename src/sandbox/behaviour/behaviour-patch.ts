import Decimal from 'decimal.js';
import {
  anObject,
  check,
  flag,
  integer,
  isObject,
  number,
  Rule,
  trimmedText,
  webAddress,
} from '../http/rules';
import { Behaviour, EventSettings, QuirkName, QUIRKS } from './behaviour';
import { LIE_RULES, LISTED_TYPES, ListedType, ListPatch, patchLists, ShownWords } from './lies';

/** A change of a {@link Behaviour}, from PATCH /_sandbox/settings or the environment. */
export interface BehaviourPatch {
  quirks?: Partial<Record<QuirkName, boolean>>;
  feePercent?: number;
  magicMs?: number;
  laterMs?: number;
  returnsFee?: boolean;
  unpaidExpiresAfterMs?: number;
  listedAfterMs?: Partial<Record<ListedType, number>>;
  words?: Partial<ShownWords>;
  lists?: ListPatch;
  events?: Partial<EventSettings>;
}

const TEN_YEARS_MS = 315_360_000_000; // Far below the largest date.
const MAX_COPIES = 10;
const LONGEST_MS = 600_000; // As for requested faults.

/** The rule of each setting, by name. */
export const SETTING_RULES = {
  feePercent: number(0, 100),
  magicMs: integer(0, LONGEST_MS),
  laterMs: integer(0, LONGEST_MS),
  returnsFee: flag,
  unpaidExpiresAfterMs: integer(1, TEN_YEARS_MS),
  listedAfterMs: anObject,
  quirks: anObject,
  words: anObject,
  lists: anObject,
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

/** The rules of the settings that are objects, by their paths. */
const NESTED_RULES: Record<string, Record<string, Rule>> = {
  quirks: QUIRK_RULES,
  listedAfterMs: LISTED_RULES,
  events: EVENT_RULES,
  ...LIE_RULES,
};

/** Returns the patch. Undefined if it is invalid, with the reasons in `faults`. */
export function readBehaviourPatch(body: unknown, faults: string[]): BehaviourPatch | undefined {
  if (!isObject(body)) {
    faults.push(`the settings must be an object with any of ${Object.keys(SETTING_RULES).join(', ')}`);
    return undefined;
  }
  check(body, SETTING_RULES, faults);
  for (const [path, rules] of Object.entries(NESTED_RULES)) {
    const nested = path.split('.').reduce<unknown>((value, name) => isObject(value) && value[name], body);
    if (isObject(nested)) check(nested, rules, faults, `${path}.`);
  }
  return faults.length === 0 ? body : undefined;
}

/** Applies a patch in place, so that calls in progress and the sender of events see it. */
export function patchBehaviour(behaviour: Behaviour, patch: BehaviourPatch): void {
  Object.assign(behaviour.quirks, patch.quirks);
  Object.assign(behaviour.events, patch.events);
  Object.assign(behaviour.words, patch.words);
  patchLists(behaviour.lists, patch.lists ?? {});
  Object.assign(behaviour.listedAfterMs, patch.listedAfterMs);
  if (patch.feePercent !== undefined) behaviour.feePercent = new Decimal(patch.feePercent);
  if (patch.magicMs !== undefined) behaviour.magicMs = patch.magicMs;
  if (patch.laterMs !== undefined) behaviour.laterMs = patch.laterMs;
  if (patch.returnsFee !== undefined) behaviour.returnsFee = patch.returnsFee;
  if (patch.unpaidExpiresAfterMs !== undefined) behaviour.unpaidExpiresAfterMs = patch.unpaidExpiresAfterMs;
}

/** Returns a behaviour as the control interface shows it: a patch that changes nothing. */
export function showBehaviour({ feePercent, ...others }: Behaviour): BehaviourPatch {
  return { feePercent: feePercent.toNumber(), ...structuredClone(others) };
}
