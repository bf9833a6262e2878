import { createHash } from 'node:crypto';
import { isObject } from '../../../platform/json/is-object';
import { parseJson } from './answer';
import { FREE_FORM } from './fields';

/**
 * The structure of an answer without its values, as a JSON Schema (draft 2020-12). `true` allows anything,
 * and `false` nothing. Two types of whole answers are our own: `not JSON` and `no body`.
 */
export type Shape = boolean | ObservedShape;

interface ObservedShape extends Partial<Fields> {
  /** Sorted. */
  type: string[];
  /** The shape of a list's elements. `false` for an empty list. */
  items?: Shape;
}

/** The parts of an object. */
interface Fields {
  /** By name. Missing in a map, where every key is data. */
  properties?: Record<string, Shape>;
  /** The names that all such objects had, sorted. */
  required: string[];
  /** The shape of values under keys that are data. `false` if there were none. */
  additionalProperties: Shape;
}

/**
 * The form of a field's name: no digits inside, unlike IDs. Other keys are data: a map may have emails, phone
 * numbers or IDs as keys. They must not be shown, and each would make a new shape
 * (docs/reference/upstream.md, trap 5).
 */
const NAME = /^[A-Za-z_]{1,37}\d{0,3}$/;

/** The largest known record has 25 fields. An object with more is a map whose keys look like names. */
const MAX_NAMES = 64;

/** The deepest known answer has 9 levels. Deeper values count as anything, which bounds the recursion. */
const MAX_DEPTH = 16;

/** The largest known answer has 60 parts. A larger shape is cut to the levels that fit. */
const MAX_PARTS = 400;

const NO_BODY = Symbol('no body');

const TYPES = new Map<string, string>([
  ['boolean', 'boolean'],
  ['number', 'number'],
  ['bigint', 'number'],
  ['string', 'string'],
  ['symbol', 'no body'],
]);

/** Returns the input of `shapeOf` and `allows` for an answer's bytes: their JSON value, or a marker. */
export function valueIn(body: Buffer | null): unknown {
  return body?.length ? parseJson(body) : NO_BODY;
}

/**
 * Returns the shape of a JSON value, or of `undefined` if the answer is not JSON. Ignores the order of keys,
 * the order and number of a list's elements, and every value. Never throws, is small, and takes linear time.
 */
export function shapeOf(value: unknown): Shape {
  return fit(shapeAt(value, 0));
}

/**
 * Whether a value has nothing new. New are an unknown field or type, a number instead of text (trap 3), and a
 * missing field that was always present. Variations among the records of a list are new only once: if one has
 * an email and another a phone number, further combinations are allowed.
 */
export function allows(known: Shape, value: unknown): boolean {
  if (typeof known === 'boolean') return known;
  if (!known.type.includes(typeOf(value))) return false;
  if (typeof value !== 'object' || value === null) return true;
  // A hot path: every answer passes here, and few have anything new. Plain loops create no garbage.
  if (Array.isArray(value)) {
    const items = known.items ?? false;
    for (const element of value) if (!allows(items, element)) return false;
    return true;
  }
  if (!hasFields(known)) return true;
  for (const name of known.required) if (!Object.hasOwn(value, name)) return false;
  for (const key in value) {
    if (!allows(fieldOf(known, key), (value as Record<string, unknown>)[key])) return false;
  }
  return true;
}

/** Whether `known` allows everything that `shape` allows. */
export function covers(known: Shape, shape: Shape): boolean {
  if (known === true || shape === false) return true;
  if (known === false || shape === true) return false;
  return (
    shape.type.every((type) => known.type.includes(type)) &&
    covers(known.items ?? false, shape.items ?? false) &&
    (!hasFields(shape) || (hasFields(known) && coversFields(known, shape)))
  );
}

/** Returns the smallest shape that covers both, within the size limit. */
export function merge(a: Shape, b: Shape): Shape {
  return covers(a, b) ? a : fit(join(a, b));
}

/** Returns the SHA-256 of the shape's JSON with sorted keys. */
export function fingerprintOf(shape: Shape): Buffer {
  const text = JSON.stringify(shape, (_key, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
  return createHash('sha256').update(text).digest();
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'object') return Array.isArray(value) ? 'array' : 'object';
  return TYPES.get(typeof value) ?? 'not JSON';
}

function shapeAt(value: unknown, depth: number): Shape {
  const type = [typeOf(value)];
  if (typeof value !== 'object' || value === null) return { type };
  if (depth === MAX_DEPTH) return true;
  if (Array.isArray(value)) return { type, items: shapeOfAll(value, depth + 1) };
  return { type, ...fieldsAt(value as Record<string, unknown>, depth + 1) };
}

function fieldsAt(object: Record<string, unknown>, depth: number): Fields {
  const keys = Object.keys(object);
  const names = keys.filter((key) => NAME.test(key)).sort();
  const allOf = (some: string[]) =>
    shapeOfAll(
      some.map((key) => object[key]),
      depth,
    );
  if (names.length > MAX_NAMES) return { required: [], additionalProperties: allOf(keys) };
  return {
    properties: Object.fromEntries(
      names.map((name) => [name, name === FREE_FORM || shapeAt(object[name], depth)]),
    ),
    required: names,
    additionalProperties: allOf(keys.filter((key) => !NAME.test(key))),
  };
}

/** Merges elements one by one, to bound the memory for a million different elements. */
function shapeOfAll(values: unknown[], depth: number): Shape {
  let all: Shape = false;
  for (const value of values) if (!allows(all, value)) all = merge(all, shapeAt(value, depth));
  return all;
}

function hasFields(shape: Shape): shape is ObservedShape & Fields {
  return typeof shape === 'object' && shape.required !== undefined;
}

/** Only own properties count, because `constructor` may be a field. */
function fieldOf({ properties, additionalProperties }: Fields, key: string): Shape {
  if (properties && Object.hasOwn(properties, key)) return properties[key] ?? false;
  return properties && NAME.test(key) ? false : additionalProperties;
}

function coversFields(known: Fields, fields: Fields): boolean {
  return (
    (!known.properties || fields.properties !== undefined) &&
    known.required.every((name) => fields.required.includes(name)) &&
    Object.entries(fields.properties ?? {}).every(([name, field]) => covers(fieldOf(known, name), field)) &&
    covers(known.additionalProperties, fields.additionalProperties)
  );
}

function join(a: Shape, b: Shape): Shape {
  if (a === true || b === true) return true;
  if (a === false || b === false) return a || b;
  const type = [...new Set([...a.type, ...b.type])].sort();
  const items = join(a.items ?? false, b.items ?? false);
  return { type, ...(type.includes('array') && { items }), ...joinFields(a, b) };
}

function joinFields(a: ObservedShape, b: ObservedShape): Partial<Fields> {
  if (!hasFields(a) || !hasFields(b)) return { ...fieldsIn(a), ...fieldsIn(b) };
  const names = Object.keys({ ...a.properties, ...b.properties }).sort();
  const others = join(a.additionalProperties, b.additionalProperties);
  if (!a.properties || !b.properties || names.length > MAX_NAMES) {
    const named = [a, b].flatMap(({ properties = {} }) => Object.values(properties));
    return { required: [], additionalProperties: named.reduce(join, others) };
  }
  return {
    properties: Object.fromEntries(names.map((name) => [name, join(fieldOf(a, name), fieldOf(b, name))])),
    required: a.required.filter((name) => b.required.includes(name)),
    additionalProperties: others,
  };
}

function fieldsIn(shape: ObservedShape): Partial<Fields> {
  if (!hasFields(shape)) return {};
  const { properties, required, additionalProperties } = shape;
  return { ...(properties && { properties }), required, additionalProperties };
}

/** Cuts everything below the last level that keeps the shape within MAX_PARTS. */
function fit(shape: Shape): Shape {
  const sizes: number[] = [];
  countParts(shape, 0, sizes);
  let parts = 0;
  const tooDeep = sizes.findIndex((size) => (parts += size) > MAX_PARTS);
  return tooDeep === -1 ? shape : cut(shape, tooDeep - 1);
}

/** Adds the number of parts of each level to `sizes`. */
function countParts(shape: Shape, level: number, sizes: number[]): void {
  sizes[level] = (sizes[level] ?? 0) + 1;
  for (const part of partsOf(shape)) countParts(part, level + 1, sizes);
}

function partsOf(shape: Shape): Shape[] {
  if (typeof shape === 'boolean') return [];
  const { items = false, properties = {}, additionalProperties = false } = shape;
  return [...Object.values(properties), items, additionalProperties].filter((part) => part !== false);
}

function cut(shape: Shape, levels: number): Shape {
  if (typeof shape === 'boolean' || partsOf(shape).length === 0) return shape;
  if (levels === 0) return true;
  const below = (part: Shape) => cut(part, levels - 1);
  const { items, properties, additionalProperties, ...rest } = shape;
  return {
    ...rest,
    ...(items !== undefined && { items: below(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, below(field)])),
    }),
    ...(additionalProperties !== undefined && { additionalProperties: below(additionalProperties) }),
  };
}
