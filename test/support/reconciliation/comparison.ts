import { v7 as uuidv7 } from 'uuid';
import { recordedAccount } from '../../../src/journal/records/accounts';
import {
  IntentDocument,
  ItemDocument,
  OutcomeDocument,
  TransactionDocument,
} from '../../../src/journal/records/documents';
import { ENTRIES, Entry, expectedEntry } from '../../../src/operations/lifecycle/settlement';
import { MAIN_ACCOUNT } from '../../../src/platform/config/upstream/upstream-accounts';
import { connectForRun } from '../../../src/reconciliation/book/connection';
import { MissingLookup, Plan } from '../../../src/reconciliation/book/plan';
import { compare } from '../../../src/reconciliation/matching/comparison';
import { TotalsRecord } from '../../../src/reconciliation/matching/totals.dto';
import { TestDatabase } from '../databases/test-database';
import { first } from '../examples/first';
import { insertBeside, insertIntents, insertOutcomes, insertSettlements } from '../records/documents';
import type { PartialRecord } from '../records/documents';

/** A payment of ours. Times are text. */
export interface Ours {
  call_id: string;
  position?: number;
  operation: string;
  at: string;
  /** Null without an outcome. */
  kind: 'succeeded' | 'rejected' | 'unknown' | 'not_sent' | null;
  /** The entry that the answer states. By default that of an answer without transactions. */
  entry?: Entry;
  resolution?: 'confirmed' | 'not_executed' | null;
  usd: string | null;
  email?: string | null;
  reference?: string | null;
  upstream_ref?: string | null;
  upstream_id?: string | null;
  batch_ref?: string | null;
  client_id?: string;
}

/** A transaction of the upstream. */
export interface Theirs {
  upstream_ref?: string | null;
  upstream_id?: string | null;
  batch_ref?: string | null;
  issued_at: string | null;
  type?: string;
  status: string | null;
  amount_usd: string | null;
  fee_usd?: string | null;
  email?: string | null;
  reference?: string | null;
}

/** Writes payments like the journal, each as a separate call unless they share one. */
export async function writeOurs(database: TestDatabase, ours: Ours[]): Promise<void> {
  const ids = [...new Set(ours.map(({ call_id }) => call_id))];
  const calls = ids.map((id): Payments => [id, ours.filter(({ call_id }) => call_id === id)]);
  await insertIntents(database, calls.map(toIntent));
  for (const [id, payments] of calls) {
    const people = payments.flatMap(({ email }, position) => (email ? [{ position, email }] : []));
    if (people.length > 0) await insertBeside(database, id, { people });
  }
  await insertOutcomes(database, calls.flatMap(toOutcome));
  const settled = calls.flatMap(([intent_id, payments]) => {
    const { resolution, at, operation } = first(payments);
    if (!resolution) return [];
    const entry = resolution === 'confirmed' ? expectedEntry(operation) : 'not_executed';
    const to = ENTRIES[entry].account;
    const entries = payments.map((_, position) => ({ position, entry, from: 'reserved', to }));
    return [{ intent_id, resolution, recorded_at: at, entries }];
  });
  await insertSettlements(database, settled);
}

/** The payments of a call. */
type Payments = [callId: string, Ours[]];

function toIntent([id, payments]: Payments): PartialRecord<IntentDocument> {
  const { operation, at, client_id = id } = first(payments);
  const items = payments.map(({ usd, reference }): ItemDocument => {
    return { amount_usd: usd ?? undefined, reference: reference ?? undefined, recipient_field: 'email' };
  });
  return { id, client_id, operation, recorded_at: at, items };
}

function toOutcome([id, payments]: Payments): PartialRecord<OutcomeDocument>[] {
  const { kind, at, operation } = first(payments);
  if (kind === null) return [];
  const items = payments.flatMap(toTransaction);
  const stated = payments.map(({ entry }) => entry ?? entryAfter(kind, operation));
  const entries = stated.every((entry) => entry === stated[0]) ? stated[0] : stated;
  return [{ intent_id: id, kind, recorded_at: at, items: items.length > 0 ? items : undefined, entries }];
}

/** Returns the entry of the payouts of a call whose answer names no transaction. */
function entryAfter(kind: NonNullable<Ours['kind']>, operation: string): Entry {
  if (kind === 'succeeded') return expectedEntry(operation);
  return kind === 'unknown' ? 'in_doubt' : 'not_executed';
}

function toTransaction(payment: Ours, position: number): TransactionDocument[] {
  const { upstream_ref = null, upstream_id = null, batch_ref = null } = payment;
  const names = Object.entries({ upstream_ref, upstream_id, batch_ref }).filter(([, name]) => name !== null);
  if (names.length === 0) return [];
  const isCertain = (upstream_ref ?? upstream_id) !== null;
  return [Object.fromEntries(isCertain ? [...names, ['position', position]] : names) as TransactionDocument];
}

/** A transaction long before every period, so that the listing reaches back. */
const LONG_AGO: Theirs = {
  upstream_ref: 'long ago',
  issued_at: '2001-01-01T00:00:00Z',
  status: 'paid',
  amount_usd: '1',
};

/** Number of transactions in the whole listing. Only those of the period are written. */
const LISTED = 1_000;

/** @returns the complete reading that lists them and reaches back. */
export async function writeTheirs(
  database: TestDatabase,
  theirs: Theirs[],
  source = 'transactions',
  account = MAIN_ACCOUNT,
): Promise<string> {
  if (source !== 'transactions') return writeListing(database, theirs, theirs.length, source, [], account);
  return writeListing(database, [...theirs, LONG_AGO], LISTED, source, [], account);
}

/** Writes a reading of exactly these transactions, with this total number. */
export async function writeListing(
  database: TestDatabase,
  theirs: Theirs[],
  rows = theirs.length,
  source = 'transactions',
  [from, to]: Date[] = [],
  account = MAIN_ACCOUNT,
): Promise<string> {
  const readId = uuidv7();
  await database.query(
    'INSERT INTO source_read (id, account, source, from_at, to_at) VALUES ($1, $2, $3, $4, $5)',
    [readId, recordedAccount(account), source, from, to],
  );
  await database.query(
    `INSERT INTO upstream_transaction (read_id, ordinal, upstream_ref, upstream_id, batch_ref, issued_at,
       type, status, amount_usd, fee_usd, email, reference)
     SELECT $1, row_number() OVER () - 1, r.*
     FROM json_to_recordset($2) AS r(
       upstream_ref text, upstream_id text, batch_ref text, issued_at timestamptz,
       type text, status text, amount_usd numeric, fee_usd numeric, email text, reference text)`,
    [readId, JSON.stringify(theirs)],
  );
  await database.query(
    `INSERT INTO source_read_end (read_id, complete, bytes, sha256, rows, kept, faults)
     VALUES ($1, TRUE, 0, sha256($2), $3, $4, 0)`,
    [readId, Buffer.from(readId), rows, theirs.length],
  );
  return readId;
}

/** Returns the decisions about findings of a period, in order. */
export async function stepsSince(database: TestDatabase, since: Date): Promise<string[]> {
  const steps = await database.query<{ state: string }>(
    `SELECT s.state FROM finding_step s JOIN finding f ON f.id = s.finding_id
     WHERE f.occurred_at >= $1 ORDER BY s.id`,
    [since],
  );
  return steps.map(({ state }) => state);
}

/** Writes the first row of a run, like its start. */
export async function startRun(
  database: TestDatabase,
  { account = MAIN_ACCOUNT, ...plan }: Omit<Plan, 'runId' | 'account'> & Partial<Pick<Plan, 'account'>>,
): Promise<Plan> {
  const runId = uuidv7();
  const { from, to, asOf, historical, source } = plan;
  const settings = JSON.stringify(plan.settings);
  const readId = source === 'statement' ? plan.readId : null;
  await database.query(
    `INSERT INTO reconciliation_run (id, account, from_at, to_at, as_of, historical, settings, read_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [runId, recordedAccount(account), from, to, asOf, historical, settings, readId],
  );
  return { ...plan, account, runId };
}

export async function runPlan(
  database: TestDatabase,
  plan: Plan,
  confirm?: MissingLookup,
): Promise<TotalsRecord> {
  const db = await connectForRun({ databaseUrl: database.url, databaseOwnerUrl: database.ownerUrl });
  try {
    return await compare(db, plan, undefined, { confirm });
  } finally {
    await db.end();
  }
}
