import { getMetadataStorage } from 'class-validator';
import { Fault } from '../errors/problem';
import { isExtraValue, NOT_EXTRA } from './extra-fields';
import { pointerTo, UNKNOWN_FIELD } from './faults';
import { FREE_FORM } from './free-form';
import { isPlainObject } from './json-body';
import { ITEMS, ItemsOf, WORD_LISTS } from './rules';

type Class = new () => object;

export interface Limits {
  /** Of how many items a body may be. */
  maxItems: number;
  /** Fields that no class names and that may be sent all the same. */
  extras: ReadonlySet<string>;
}

/** What no rule accepts, and class-transformer copies without looking into it. */
const WRONG: readonly never[] = [];

/**
 * Takes out of a request what its class does not name, before class-transformer and class-validator meet it: to them
 * `constructor` and `__proto__` are more than names, and thousands of unknown fields cost them seconds.
 * What is free-form goes another way than the rest: it has to be put back once class-transformer is done.
 * Of items, the first `maxItems` are looked at: a body of a hundred thousand must not cost a hundred thousand checks.
 */
export function sift(value: object, type: Class, limits: Limits, parent = '') {
  const { maxItems, extras } = limits;
  const known: Record<string, unknown> = {};
  const extra: Record<string, unknown> = {};
  const free: Record<string, unknown> = {};
  const faults: Fault[] = [];
  const names = namesOf(type);
  const items = Reflect.getMetadata(ITEMS, type) as ItemsOf | undefined;
  const wordLists = (Reflect.getMetadata(WORD_LISTS, type) ?? []) as string[];
  const freeForm = Reflect.getMetadata(FREE_FORM, type) as string | undefined;
  for (const [name, given] of Object.entries(value)) {
    const pointer = pointerTo(parent, name);
    if (!names.has(name) && extras.has(name)) {
      if (isExtraValue(given)) extra[name] = given;
      else faults.push({ pointer, detail: NOT_EXTRA });
    } else if (!names.has(name)) {
      faults.push({ pointer, detail: UNKNOWN_FIELD });
    } else if (name === freeForm) {
      known[name] = WRONG; // keeps its place among the fields
      free[name] = given;
    } else if (name === items?.property && Array.isArray(given)) {
      const most = items.max ?? maxItems;
      if (given.length > most) {
        faults.push({ pointer, detail: `has ${given.length} items; at most ${most} fit in one request` });
      }
      known[name] = given.slice(0, most).map((item: unknown, index) => {
        if (!isPlainObject(item)) return null; // its rule says that it must be an object
        const inner = sift(item, items.type(), limits, pointerTo(pointer, index));
        faults.push(...inner.faults);
        return inner.known;
      });
    } else if (wordLists.includes(name) && Array.isArray(given)) {
      known[name] = given.map((word: unknown) => (typeof word === 'string' ? word : null)); // which its rule refuses
    } else {
      known[name] = name === items?.property || (typeof given === 'object' && given !== null) ? WRONG : given;
    }
  }
  return { known: { ...known, ...extra }, free, faults };
}

const namesByClass = new Map<Class, ReadonlySet<string>>();

/** The fields that a class and its parents declare. */
function namesOf(type: Class): ReadonlySet<string> {
  const known = namesByClass.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const names = new Set(rules.map(({ propertyName }) => propertyName));
  namesByClass.set(type, names);
  return names;
}
