import { isQueued } from '../../operations/lifecycle/lifecycle';
import { IS_QUEUED } from '../../operations/lifecycle/lifecycle-sql';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { TYPES } from '../../platform/database/rows/binary-array';
import { Column, Rows } from '../../platform/database/rows/rows';
import { StoredBytes, toStored } from '../../platform/database/rows/stored-body';
import { isList } from '../../policy/same-content';
import { namesSql, stampedSql } from './document-sql';
import { writeIntent, WrittenIntent } from './documents';
import { OpenIntent } from './records';
import { INTENT_COLUMNS, REQUEST_MEMBERS } from './request-members';

/** An intent, its record and its body. */
export interface IntentRow {
  intent: OpenIntent;
  written: WrittenIntent;
  stored: StoredBytes | null;
}

/** The conditions for writing intents without a decision. See no_conflict() of the migrations. */
export interface FastPathConditions {
  /** Each client once. */
  clients: string[];
  /** For each client, the amount that its calls add to its caps. */
  usd: (string | null)[];
  /** Each key once, with the version of its client's rights (`Caller.rights`). */
  keys: string[];
  rights: string[];
  /** The day (UTC, `2026-11-21`) of the caps. */
  day: string;
  /** Number of the newest charged fee that this process knows. */
  knownFees: number;
  /** For each call, its content (SHA-256). Null if the duplicate guard ignores it. */
  contents: (Buffer | null)[];
  /** Each person and ephemeral key once, with the amount that its calls add to its caps. */
  payers: string[];
  payerUsd: string[];
}

/** Intents, their erasable bodies and their claims. */
const INTENTS = new Rows<IntentRow>([
  ...REQUEST_MEMBERS.flatMap(toColumn),
  ['record', 'text', ({ written }) => written.record],
  ['salt', 'bytea', ({ intent, written }) => (intent.body === null ? null : written.salt)],
  ['body', 'bytea', ({ stored }) => stored?.body],
  ['coding', 'text', ({ stored }) => stored?.coding],
  ['people', 'text', ({ written }) => written.people],
  ['people_salt', 'bytea', ({ written }) => written.peopleSalt],
  ['idempotency_key', 'text', ({ intent }) => intent.key?.text],
  ['key_salt', 'bytea', ({ intent }) => intent.key?.salt],
  ['content_hash', 'bytea', ({ intent }) => intent.key?.contentHash],
  ['claim_key', 'text', ({ intent }) => intent.key?.claimed],
]);

function toColumn({ name, intent: type, of }: (typeof REQUEST_MEMBERS)[number]): Column<IntentRow>[] {
  return type
    ? [[name, type, ({ intent, written }: IntentRow) => of(intent, written)] as Column<IntentRow>]
    : [];
}

const REMEMBERED = new Rows<{ intent: OpenIntent; content: Buffer }>(
  [
    ['content', 'bytea', ({ content }) => content],
    ['intent_id', 'uuid', ({ intent }) => intent.id],
    [
      'lasting',
      'boolean',
      ({ intent }) => isList(intent.items.length) || typeof intent.duplicateOf === 'string',
    ],
  ],
  INTENTS.next,
);

/** Skips rows that a batch with a lost answer has committed. Costs 10 % of the WAL. */
const IF_NEW = 'ON CONFLICT DO NOTHING';

/** Takes over a claim whose call was provably not executed. */
const TAKEN_OVER = `ON CONFLICT (client_id, operation, key) DO UPDATE
    SET intent_id = EXCLUDED.intent_id, salt = EXCLUDED.salt, content_hash = EXCLUDED.content_hash`;

// A CTE costs Postgres more than a row, and most calls have no key.
const claims = (key: string, conflict: string) => `, claims AS (
    INSERT INTO idempotency_claim (client_id, operation, key, intent_id, salt, content_hash)
    SELECT client_id, operation, ${key}, id, key_salt, content_hash FROM calls WHERE claim_key IS NOT NULL
    ${conflict}
  )`;

// Locks clients before their payers, in the order of adjust_spending(), against deadlocks.
const PAYERS = ` RETURNING client_id
  ), paid AS (
    INSERT INTO payer_spending (payer_id, day, usd)
    SELECT payer_id, reserved_on, sum(total_usd + coalesce(expected_fee_usd, 0)) FROM intents
    CROSS JOIN LATERAL unnest(ARRAY[person_id, ephemeral_key_id]) AS payer_id
    WHERE payer_id IS NOT NULL AND reserved_on IS NOT NULL AND total_usd IS NOT NULL
      AND (SELECT count(*) FROM spent) >= 0
    GROUP BY payer_id, reserved_on ORDER BY payer_id, reserved_on
    ON CONFLICT (payer_id, day) DO UPDATE SET usd = payer_spending.usd + EXCLUDED.usd
  )`;
const NO_PAYERS = '\n  )';

// The admission is not known before its commit, so the row names the process.
const queue = (conflict: string) => `, queued AS (
    INSERT INTO queued_call (account, client_id, intent_id, operation, process, ends_at)
    SELECT coalesce(record::json ->> 'account', '${MAIN_ACCOUNT}'), client_id, id, operation, process,
      expires_at
    FROM calls WHERE ${IS_QUEUED('calls')} ${conflict}
  )`;

const MEMBERS = namesSql(INTENT_COLUMNS);

const insertion = (
  name: string,
  clear: string,
  more: string,
  ifNew: string,
  server = '',
) => `-- prepared as ${name}
  WITH admission AS MATERIALIZED (
    SELECT ${clear} AS clear
  ), calls AS MATERIALIZED (
    ${INTENTS.source} WHERE (SELECT clear FROM admission)
  ), clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now FROM admission
  ), intents AS (
    INSERT INTO intent (${MEMBERS}, recorded_at, record)
    SELECT ${MEMBERS}, now, ${stampedSql('record', 'now')}
    FROM calls, clock ${ifNew}
    RETURNING client_id, person_id, ephemeral_key_id, reserved_on, total_usd, expected_fee_usd
  ), bodies AS (
    INSERT INTO intent_body (intent_id, salt, body, coding, people, people_salt, idempotency_key,
      idempotency_key_salt)
    SELECT id, salt, body, coding, people, people_salt, idempotency_key, key_salt FROM calls
    WHERE body IS NOT NULL OR people IS NOT NULL OR idempotency_key IS NOT NULL ${ifNew}
  ), contents AS (
    INSERT INTO recent_content (content, intent_id, lasting)
    ${REMEMBERED.source} WHERE (SELECT clear FROM admission) ${ifNew}
  ), spent AS (
    INSERT INTO spending (client_id, day, usd)
    SELECT client_id, reserved_on, sum(total_usd + coalesce(expected_fee_usd, 0)) FROM intents
    WHERE reserved_on IS NOT NULL AND total_usd IS NOT NULL
    GROUP BY client_id, reserved_on ORDER BY client_id, reserved_on
    ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd${more}
  SELECT clear${server} FROM admission`;

/** The key for a claim of `calls`. The text of an existing claim may have been erased. */
export const CLAIMED_KEY = `coalesce((
      SELECT k.key FROM idempotency_claim k
      WHERE k.client_id = calls.client_id AND k.operation = calls.operation
        AND k.key = hashed_key(calls.claim_key)
    ), claim_key)`;

const DECIDED = PAYERS + claims(CLAIMED_KEY, TAKEN_OVER);
const INSERT = insertion('insert_intents', 'TRUE', DECIDED, IF_NEW);
const INSERT_QUEUED = insertion('insert_intents_queued', 'TRUE', DECIDED + queue(IF_NEW), IF_NEW);

const [CLIENTS, USD, KEYS, RIGHTS, DAY, FEES, CONTENTS, POOLED, PAYER_IDS, PAYER_USD] = [
  ...Array(10).keys(),
].map((place) => `$${REMEMBERED.next + place}`);
// The order matters: refusals and the spending of payers are certain only once the client is locked.
const clear = (payers: string) => `CASE WHEN no_conflict(${CLIENTS}::uuid[], ${USD}::text[]::numeric[],
      ${KEYS}::uuid[], ${RIGHTS}::text[], ${DAY}::date, ${FEES}::bigint,
      ${INTENTS.parameter('client_id')}, ${INTENTS.parameter('operation')}, ${INTENTS.parameter('claim_key')},
      ${CONTENTS}::bytea[]) THEN none_refused(${INTENTS.parameter('id')})${payers} ELSE FALSE END`;
const WITHIN_CAPS = ` AND payers_within_caps(${PAYER_IDS}::uuid[], ${PAYER_USD}::text[]::numeric[],
  ${DAY}::date)`;
const SERVER = `, CASE WHEN ${POOLED}::boolean THEN database_server() END AS server`;
// Without obstacles, the claims of these calls are new.
const NEW_CLAIMS = claims('claim_key', '');

/** Returns the statement for the parts that the calls need, because each part costs time. */
function insertionIfClear(keyed: boolean, paid: boolean, queued: boolean): { name: string; text: string } {
  const parts = [keyed && '_keyed', paid && '_paid', queued && '_queued'].filter((part) => part !== false);
  const name = `insert_intents_if_clear${parts.join('')}`;
  const more = (paid ? PAYERS : NO_PAYERS) + (keyed ? NEW_CLAIMS : '') + (queued ? queue('') : '');
  return { name, text: insertion(name, clear(paid ? WITHIN_CAPS : ''), more, '', SERVER) };
}

const EITHER = [false, true];
/** By whether a call has a key, whether one counts on caps of payers, and whether one is queued. */
const IF_CLEAR = EITHER.map((keyed) =>
  EITHER.map((paid) => EITHER.map((queued) => insertionIfClear(keyed, paid, queued))),
);

/** Writes intents that need no decision, with their bodies: one statement, one commit. */
export async function insertIntents(prisma: PrismaService, intents: OpenIntent[]): Promise<void> {
  await prisma.prepared('insert_intents', INSERT, valuesOf(toRows(intents)));
}

export function toRows(intents: OpenIntent[]): IntentRow[] {
  return intents.map((intent) => ({
    intent,
    written: writeIntent(intent),
    stored: intent.body && toStored(intent.body),
  }));
}

/** Writes decided intents within a transaction, with their claims and reservations. */
export async function insertDecided(tx: Prisma.TransactionClient, rows: IntentRow[]): Promise<void> {
  await tx.$queryRawUnsafe(rows.some(isToQueue) ? INSERT_QUEUED : INSERT, ...valuesOf(rows));
}

/**
 * Writes new intents at once if they have no obstacle.
 * @returns whether all were written. Otherwise none were.
 */
export async function insertIntentsIfClear(
  prisma: PrismaService,
  rows: IntentRow[],
  { clients, usd, keys, rights, day, knownFees, contents, payers, payerUsd }: FastPathConditions,
): Promise<boolean> {
  const clearance = [
    TYPES.uuid.array(clients),
    TYPES.text.array(usd),
    TYPES.uuid.array(keys),
    TYPES.text.array(rights),
    day,
    knownFees,
    TYPES.bytea.array(contents),
    prisma.isPooled,
    ...(payers.length > 0 ? [TYPES.uuid.array(payers), TYPES.text.array(payerUsd)] : []),
  ];
  const isKeyed = rows.some(({ intent }) => intent.key);
  const { name, text } = IF_CLEAR[+isKeyed]![+(payers.length > 0)]![+rows.some(isToQueue)]!;
  const [row] = await prisma.prepared<ClearRow>(name, text, [...valuesOf(rows), ...clearance]);
  if (prisma.isPooled) prisma.ranOn(row?.server);
  return row?.clear === true;
}

function isToQueue({ intent: { heldFor = null, expiresAt = null } }: IntentRow): boolean {
  return isQueued({ heldFor, expiresAt });
}

interface ClearRow {
  clear: boolean;
  server: string | null;
}

function valuesOf(rows: IntentRow[]): Buffer[] {
  const contents = rows.flatMap(({ intent }) =>
    (intent.contents ?? []).map((content) => ({ intent, content })),
  );
  return [...INTENTS.values(rows), ...REMEMBERED.values(contents)];
}
