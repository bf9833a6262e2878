import { Decimal } from 'decimal.js';
import { movesNamedTransaction, OPERATION_NAMES, OperationName, rowOf } from '../catalogue/catalogue';
import { readWrittenId } from '../catalogue/payout-id';
import { ItemField, Items } from '../catalogue/row';
import { Item } from './item';

type Fields = Record<string, unknown>;

/** Returns the location and fields of an operation's items. Undefined without items. */
export function itemFieldsOf(operation: OperationName): Items | undefined {
  const row = rowOf(operation);
  return row.effect === 'read' || row.items === 'none' ? undefined : row.items;
}

/** Reads the items of a validated body for the record. An amount is a number, or was decimal text. */
export function itemsOf(operation: OperationName, input: object | undefined): Item[] {
  const items = itemFieldsOf(operation);
  if (!items || input === undefined) return [];
  const body = input as Fields;
  const sharedId = sharedIdIn(body, items);
  if (items.in === 'the_body') return [toItem(body, items, sharedId)];
  return (body[items.in] as Fields[] | undefined)?.map((fields) => toItem(fields, items, sharedId)) ?? [];
}

/** Returns the ID that the proxy wrote into a field of the body. It becomes the reference of each item. */
function sharedIdIn(body: Fields, { ownId }: Items): string | null {
  return ownId !== 'nowhere' && ownId.of === 'the_body' ? readWrittenId(body[ownId.field]) : null;
}

/** Returns a function that locates an item's field in the body, as a JSON pointer (RFC 6901). */
export function pointerIn(operation: OperationName): (position: number, field: ItemField) => string {
  const { in: list = 'the_body', fields = {} } = itemFieldsOf(operation) ?? {};
  return (position, field) => {
    const path = [...(list === 'the_body' ? [] : [list, position]), fields[field] ?? []].flat();
    return path.map((name) => `/${name}`).join('');
  };
}

/** Returns the field with the value of an item. */
export function valueFieldOf(operation: OperationName): 'amountUsd' | 'upstreamRef' {
  return movesNamedTransaction(operation) ? 'upstreamRef' : 'amountUsd';
}

/** Returns the interface's names of a field, over all operations. */
export function namesOf(field: ItemField): Set<string> {
  return new Set(OPERATION_NAMES.flatMap((operation) => itemFieldsOf(operation)?.fields[field] ?? []));
}

function toItem(body: Fields, items: Items, sharedId: string | null): Item {
  const text = (field: ItemField) => textAt(body, items.fields[field]);
  const amount = items.fields.amountUsd === undefined ? undefined : body[items.fields.amountUsd];
  const email = text('email');
  const handle = text('handle') || null; // An empty handle next to an email counts as missing.
  return {
    recipientField: recipientFieldOf(body, items),
    handleIgnored: email !== null && handle !== null,
    email,
    phone: text('phone'),
    handle,
    amountUsd: typeof amount === 'number' || typeof amount === 'string' ? new Decimal(amount) : null,
    country: text('country'),
    networkCode: text('networkCode'),
    reference: text('reference') ?? sharedId,
    receiver: text('receiver'),
    wallet: text('wallet'),
    upstreamRef: text('upstreamRef'),
  };
}

function textAt(body: Fields, name: string | undefined): string | null {
  const value = name === undefined ? undefined : body[name];
  return typeof value === 'string' ? value : null;
}

/**
 * Returns the field of the recipient. The email precedes the handle (docs/reference/upstream.md, "Credit
 * item", rule 2).
 */
function recipientFieldOf(body: Fields, { recipient, fields }: Items): Item['recipientField'] {
  if (recipient === 'nobody') return null;
  return recipient.find((kind) => textAt(body, fields[kind])) ?? null;
}
