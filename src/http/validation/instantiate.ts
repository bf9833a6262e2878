import { getMetadataStorage } from 'class-validator';
import { isObject } from '../../platform/json/is-object';
import { isExtraValue, NOT_EXTRA } from './extra-fields';
import { FaultList, pointerTo, UNKNOWN_FIELD } from './faults';
import { FREE_FORM } from './free-form';
import { ITEMS, ItemsOf, MEANING, Meaning, WORD_LISTS } from './rules/rules';

type Class = new () => object;

export interface Limits {
  /** The most items of a body. */
  maxItems: number;
  /** Additional fields that no class has (EXTRA_FIELDS_ALLOWED). */
  extras: ReadonlySet<string>;
}

/** A value that no rule accepts. */
const WRONG: readonly never[] = Object.freeze([]);

/**
 * Makes an instance of a class from a request, with the fields of the class and no others. For
 * class-transformer and class-validator, `constructor` and `__proto__` are more than names, and thousands of
 * unknown fields cost them seconds. Reads the first `maxItems` items only, so a body of a hundred thousand
 * items does not cost a hundred thousand checks.
 */
export function instantiate(
  value: object,
  type: Class,
  limits: Limits,
): { instance: object; found: FaultList } {
  const found = new FaultList();
  return { instance: instanceOf(type, value, limits, { found, pointer: () => '' }), found };
}

interface FaultContext {
  found: FaultList;
  /** Called only for faults, because pointers of five hundred items would cost more than the checks. */
  pointer: () => string;
}

function instanceOf(type: Class, value: object, limits: Limits, { found, pointer }: FaultContext): object {
  const fields = fieldsOf(type);
  const instance = new type() as Record<string, unknown>;
  const extra: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(value)) {
    const pointerOfField = () => pointerTo(pointer(), name);
    const read = fields.get(name);
    if (read) instance[name] = read(given, limits, { found, pointer: pointerOfField });
    else if (!limits.extras.has(name)) found.add(pointerOfField, () => UNKNOWN_FIELD);
    else if (isExtraValue(given)) extra[name] = given;
    else found.add(pointerOfField, () => NOT_EXTRA);
  }
  return Object.assign(instance, extra); // after the other fields
}

/** Returns the value for the rule of a field. */
type ValueReader = (given: unknown, limits: Limits, place: FaultContext) => unknown;

const fieldsByClass = new Map<Class, ReadonlyMap<string, ValueReader>>();

/** The fields that a class and its parents declare. */
function fieldsOf(type: Class): ReadonlyMap<string, ValueReader> {
  const known = fieldsByClass.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const fields = new Map(rules.map(({ propertyName: name }) => [name, readerOf(type, name)]));
  fieldsByClass.set(type, fields);
  return fields;
}

function readerOf(type: Class, name: string): ValueReader {
  const items = Reflect.getMetadata(ITEMS, type) as ItemsOf | undefined;
  const wordLists = (Reflect.getMetadata(WORD_LISTS, type) ?? []) as string[];
  const meaning = Reflect.getMetadata(MEANING, type.prototype as object, name) as Meaning | undefined;
  if (name === Reflect.getMetadata(FREE_FORM, type)) return (given) => given;
  if (name === items?.property) return readItems(items);
  if (wordLists.includes(name))
    return (given) => (Array.isArray(given) ? given.map(wordOrNull) : valueOrWrong(given));
  return meaning ? (given) => meaning(valueOrWrong(given)) : valueOrWrong;
}

function readItems(items: ItemsOf): ValueReader {
  return (given, limits, { found, pointer }) => {
    if (!Array.isArray(given)) return WRONG;
    const most = items.max ?? limits.maxItems;
    if (given.length > most) {
      found.add(pointer, () => `must have at most ${most} items, and has ${given.length}`);
      for (let place = 0; place < given.length; place += 1) found.brokenItems.add(place);
    }
    const type = items.type();
    return given.slice(0, most).map((item: unknown, index) => {
      if (!isObject(item)) return null; // the rule of the item rejects it
      let instance = {};
      const place = { found, pointer: () => pointerTo(pointer(), index) };
      found.inItem(index, () => (instance = instanceOf(type, item, limits, place)));
      return instance;
    });
  };
}

/** Returns text, and null for anything else, which the rule of the list rejects. */
function wordOrNull(word: unknown): string | null {
  return typeof word === 'string' ? word : null;
}

function valueOrWrong(given: unknown): unknown {
  return typeof given === 'object' && given !== null ? WRONG : given;
}
