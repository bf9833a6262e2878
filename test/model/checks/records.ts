import { NO_PROCESS } from '../../../src/journal/stops/recovery-gap';
import { COUNTED } from '../../../src/operations/lifecycle/entries';
import { TestDatabase } from '../../support/databases/test-database';
import type { Payment } from '../../support/simulator/ledger';
import { numberOf } from '../bodies';
import { World } from '../world';

/** An admitted call with all its records. */
export interface Intent {
  id: string;
  clientId: string;
  number: number;
  idempotencyKey: string | null;
  totalUsd: string | null;
  held: boolean;
  /** Whether it was accepted to be sent in its turn. */
  queued: boolean;
  /** Day of its cap. Null for no cap. */
  reservedOn: string | null;
  decision: 'approved' | 'rejected' | 'released' | null;
  /** Time and transaction of the decision. Null before it. */
  decidedAt: Date | null;
  decidedIn: string | null;
  resolution: 'confirmed' | 'not_executed' | null;
  /** Amount that counts on its caps. Null if the whole reservation counts. */
  countedUsd: string | null;
  /** Amount that its payouts took from `available` for good, by their ledger. Null without entries. */
  ledgerUsd: string | null;
  /** Settled by the upstream's listing, not by a person. */
  settledByList: boolean;
  outcome: 'succeeded' | 'rejected' | 'not_sent' | 'unknown' | null;
  /** Whether a payout of it was ever settled as not executed, whatever it is now. */
  wasFreed: boolean;
  failure: string | null;
  upstreamStatus: number | null;
  answer: string | null;
  /** Whether its commit was reported as failed, so it was never sent. Never true for a released call. */
  refused: boolean;
  /** Whether its app did not get the answer. */
  undelivered: boolean;
  /** Number of its sending process. */
  process: number;
  /** Time since it may have been sent, or since its admission. */
  secondsSinceRelease: number;
  /** Whether its sending process is alive. */
  alive: boolean;
  /** Whether all of its payouts failed or came back, so it blocks no equal payment without a key. */
  returned: boolean;
  /** Whether the database lost it, and recovered it from a copy without the bodies of request and answer. */
  recovered: boolean;
}

/** A request that arrived at the sandbox. */
export interface Arrival {
  operation: string;
  number: number;
  processed: boolean;
  /** Transactions created by it, in the order of its items. */
  chiRefs: string[];
  fault: string | null;
  httpStatus: number | null;
  answeredAt: string | null;
  /** Name of the lie about it. Null for an honest answer. Undefined at the sandbox. */
  lie?: string | null;
  /** Payments that it caused at the simulated upstream. */
  paid?: Payment[];
  /**
   * What no list shows within the quiet period, so its call may be settled as not executed, and the app then
   * pays again: it was paid later from a queue, or it was carried out, refused with 401, 403 or 429, and is
   * of a kind that the list lacks. A refusal needs no later payment of its kind in the list (decision 0063).
   * Any other answer does, so it stays in doubt there.
   */
  unknowable?: 'late' | 'hidden';
}

export async function readIntents({ database, lost }: World, clientIds: string[]): Promise<Intent[]> {
  const rows = await database.query<Omit<Intent, 'number'> & { body: string | null }>(
    `SELECT i.id, i.client_id AS "clientId", b.idempotency_key AS "idempotencyKey",
      i.total_usd::text AS "totalUsd",
       i.held_for IS NOT NULL AS held, i.held_for IS NULL AND i.expires_at IS NOT NULL AS queued,
       d.decided_at AS "decidedAt", d.tx::text AS "decidedIn",
       coalesce(i.reserved_on, d.reserved_on)::text AS "reservedOn",
       d.kind AS decision, s.resolution, coalesce(s.counted_usd, o.counted_usd)::text AS "countedUsd",
       coalesce(s.record::json ->> 'source' = 'resolver', FALSE) AS "settledByList", o.kind AS outcome,
         o.record::json ->> 'failure' AS failure,
       EXISTS (SELECT FROM settlement f WHERE f.intent_id = i.id AND (f.resolution = 'not_executed'
         OR f.record LIKE '%"entry":"not_executed"%')) AS "wasFreed",
       o.upstream_status AS "upstreamStatus", convert_from(a.body, 'UTF8') AS answer,
       (SELECT sum(amount_usd * ((from_account = 'available')::integer - (to_account =
         'available')::integer))::text
        FROM ledger_entry WHERE call_id = i.id) AS "ledgerUsd",
       d.kind IS DISTINCT FROM 'released' AND EXISTS (SELECT FROM refusal r WHERE r.id = i.id) AS refused,
       EXISTS (SELECT FROM settlement u WHERE u.intent_id = i.id
         AND u.record::json ->> 'undelivered' = 'true') AS undelivered,
       coalesce(d.process, i.process) AS process,
       extract(epoch FROM clock_timestamp() - coalesce(d.decided_at, i.recorded_at))::float8
         AS "secondsSinceRelease",
       coalesce(d.process, i.process) IN (SELECT live_processes()) AS alive, b.body IS NULL AS recovered,
       convert_from(b.body, 'UTF8') AS body,
       i.item_count > 0 AND i.item_count = (
         SELECT count(*) FROM last_entries(i.id, o.record::json -> 'entries', i.item_count, NULL)
         WHERE entry <> ALL ($2)) AS returned
     FROM intent i LEFT JOIN intent_body b ON b.intent_id = i.id
       LEFT JOIN decision d ON d.intent_id = i.id LEFT JOIN current_settlement s ON s.intent_id = i.id
       LEFT JOIN outcome o ON o.intent_id = i.id LEFT JOIN outcome_body a ON a.intent_id = i.id
     WHERE i.client_id = ANY ($1) ORDER BY i.id`,
    [clientIds, COUNTED],
  );
  return rows.map(({ body, ...intent }) => ({
    ...intent,
    number: body === null ? (lost?.calls.get(intent.id) ?? NaN) : numberOf(JSON.parse(body)),
  }));
}

/** Reads by the proxy about calls in doubt. */
const READ_BY_THE_PROXY: readonly string[] = [
  'POST /account/transactions',
  'GET /account/transaction',
  'GET /wallets/list',
];

/** Reads the requests of this wave. */
export async function readArrivals({ upstream }: World): Promise<Arrival[]> {
  const rows = await upstream.sandboxRequests();
  const requested = rows.filter(({ operation }) => !READ_BY_THE_PROXY.includes(operation));
  return [
    ...requested.map(({ body, ...arrival }) => ({
      ...arrival,
      number: numberOf(body),
      ...(upstream.hidesTransfers && isFalseRefusal(arrival) && { unknowable: 'hidden' as const }),
    })),
    ...upstream.accounts.flatMap((account) => account.arrivals()),
  ];
}

/** Returns the spending of each client by day, as counted by the proxies. */
export async function readSpending(database: TestDatabase, clientId: string): Promise<Map<string, string>> {
  const rows = await database.query<{ day: string; usd: string }>(
    'SELECT day::text, usd::text FROM spending WHERE client_id = $1 AND usd <> 0',
    [clientId],
  );
  return new Map(rows.map(({ day, usd }) => [day, usd]));
}

/** Returns whether it may have been sent: it was neither refused nor left waiting. */
export function isSendable({ refused, held, queued, decision, outcome }: Intent): boolean {
  if (refused) return false;
  if (held) return decision === 'approved';
  // A recovery may restore the outcome without the release.
  return !queued || decision === 'released' || (outcome !== null && outcome !== 'not_sent');
}

/** Returns whether it was queued in a database that was recovered. Then its release is only a record. */
export function isDoubtedByRecovery({ decision, process }: Intent): boolean {
  return decision === 'released' && process === NO_PROCESS;
}

/** Returns whether it may have been sent, and its outcome is unknown. */
export function isInDoubt(intent: Intent): boolean {
  const { outcome, resolution } = intent;
  return isSendable(intent) && resolution === null && (outcome === null || outcome === 'unknown');
}

/** Statuses of an upstream that rejects a request before reading it. */
export const GATEWAY_REFUSALS: readonly (number | null)[] = [401, 403, 429];

/** The only operation without listed results, so its errors are trusted. It pays no one. */
const UNLISTED = 'POST /sub-account/create';

/** Returns whether the sandbox executed it and proved the opposite, which the proxy cannot detect. */
export function isLie({ operation, processed, fault, httpStatus }: Arrival): boolean {
  if (!processed || httpStatus === null) return false;
  const isRejection =
    GATEWAY_REFUSALS.includes(httpStatus) || httpStatus === 500 || (fault ?? '').startsWith('error');
  return operation === UNLISTED && isRejection && httpStatus !== 502;
}

/** Returns whether the sandbox carried a transfer out, and a gateway refused it. */
function isFalseRefusal({ operation, processed, httpStatus }: Omit<Arrival, 'number'>): boolean {
  return processed && GATEWAY_REFUSALS.includes(httpStatus) && operation.endsWith('/transfer');
}

/**
 * Returns the number of calls of a request that were settled as not executed by a list that could not show
 * their payments.
 */
export function misjudged(intents: Intent[], arrivals: Arrival[]): number {
  const unknowable = arrivals.filter((one) => one.unknowable !== undefined).length;
  return Math.min(unknowable, intents.filter(({ wasFreed }) => wasFreed).length);
}

/** Returns whether its rejection frees its key. */
export function isFreed({ outcome, upstreamStatus }: Intent): boolean {
  return outcome === 'rejected' && GATEWAY_REFUSALS.includes(upstreamStatus);
}

/** Returns whether the app got an unverified answer of the upstream. */
export function isUnverified({ outcome, failure }: Intent): boolean {
  return outcome === 'unknown' && (failure === 'unverified_rejection' || failure === 'contradictory');
}
