import { isObject } from '../../../platform/json/is-object';
import { parseJson } from './answer';
import { text } from './transactions';

/** What an answer says about handing one payout to the telco (docs/reference/upstream.md, "Results by operation"). */
export interface ListedPayout {
  /** Its position in the answer. */
  place: number;
  phone: string | null;
  status: string | null;
  /** Null if there is none: `errorMessage` is the text "None" on success (trap 1). */
  error: string | null;
}

/** The number of items of the largest request. An answer with more payouts must not cost more. */
const MAX_PAYOUTS = 10_000;

/** Reads `payouts` of an answer, a list or a map with the keys "0", "1" (trap 5). It never throws. */
export function payoutsIn(body: Buffer): ListedPayout[] {
  const envelope = parseJson(body);
  const data = isObject(envelope) ? envelope.data : undefined;
  const payouts = isObject(data) ? data.payouts : undefined;
  if (typeof payouts !== 'object' || payouts === null) return [];
  return Object.entries(payouts)
    .slice(0, MAX_PAYOUTS)
    .flatMap(([key, value]) => (/^\d{1,5}$/.test(key) && isObject(value) ? readPayout(Number(key), value) : []));
}

function readPayout(place: number, value: Record<string, unknown>): ListedPayout[] {
  const status = text(value.status);
  const error = text(value.errorMessage);
  const isNone = error === null || /^\s*(none)?\s*$/i.test(error);
  if (status === null && isNone) return [];
  return [{ place, phone: text(value.phoneNumber) ?? text(value.phone), status, error: isNone ? null : error }];
}
