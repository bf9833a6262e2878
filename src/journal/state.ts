import { Decimal } from 'decimal.js';
import { hash } from 'node:crypto';
import { Prisma } from '../database/generated/client';
import { uuidFloor } from '../database/uuid';
import { Budget, State } from '../policy/admission';
import { commitment } from './commitment';
import { NEVER_CARRIED_OUT } from './never-carried-out';
import { Considered } from './records';
import { readSamePayments } from './same-payments';
import { ACTIVE_STOPS } from './stops';

/** How far back the guards look, in seconds; 0: not at all. */
export interface GuardWindows {
  /** From the answer of the first call: what is still being carried out, or is in doubt, counts as long as it is. */
  duplicateSeconds: number;
  /** For how long a call may be without an outcome; so much further back contents are kept. */
  inFlightSeconds: number;
  acrossClientsSeconds: number;
}

interface Found {
  today: string;
  /** Of erased content there is no hash. */
  claims: { asking: string; call: string; salt: string | null; hash: string | null }[] | null;
  recent: { asking: string; call: string }[] | null;
  spending: { client: string; today: string; month: string }[] | null;
  stops: State['stops'] | null;
}

/** A client, as far as it limits what may be spent. */
export interface Budgeted {
  id: string;
  dailyCapUsd: Prisma.Decimal | null;
  monthlyCapUsd: Prisma.Decimal | null;
}

/** What holds for these calls, and the day (UTC) on whose caps they count. Only while their clients are locked does it last. */
export async function readState(
  tx: Prisma.TransactionClient,
  askings: Considered[],
  clients: Budgeted[],
  windows: GuardWindows,
): Promise<{ state: State; today: string }> {
  const clientIds = clients.map(({ id }) => id);
  const found = await find(tx, askings, clientIds, windows);
  return { state: await toState(tx, askings, clients, found, windows), today: found.today };
}

/**
 * One look at the small tables that say almost always all there is to know. OFFSET 0 keeps the planner from reading them
 * whole, as it would for a batch: each asking call is looked up by the primary key.
 */
async function find(
  tx: Prisma.TransactionClient,
  askings: Considered[],
  clientIds: string[],
  windows: GuardWindows,
): Promise<Found> {
  const rows = JSON.stringify(
    askings.map(({ id, caller, operation, idempotencyKey, content }) => ({
      asking: id,
      client_id: caller.clientId,
      operation,
      key: idempotencyKey,
      content: sha256(content).toString('hex'),
    })),
  );
  const since = rememberedSince(windows);
  const [found] = await tx.$queryRaw<Found[]>`
    -- prepared as find_state
    WITH asked AS (
      SELECT * FROM json_to_recordset(${rows}::json) AS t(asking uuid, client_id uuid, operation text, key text, content text)
    ), clock AS (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS today)
    SELECT today::text,
      (SELECT json_agg(json_build_object('asking', asking, 'call', intent_id, 'salt', encode(salt, 'hex'), 'hash', encode(content_hash, 'hex')))
       FROM asked a CROSS JOIN LATERAL (
         SELECT intent_id, salt, content_hash FROM idempotency_claim
         WHERE client_id = a.client_id AND operation = a.operation AND key = a.key OFFSET 0) AS claim) AS claims,
      (SELECT json_agg(json_build_object('asking', asking, 'call', intent_id) ORDER BY intent_id DESC)
       FROM asked a CROSS JOIN LATERAL (
         SELECT intent_id FROM recent_content
         WHERE client_id = a.client_id AND operation = a.operation AND content = decode(a.content, 'hex')
           AND intent_id >= ${since}::uuid OFFSET 0) AS before) AS recent,
      (SELECT json_agg(json_build_object('client', client_id, 'today', today_usd::text, 'month', month_usd::text))
       FROM (SELECT client_id, sum(usd) FILTER (WHERE day = today) AS today_usd, sum(usd) AS month_usd FROM spending
             WHERE client_id = ANY (${clientIds}::uuid[]) AND day >= date_trunc('month', today)::date
             GROUP BY client_id) AS spent) AS spending,
      (SELECT json_agg(s) FROM (${ACTIVE_STOPS}) AS s) AS stops
    FROM clock`;
  if (!found) throw new Error('the database did not say what day it is');
  return found;
}

async function toState(
  tx: Prisma.TransactionClient,
  askings: Considered[],
  clients: Budgeted[],
  { claims, recent, spending, stops }: Found,
  windows: GuardWindows,
): Promise<State> {
  const ended = await endings(tx, [...(claims ?? []), ...(recent ?? [])], windows.duplicateSeconds);
  const byId = new Map(askings.map((asking) => [asking.id, asking]));
  const spent = new Map(spending?.map((row) => [row.client, row]));
  return {
    claims: new Map(
      claims
        ?.filter(({ call }) => ended.get(call) !== 'never carried out')
        .map(({ asking, call, salt, hash }) => {
          const { content = '' } = byId.get(asking) ?? {};
          return [asking, { callId: call, sameContent: isSame(content, salt, hash) }];
        }),
    ),
    duplicates: new Map(recent?.filter(({ call }) => !ended.has(call)).map(({ asking, call }) => [asking, call])),
    seenAcrossClients: await seenAcrossClients(tx, askings, windows.acrossClientsSeconds),
    stops: stops ?? [],
    budgets: new Map(clients.map((client) => [client.id, toBudget(client, spent.get(client.id))])),
    guards: { duplicates: windows.duplicateSeconds > 0, acrossClients: windows.acrossClientsSeconds > 0 },
  };
}

/** Where nothing is left to compare with, its key alone says what is meant: then too it must not be paid twice. */
function isSame(content: string, salt: string | null, hash: string | null): boolean {
  if (salt === null || hash === null) return true;
  return commitment(Buffer.from(salt, 'hex'), content)?.toString('hex') === hash;
}

type Ending = 'never carried out' | 'not paid' | 'long ago';

/**
 * Of calls that others repeat, those of which nothing is to be feared: nothing was sent or it is settled that nothing came of
 * it, which also frees the key; or the upstream, or an approver, said no; or its answer is older than the window.
 */
async function endings(
  tx: Prisma.TransactionClient,
  calls: { call: string }[],
  windowSeconds: number,
): Promise<Map<string, Ending>> {
  if (calls.length === 0) return new Map();
  const ids = [...new Set(calls.map(({ call }) => call))];
  const rows = await tx.$queryRaw<{ id: string; ending: Ending }[]>`
    SELECT id::text, ending FROM (
      SELECT i.id, CASE
        WHEN ${Prisma.raw(NEVER_CARRIED_OUT)} THEN 'never carried out'
        WHEN o.kind = 'rejected' OR d.verdict = 'rejected' THEN 'not paid'
        WHEN d.intent_id IS NULL AND i.expires_at <= clock_timestamp() THEN 'not paid'
        WHEN o.kind = 'succeeded' AND o.recorded_at < clock_timestamp() - make_interval(secs => ${windowSeconds}::float)
          THEN 'long ago'
      END AS ending
      FROM intent i LEFT JOIN outcome o ON o.intent_id = i.id LEFT JOIN current_resolution s ON s.intent_id = i.id
        LEFT JOIN decision d ON d.intent_id = i.id
      WHERE i.id = ANY (${ids}::uuid[])) AS ended
    WHERE ending IS NOT NULL`;
  return new Map(rows.map(({ id, ending }) => [id, ending]));
}

/** Calls with an item whose recipient and amount another client had within the window. */
async function seenAcrossClients(
  tx: Prisma.TransactionClient,
  askings: Considered[],
  windowSeconds: number,
): Promise<Set<string>> {
  if (windowSeconds === 0) return new Set();
  const wanted = askings
    .filter(({ usd }) => usd !== null)
    .flatMap(({ id, caller: { clientId }, items }) =>
      items.map((item, position) => ({ callId: id, clientId, position, item })),
    );
  const same = await readSamePayments(tx, wanted, 'of others', windowSeconds * 1_000);
  return new Set(same.map(({ wantedBy }) => wantedBy));
}

function toBudget(
  { dailyCapUsd, monthlyCapUsd }: Budgeted,
  spent: { today: string | null; month: string | null } | undefined,
): Budget {
  return {
    dailyCapUsd: dailyCapUsd && new Decimal(dailyCapUsd.toFixed()),
    monthlyCapUsd: monthlyCapUsd && new Decimal(monthlyCapUsd.toFixed()),
    spentTodayUsd: new Decimal(spent?.today ?? 0),
    spentThisMonthUsd: new Decimal(spent?.month ?? 0),
  };
}

/** Calls with lower ids are too old for their contents to be noticed again. */
export function rememberedSince({ duplicateSeconds, inFlightSeconds }: GuardWindows): string {
  return uuidFloor(new Date(Date.now() - (duplicateSeconds + inFlightSeconds) * 1_000));
}

export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
