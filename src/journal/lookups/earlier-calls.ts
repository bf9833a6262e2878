import { Decimal } from 'decimal.js';
import { CallOwner, Owner } from '../../access/auth/owner';
import { OperationName } from '../../operations/catalogue/catalogue';
import { CallState, freesKey } from '../../operations/lifecycle/lifecycle';
import { CALLS, STATE_COLUMNS, stateNowSql } from '../../operations/lifecycle/lifecycle-sql';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { fromStored } from '../../platform/database/rows/stored-body';
import { ofAccount } from '../records/accounts';
import { IntentDocument, OutcomeDocument } from '../records/documents';
import { LedgerItem, ledgerOf, LedgerRecords } from '../settlement/ledger';
import { catchUpIndex } from './search-index';
import { callsNamed } from './search-names';

/** The records of a repeated call. */
export interface FirstCall {
  id: string;
  /** Its owner. */
  made: CallOwner;
  state: CallState;
  /** Time since its release, by admission or approval, in ms. */
  ageMs: number;
  /** Whether another request may use its key. */
  isKeyFree: boolean;
  /** Its payouts. Empty if its items are no payouts. */
  payouts: LedgerItem[];
  outcome: OutcomeDocument | null;
  /** Body of its answer. */
  body: Buffer | null;
}

/** The columns of a body. Nulls without one. */
interface BodyColumns {
  body: Uint8Array | null;
  coding: string | null;
}

type FirstCallRow = Pick<FirstCall, 'state' | 'ageMs'> & LedgerRecords & BodyColumns;

/** The request of the call that holds a key. */
interface FirstRequest {
  made: CallOwner;
  /** Undefined if its body is no longer stored. */
  body: object | undefined;
}

/** Reads the request of the call that holds a key. Returns undefined for an unknown call. */
export async function readFirstRequest(prisma: PrismaService, id: string): Promise<FirstRequest | undefined> {
  const [row] = await prisma.$queryRaw<({ intent: IntentDocument } & BodyColumns)[]>`
    SELECT i.record::json AS intent, b.body, b.coding
    FROM intent i LEFT JOIN intent_body b ON b.intent_id = i.id WHERE i.id = ${id}::uuid`;
  if (!row) return undefined;
  const body = bytesIn(row);
  const parsed = body ? (JSON.parse(body.toString('utf8')) as object) : undefined;
  return { made: callOwnerOf(row.intent), body: parsed };
}

function bytesIn({ body, coding }: BodyColumns): Buffer | null {
  return body && fromStored({ body, coding });
}

function callOwnerOf({ client_id: clientId, person_id: personId }: IntentDocument): CallOwner {
  return { clientId, personId: personId ?? null };
}

/**
 * Reads a repeated call. Returns undefined for an unknown call.
 * @param inFlightSeconds longest time without an outcome while the call's process lives.
 */
export async function readFirstCall(
  prisma: PrismaService,
  id: string,
  inFlightSeconds: number,
): Promise<FirstCall | undefined> {
  const processes = await prisma.$queryRaw<{ number: number }[]>`SELECT live_processes() AS number`;
  const live = processes.map(({ number }) => number);
  const [row] = await prisma.$queryRaw<FirstCallRow[]>`
    SELECT ${stateNowSql(inFlightSeconds * 1_000, live)} AS state,
      (extract(epoch FROM clock_timestamp() - released_at) * 1000)::float8 AS "ageMs",
      intent, outcome, body, coding, settlements
    FROM (
      SELECT ${STATE_COLUMNS}, i.record::json AS intent, o.record::json AS outcome, b.body, b.coding,
        ARRAY(SELECT record::json FROM settlement WHERE intent_id = i.id ORDER BY number) AS settlements
      FROM ${CALLS} LEFT JOIN outcome_body b ON b.intent_id = i.id
      WHERE i.id = ${id}::uuid) AS call`;
  if (!row) return undefined;
  const isKeyFree = freesKey(row.state, row.outcome?.upstream_status ?? null);
  const { state, ageMs, outcome, intent } = row;
  return {
    id,
    made: callOwnerOf(intent),
    state,
    ageMs,
    isKeyFree,
    payouts: ledgerOf(row),
    outcome,
    body: bytesIn(row),
  };
}

/**
 * Reads the US dollar amount of a transaction from an account's earlier answers. The largest amount counts.
 * @returns null if no recorded answer names both the transaction and its amount.
 */
export async function readKnownAmount(
  prisma: PrismaService,
  account: string,
  upstreamRef: string,
): Promise<Decimal | null> {
  await catchUpIndex(prisma);
  const [row] = await prisma.$queryRaw<{ usd: string | null }[]>`
    SELECT max(amount_usd)::text AS usd FROM outcome_item
    WHERE upstream_ref = ${upstreamRef} AND intent_id = ANY (ARRAY(
      SELECT call_id FROM indexed_call
      WHERE call_id = ANY (${callsNamed('transaction', [upstreamRef])})
        AND ${ofAccount('client_id', account)}))`;
  return row?.usd ? new Decimal(row.usd) : null;
}

const CREATION: OperationName = 'POST /sub-account/create';

/**
 * Reads the answers to an owner's requests for sub-accounts. Omits those of erased people.
 * @throws DatabaseTooSlow if the search index lacks records, because it is being rebuilt.
 */
export async function readSubAccountCreations(
  prisma: Prisma.TransactionClient,
  { clientId, person }: Owner,
): Promise<Buffer[]> {
  await catchUpIndex(prisma);
  const terms = [`client:${clientId}`, `operation:${CREATION}`, 'state:succeeded'];
  if (person !== null) terms.push(`person:${person.id}`);
  const calls = await prisma.$queryRaw<{ id: string }[]>`
    SELECT call_id::text AS id FROM indexed_call WHERE terms @> ${terms}::text[]`;
  const bodies = await prisma.outcomeBody.findMany({
    where: { intentId: { in: calls.map(({ id }) => id) } },
  });
  return bodies.map(fromStored);
}
