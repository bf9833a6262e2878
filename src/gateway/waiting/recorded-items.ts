import { Decimal } from 'decimal.js';
import { IntentDocument, ItemDocument } from '../../journal/records/documents';
import { PersonDocument } from '../../journal/records/recipients';
import { Item } from '../../operations/items/item';
import { Prisma } from '../../platform/database/generated/client';

/** Reads the recorded items of calls by call ID, including amounts that the request omitted. */
export async function readRecordedItems(
  tx: Pick<Prisma.TransactionClient, 'intent'>,
  ids: string[],
): Promise<Map<string, Item[]>> {
  const columns = { id: true, record: true, body: { select: { people: true } } };
  const rows = await tx.intent.findMany({ where: { id: { in: ids } }, select: columns });
  const items = new Map(
    rows.map(({ id, record, body }) => [
      id,
      itemsOfRecord(JSON.parse(record) as IntentDocument, body?.people ?? null),
    ]),
  );
  return new Map(ids.map((id) => [id, items.get(id) ?? []]));
}

/** @param people JSON of `PersonDocument[]`. Null if no item has a recipient. */
export function itemsOfRecord({ items = [] }: Pick<IntentDocument, 'items'>, people: string | null): Item[] {
  const persons = people === null ? [] : (JSON.parse(people) as PersonDocument[]);
  const byPosition = new Map(persons.map((person) => [person.position, person]));
  return items.map((item, position) => toItem(item, byPosition.get(position)));
}

/** @param person undefined if the item has no recipient, or the person was erased. */
function toItem(item: ItemDocument, person: PersonDocument | undefined): Item {
  return {
    recipientField: (item.recipient_field ?? null) as Item['recipientField'],
    handleIgnored: item.handle_ignored ?? false,
    email: person?.email ?? null,
    phone: person?.phone ?? null,
    handle: person?.handle ?? null,
    amountUsd: item.amount_usd === undefined ? null : new Decimal(item.amount_usd),
    country: item.country ?? null,
    networkCode: item.network_code ?? null,
    reference: item.reference ?? null,
    receiver: item.receiver ?? null,
    wallet: item.wallet ?? null,
    upstreamRef: item.upstream_ref ?? null,
  };
}
