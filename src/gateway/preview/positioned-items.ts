import { FaultList } from '../../http/validation/faults';
import { OperationName } from '../../operations/catalogue/catalogue';
import { Item, paidName } from '../../operations/items/item';
import { itemFieldsOf, itemsOf } from '../../operations/items/items';
import { isObject } from '../../platform/json/is-object';
import { PreviewDuplicate } from './preview.dto';

/** An item and its position in the body's list. */
export interface PositionedItem {
  position: number;
  item: Item;
}

/**
 * Returns the items without faults.
 * @param body validated if it has no faults. Otherwise as received, and only these items are reliable.
 */
export function validItems(operation: OperationName, body: unknown, found: FaultList): PositionedItem[] {
  if (found.total === 0) return itemsOf(operation, body as object | undefined).map(positioned);
  const list = listIn(operation, body);
  const valid = list.flatMap((fields, position) =>
    found.brokenItems.has(position) ? [] : [{ position, fields }],
  );
  const items = itemsOf(operation, {
    [itemFieldsOf(operation)?.in ?? '']: valid.map(({ fields }) => fields),
  });
  return valid.flatMap(({ position }, index) => positioned(items[index] as Item, position));
}

/** Returns the number of items in a body, even if it is invalid. */
export function itemCount(operation: OperationName, body: unknown): number {
  const items = itemFieldsOf(operation);
  if (!items) return 0;
  return items.in === 'the_body' ? 1 : listIn(operation, body).length;
}

/** Returns the items that pay the same recipient the same amount as an earlier item. */
export function duplicatesInside(items: PositionedItem[]): PreviewDuplicate[] {
  const first = new Map<string, number>();
  return items.flatMap(({ position, item }) => {
    const paid = paidName(item);
    if (paid === undefined || item.amountUsd === null) return [];
    const payment = `${paid.key} ${item.amountUsd.toFixed()}`;
    const before = first.get(payment);
    if (before !== undefined) return [{ position, kind: 'inside_batch', same_as_position: before }];
    first.set(payment, position);
    return [];
  });
}

function listIn(operation: OperationName, body: unknown): unknown[] {
  const list = isObject(body) ? body[itemFieldsOf(operation)?.in ?? ''] : undefined;
  return Array.isArray(list) ? list : [];
}

function positioned(item: Item, position: number): PositionedItem {
  return { position, item };
}
