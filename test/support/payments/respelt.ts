import { OperationName } from '../../../src/operations/catalogue/catalogue';
import { ItemField } from '../../../src/operations/catalogue/row';
import { itemFieldsOf } from '../../../src/operations/items/items';

export type Fields = Record<string, unknown>;

type Respelling = (fields: Partial<Record<ItemField, string>>, item: Fields) => Fields;

/** Spellings of an item with the same payment, each for the operations whose items have the fields. */
const RESPELLINGS: Record<string, Respelling> = {
  'a recipient in capitals': ({ email = '', handle = '' }, item) => inCapitals(item, email, handle),
  'a country with accents and in capitals': ({ country = '' }, item) =>
    inCapitals(item, country, country, (name) => name.replaceAll('E', 'É')),
  'an empty handle': ({ handle }, item) =>
    handle === undefined || handle in item ? item : { ...item, [handle]: '' },
  'an unused handle in addition to the email': ({ email, handle }, item) =>
    email === undefined || handle === undefined || !item[email] ? item : { ...item, [handle]: '@ignored' },
  'members in another order': (_, item) => Object.fromEntries(Object.entries(item).reverse()),
};

export const RESPELLING_NAMES = Object.keys(RESPELLINGS);

function inCapitals(item: Fields, one: string, other: string, more = (text: string) => text): Fields {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      typeof value === 'string' && (name === one || name === other) ? more(value.toUpperCase()) : value,
    ]),
  );
}

/** Changes the spelling of a body's items. */
export function respelt(operation: OperationName, body: Fields, names: string[] = RESPELLING_NAMES): Fields {
  const { fields = {} } = itemFieldsOf(operation) ?? {};
  return inItems(operation, body, (item) =>
    names.reduce((all, name) => RESPELLINGS[name]?.(fields, all) ?? all, item),
  );
}

/** Applies a change to each item of a body. */
export function inItems(operation: OperationName, body: Fields, change: (item: Fields) => Fields): Fields {
  const list = itemFieldsOf(operation)?.in ?? 'the_body';
  return list === 'the_body' ? change(body) : { ...body, [list]: (body[list] as Fields[]).map(change) };
}

/** Other descriptions of the same payment, by field. */
const WORDS: Fields = {
  description: 'Anew',
  reference: 'anew',
  tx_ref: 'anew',
  fullname: 'A. Lovelace',
  name: 'Anew',
  meta: { note: 'anew' },
  wallet: 'anew',
};

/** Changes the descriptions of the same payments. */
export function describedAnew(operation: OperationName, body: Fields): Fields {
  const anew = (fields: Fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, WORDS[name] ?? value]));
  return inItems(operation, anew(body), anew);
}

/** Changes the amounts or the objects. */
export function otherPayment(operation: OperationName, body: Fields): Fields {
  const other: Fields = { chiRef: 'other', id: 'other', email: 'bob@example.com' };
  return inItems(operation, body, (item) =>
    Object.fromEntries(
      Object.entries(item).map(([name, value]) => [
        name,
        typeof value === 'number' ? value + 1 : (other[name] ?? value),
      ]),
    ),
  );
}
