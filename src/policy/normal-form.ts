import { OperationName } from '../operations/catalogue/catalogue';
import { ItemField, Items } from '../operations/catalogue/row';
import { itemFieldsOf } from '../operations/items/items';
import { canonicalCountry } from '../recipients/country-name';
import { recipientKey } from '../recipients/recipient';
import { canonical, canonicalObject, canonicalValue } from './content';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns a body in normal form. Equivalent bodies have the same normal form: recipients and countries in any
 * spelling, members in any order, and empty text like missing text. The idempotency key and the duplicate
 * guard compare it.
 * @param body validated, so each amount is a number.
 */
export function normalForm(operation: OperationName, body: object | undefined): string {
  const items = itemFieldsOf(operation);
  if (!items || body === undefined) return canonical(body);
  const known = namesIn(items);
  if (items.in === 'the_body') return canonicalItem(body as Fields, items, known);
  const { [items.in]: list, ...others } = body as Fields;
  const texts = new Map(
    Object.entries(withoutEmpty(others, known)).map(([name, value]) => [name, canonicalValue(value)]),
  );
  const all = Array.isArray(list) ? (list as Fields[]) : [];
  texts.set(items.in, `[${all.map((item) => canonicalItem(item, items, known)).join(',')}]`);
  return canonicalObject([...texts.keys()], (name) => texts.get(name) ?? '');
}

/**
 * Returns the payment or change of each item in a body: its recipients, its amounts and its named
 * transaction. Two bodies with an equal one may be the same payment, whatever else they contain.
 */
export function paymentsIn(operation: OperationName, body: object | undefined): string[] {
  const items = itemFieldsOf(operation);
  if (!items || body === undefined) return [];
  const known = namesIn(items);
  const list = items.in === 'the_body' ? [body] : (body as Fields)[items.in];
  return normalItems(list, items, known).map((item) =>
    canonical(
      Object.fromEntries(Object.entries(item).filter(([name, value]) => isPaid(known.get(name), value))),
    ),
  );
}

/** The interface's field names. `other` for fields outside of records. */
type Names = ReadonlyMap<string, ItemField | 'other'>;

const namesOfItems = new Map<Items, Names>();

function namesIn(items: Items): Names {
  const { fields, unrecorded, ownId } = items;
  let names = namesOfItems.get(items);
  if (!names) {
    const others = [...unrecorded, ...(ownId === 'nowhere' ? [] : [ownId.field])];
    names = new Map([
      ...others.map((name) => [name, 'other'] as const),
      ...Object.entries(fields).map(([field, name]) => [name, field as ItemField] as const),
    ]);
    namesOfItems.set(items, names);
  }
  return names;
}

function normalItems(list: unknown, items: Items, known: Names): Fields[] {
  return Array.isArray(list) ? list.map((item) => normalItem(item as Fields, items, known)) : [];
}

/** Returns the item in comparable form. */
function normalItem(item: Fields, items: Items, known: Names): Fields {
  return Object.fromEntries(
    comparedNames(item, items, known).map((name) => [name, normalValue(known.get(name), item[name])]),
  );
}

/** Writes the item in comparable form at once, in a third of the time of making it first. */
function canonicalItem(item: Fields, items: Items, known: Names): string {
  return canonicalObject(comparedNames(item, items, known), (name) =>
    canonicalValue(normalValue(known.get(name), item[name])),
  );
}

/** Returns the names of members with a value. Of several recipients, only the paid one counts. */
function comparedNames(item: Fields, { recipient, fields }: Items, known: Names): string[] {
  const isGiven = (name: string) => item[name] !== undefined && (item[name] !== '' || !known.has(name));
  const given = Object.keys(item).filter(isGiven);
  if (recipient === 'nobody') return given;
  const kinds = recipient.filter((kind) => given.includes(fields[kind] ?? ''));
  if (kinds.length < 2) return given;
  const ignored = new Set<unknown>(kinds.slice(1));
  return given.filter((name) => !ignored.has(known.get(name)));
}

function normalValue(field: ItemField | 'other' | undefined, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (field === 'email' || field === 'phone' || field === 'handle' || field === 'receiver') {
    return recipientKey(field, value) ?? value;
  }
  return field === 'country' ? canonicalCountry(value) : value;
}

/** Drops empty text from the interface's own fields. Unknown fields keep it. */
function withoutEmpty(fields: Fields, known: Names): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== undefined && (value !== '' || !known.has(name)),
    ),
  );
}

/** The only numbers of the interface are amounts. */
function isPaid(field: ItemField | 'other' | undefined, value: unknown): boolean {
  if (field === undefined) return false;
  return typeof value === 'number' || PAID.has(field);
}

const PAID: ReadonlySet<string> = new Set<ItemField>(['email', 'phone', 'handle', 'receiver', 'upstreamRef']);
