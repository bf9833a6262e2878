import { Decimal } from 'decimal.js';
import { CallRecord, RecordItem } from '../../../src/history/records/record.dto';
import { CallSearch } from '../../../src/history/search/search.dto';
import { canonicalCountry } from '../../../src/recipients/country-name';

const contactsOf = ({ recipient: { email, phone, handle, receiver } }: RecordItem) =>
  [email?.toLowerCase(), phone, handle?.toLowerCase(), receiver].flatMap((contact) => contact ?? []);
const refsOf = (
  of: { upstream_ref: string | null; upstream_id?: string | null; batch_ref?: string | null } | null,
) => [of?.upstream_ref, of?.upstream_id, of?.batch_ref];
const within = (usd: string | null, least: string | undefined, most: string | undefined) =>
  (least === undefined || (usd !== null && new Decimal(usd).gte(least))) &&
  (most === undefined || (usd !== null && new Decimal(usd).lte(most)));
const same = (wanted: string | undefined, value: unknown) => wanted === undefined || wanted === value;

/** Meaning of each filter, checked on the records one by one. */
function fits(call: CallRecord, search: CallSearch): boolean {
  const at = new Date(call.timings.received_at);
  return (
    (search.from === undefined || at >= new Date(search.from)) &&
    (search.to === undefined || at < new Date(search.to)) &&
    (search.client === undefined || [call.client.id, call.client.name].includes(search.client)) &&
    same(search.key, call.key_id) &&
    same(search.actor, call.actor) &&
    same(search.operation, call.operation) &&
    same(search.outcome, call.outcome) &&
    same(search.in_doubt, String(call.outcome === 'unknown')) &&
    same(search.approval, call.approval?.status) &&
    within(call.total_usd, search.min_total_usd, search.max_total_usd) &&
    same(search.idempotency_key, call.idempotency_key) &&
    same(search.request_id, call.request_id) &&
    same(search.client_address, call.client_address)
  );
}

function itemFits(item: RecordItem, search: CallSearch): boolean {
  const { recipient, recipient_prefix: prefix } = search;
  return (
    (recipient === undefined || contactsOf(item).includes(recipient)) &&
    (prefix === undefined || contactsOf(item).some((contact) => contact.startsWith(prefix))) &&
    same(
      search.country && canonicalCountry(search.country),
      item.country && canonicalCountry(item.country),
    ) &&
    same(search.network_code, item.network_code) &&
    same(search.reference, item.reference) &&
    within(item.amount_usd, search.min_item_usd, search.max_item_usd)
  );
}

const OF_ITEMS = [
  'recipient',
  'recipient_prefix',
  'country',
  'network_code',
  'reference',
  'min_item_usd',
  'max_item_usd',
] as const;

const hasRef = (item: RecordItem, ref: string) => [...refsOf(item.upstream), item.upstream_ref].includes(ref);

function hasRefSomewhere({ items, upstream }: CallRecord, ref: string | undefined): boolean {
  if (ref === undefined) return true;
  return (
    items.some((item) => hasRef(item, ref)) ||
    (upstream?.other_items ?? []).some((other) => refsOf(other).includes(ref))
  );
}

const byUsd = (a: string | null, b: string | null) => new Decimal(b ?? -1).cmp(a ?? -1);

/**
 * @param calls newest first.
 * @returns the IDs of the results, in the requested order.
 */
export function naiveCalls(calls: CallRecord[], search: CallSearch): string[] {
  const about = OF_ITEMS.some((name) => search[name] !== undefined);
  const found = calls.filter(
    (call) =>
      fits(call, search) &&
      hasRefSomewhere(call, search.upstream_ref) &&
      (!about || call.items.some((item) => itemFits(item, search))),
  );
  if (search.sort === 'amount') found.sort((a, b) => byUsd(a.total_usd, b.total_usd));
  return found.map(({ id }) => id);
}

/** Searches payouts the same way. Returns `id/position`. */
export function naiveItems(calls: CallRecord[], search: CallSearch): string[] {
  const { upstream_ref: ref } = search;
  const found = calls
    .filter((call) => fits(call, search))
    .flatMap((call) => call.items.toReversed().map((item) => ({ id: call.id, item })))
    .filter(({ item }) => itemFits(item, search) && (ref === undefined || hasRef(item, ref)));
  if (search.sort === 'amount') found.sort((a, b) => byUsd(a.item.amount_usd, b.item.amount_usd));
  return found.map(({ id, item }) => `${id}/${item.position}`);
}
