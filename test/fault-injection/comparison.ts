import { OPERATION_NAMES, rowOf } from '../../src/operations/catalogue/catalogue';
import { OperationRow } from '../../src/operations/catalogue/row';
import { isDone, lastOf, Order } from './orders';
import type { Arrival } from './upstream';

/** A call in the history. */
export interface Call {
  id: string;
  clientId: string;
  /** Null for a payment without a person. */
  personId: string | null;
  operation: string;
  body: string | null;
  state: string;
  /** Whether the upstream's answer is recorded. */
  answered: boolean;
}

/** An app or one of its persons. */
export interface Payer {
  id: string;
  name: string;
  /** Per day. Null for no cap. */
  capUsd: number | null;
}

/** Reads may be repeated and cached, so they are not compared one by one. */
export const isRead = (operation: string): boolean => rowIn(operation).effect === 'read';

/** Returns the catalogue's row of an operation. */
export function rowIn(operation: string): OperationRow {
  const name = OPERATION_NAMES.find((one) => one === operation);
  if (name === undefined) throw new Error(`there is no operation ${operation}`);
  return rowOf(name);
}

/** Finds requests that arrived without a record, and recorded answers to requests that never arrived. */
export function comparedWithUpstream(calls: Call[], arrivals: Arrival[]): string[] {
  const arrived = counted(arrivals.map(({ operation, body }) => identityOf(operation, body)));
  const of = (some: Call[]) => counted(some.map(({ operation, body }) => identityOf(operation, read(body))));
  const sendable = of(calls.filter(({ state }) => state !== 'refused'));
  const answered = of(calls.filter((call) => call.answered));
  return [
    ...exceeding(arrived, sendable).map((identity) => `unrecorded: ${identity}`),
    ...exceeding(answered, arrived).map((identity) => `phantom: ${identity}`),
  ];
}

/** Finds orders that were executed twice, and acknowledged ones missing from the history or the upstream. */
export function comparedWithApps(orders: Order[], calls: Call[], arrivals: Arrival[]): string[] {
  const done = counted(
    arrivals.flatMap(({ operation, body, processed }) => (processed ? [identityOf(operation, body)] : [])),
  );
  const states = new Map(calls.map(({ id, state }) => [id, state]));
  return orders.flatMap((order) => {
    const identity = identityOf(order.operation, order.body);
    const times = done.get(identity) ?? 0;
    const state = states.get(lastOf(order)?.callId ?? '');
    const isMissing = isDone(order) && (times === 0 || !['succeeded', 'confirmed'].includes(state ?? ''));
    return [
      ...(times > 1 ? [`twice: ${identity} was carried out ${times} times`] : []),
      ...(isMissing && !isRead(order.operation)
        ? [`lost: ${identity} was acknowledged, is ${state} and was done ${times} times`]
        : []),
    ];
  });
}

/**
 * Finds payers above their cap, by the upstream's executions or by the proxy's count.
 * @param spent the proxy's count, by payer.
 */
export function comparedWithCaps(
  payers: Payer[],
  calls: Call[],
  arrivals: Arrival[],
  spent: Map<string, number>,
): string[] {
  const payersOf = new Map(
    calls.map(({ operation, body, clientId, personId }) => [
      identityOf(operation, read(body)),
      [clientId, personId],
    ]),
  );
  const paid = new Map<string, number>();
  for (const { operation, body, processed } of arrivals) {
    if (!processed || rowIn(operation).effect !== 'pay') continue;
    for (const payer of payersOf.get(identityOf(operation, body)) ?? []) {
      if (payer !== null) paid.set(payer, (paid.get(payer) ?? 0) + amountOf(body));
    }
  }
  const over = (usd: number | undefined, capUsd: number) => (usd ?? 0) > capUsd + 1e-6;
  return payers.flatMap(({ id, name, capUsd }) =>
    capUsd !== null && (over(paid.get(id), capUsd) || over(spent.get(id), capUsd))
      ? [`overspent: ${name} may spend ${capUsd}, paid ${paid.get(id)} and counts ${spent.get(id)}`]
      : [],
  );
}

interface Body {
  valueInUSD?: number;
  amount?: number;
  airtimes?: Body[];
  momos?: Body[];
  credits?: Body[];
}

function amountOf(body: unknown): number {
  const { airtimes, momos, credits, ...item } = body as Body;
  const items = airtimes ?? momos ?? credits ?? [item];
  return items.reduce((sum, { valueInUSD, amount }) => sum + (valueInUSD ?? amount ?? 0), 0);
}

/** Returns the fields that identify a request, without the proxy's additions. */
function identityOf(operation: string, body: unknown): string {
  return `${operation} ${JSON.stringify(body ?? {}, withoutOwnIds)}`;
}

const OWN_IDS: readonly string[] = ['reference', 'description', 'meta'];

function withoutOwnIds(field: string, value: unknown): unknown {
  if (OWN_IDS.includes(field)) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const read = (body: string | null): unknown => (body === null || body === '' ? undefined : JSON.parse(body));

function counted(all: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

/** Returns the entries more frequent in the first map. */
function exceeding(first: Map<string, number>, second: Map<string, number>): string[] {
  return [...first].flatMap(([identity, times]) => (times > (second.get(identity) ?? 0) ? [identity] : []));
}
