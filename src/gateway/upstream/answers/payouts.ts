import { isObject } from '../../../platform/json/is-object';
import { parseJson } from './answer';
import { readText } from './transactions';

/**
 * The handover of a payout to the telco, by the answer (docs/reference/upstream.md, "Results by operation").
 */
export interface ListedPayout {
  /** Its position in the answer. */
  index: number;
  phone: string | null;
  status: string | null;
  /** Null without an error: `errorMessage` is the text "None" on success (trap 1). */
  error: string | null;
}

/** Items of the largest request. Bounds the cost of an answer with more payouts. */
const MAX_PAYOUTS = 10_000;

/** Reads `payouts` of an answer, a list or a map with the keys "0", "1" (trap 5). It never throws. */
export function payoutsIn(body: Buffer): ListedPayout[] {
  const envelope = parseJson(body);
  const data = isObject(envelope) ? envelope.data : undefined;
  const payouts = isObject(data) ? data.payouts : undefined;
  if (typeof payouts !== 'object' || payouts === null) return [];
  return Object.entries(payouts)
    .slice(0, MAX_PAYOUTS)
    .flatMap(([key, value]) =>
      /^\d{1,5}$/.test(key) && isObject(value) ? readPayout(Number(key), value) : [],
    );
}

function readPayout(index: number, value: Record<string, unknown>): ListedPayout[] {
  const status = readText(value.status);
  const error = readText(value.errorMessage);
  const isNone = error === null || /^\s*(none)?\s*$/i.test(error);
  if (status === null && isNone) return [];
  return [
    {
      index,
      phone: readText(value.phoneNumber) ?? readText(value.phone),
      status,
      error: isNone ? null : error,
    },
  ];
}
