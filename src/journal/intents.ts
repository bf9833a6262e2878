import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { TYPES } from '../platform/database/binary-array';
import { Rows } from '../platform/database/rows';
import { HeldFor } from '../policy/admission';
import { commitment, newSalt } from './commitment';
import { Item, totalOf } from '../operations/item';
import { isList } from '../policy/same-content';
import { queryAsRecorded } from '../platform/privacy/recorded';
import { NewIntent } from './records';
import { recordedItems } from './recorded-items';

interface IntentRow {
  intent: OpenIntent;
  salt: Buffer;
  /** Its content, if repetitions are to be detected. */
  remembered: Buffer | undefined;
}

interface ItemRow {
  intentId: string;
  position: number;
  item: Item;
  /** The salt for the people in it. Null if it names nobody. */
  salt: Buffer | null;
}

/** An intent that will be committed, with the data that keeps money safe. A read has no such data. */
export interface OpenIntent extends NewIntent {
  /** The number of the process that works on it. */
  process: number;
  idempotencyKey?: string | null;
  heldFor?: HeldFor | null;
  expiresAt?: Date | null;
  /** The day (UTC, `2026-11-21`) whose cap it counts against. */
  reservedOn?: string | null;
  /** The call that it repeats on purpose. */
  duplicateOf?: string | null;
  contentSha256?: Buffer;
  claim?: { salt: Buffer; contentHash: Buffer | null } | undefined;
}

/** What must not stand against calls for their intents to be written. See nothing_against() of the migrations. */
export interface Clearance {
  /** Each client once. */
  clients: string[];
  /** For each client, the amount that its calls would add to its caps. */
  usd: (string | null)[];
  /** The day (UTC, `2026-11-21`) whose caps they would count against. */
  day: string;
  /** For each call, its content (SHA-256) if repetitions are to be detected. */
  contents: (Buffer | null)[];
}

/** Intents with their bodies and claims. */
const INTENTS = new Rows<IntentRow>([
  ['id', 'uuid', ({ intent }) => intent.id],
  ['client_id', 'uuid', ({ intent }) => intent.caller.clientId],
  ['key_id', 'uuid', ({ intent }) => intent.caller.keyId],
  ['operation', 'text', ({ intent }) => intent.operation],
  ['request_id', 'text', ({ intent }) => intent.requestId],
  ['traceparent', 'text', ({ intent }) => intent.traceparent],
  ['client_address', 'text', ({ intent }) => intent.clientAddress],
  ['query', 'text', ({ intent }) => queryAsRecorded(intent.query)],
  ['item_count', 'integer', ({ intent }) => intent.items.length],
  ['total_usd', 'numeric', ({ intent }) => totalOf(intent.items)?.toFixed()],
  ['body_commitment', 'bytea', ({ intent, salt }) => commitment(salt, intent.body)],
  ['received_at', 'timestamptz', ({ intent }) => intent.receivedAt],
  ['coverage', 'text', ({ intent }) => intent.coverage],
  ['caused_by', 'uuid', ({ intent }) => intent.causedBy],
  ['duplicate_of', 'uuid', ({ intent }) => intent.duplicateOf],
  ['idempotency_key', 'text', ({ intent }) => intent.idempotencyKey],
  ['actor', 'text', ({ intent }) => intent.actor],
  ['held_for', 'text', ({ intent }) => intent.heldFor],
  ['expires_at', 'timestamptz', ({ intent }) => intent.expiresAt],
  ['reserved_on', 'date', ({ intent }) => intent.reservedOn],
  ['process', 'integer', ({ intent }) => intent.process],
  ['salt', 'bytea', ({ salt }) => salt],
  ['body', 'bytea', ({ intent }) => intent.body],
  ['claim_salt', 'bytea', ({ intent }) => intent.claim?.salt],
  ['claim_hash', 'bytea', ({ intent }) => intent.claim?.contentHash],
  ['content', 'bytea', ({ remembered }) => remembered],
  ['lasting', 'boolean', ({ intent }) => isList(intent.items.length) || typeof intent.duplicateOf === 'string'],
]);

const ITEMS = new Rows<ItemRow>(
  [
    ['intent_id', 'uuid', ({ intentId }) => intentId],
    ['position', 'integer', ({ position }) => position],
    ['recipient_field', 'text', ({ item }) => item.recipientField],
    ['handle_ignored', 'boolean', ({ item }) => item.handleIgnored],
    ['amount_usd', 'numeric', ({ item }) => item.amountUsd?.toFixed()],
    ['country', 'text', ({ item }) => item.country],
    ['network_code', 'text', ({ item }) => item.networkCode],
    ['reference', 'text', ({ item }) => item.reference],
    ['receiver', 'text', ({ item }) => item.receiver],
    ['wallet', 'text', ({ item }) => item.wallet],
    ['upstream_ref', 'text', ({ item }) => item.upstreamRef],
    ['email_commitment', 'bytea', ({ item, salt }) => salt && commitment(salt, item.email)],
    ['phone_commitment', 'bytea', ({ item, salt }) => salt && commitment(salt, item.phone)],
    ['handle_commitment', 'bytea', ({ item, salt }) => salt && commitment(salt, item.handle)],
    ['salt', 'bytea', ({ salt }) => salt],
    ['email', 'text', ({ item }) => item.email],
    ['phone', 'text', ({ item }) => item.phone],
    ['handle', 'text', ({ item }) => item.handle],
  ],
  INTENTS.next,
);

// Each part of a statement costs Postgres more than a row, and most calls have no key.
const CLAIMS = `, claims AS (
    INSERT INTO idempotency_claim (client_id, operation, key, intent_id, salt, content_hash)
    SELECT client_id, operation, idempotency_key, id, claim_salt, claim_hash FROM calls WHERE claim_salt IS NOT NULL
    ON CONFLICT (client_id, operation, key) DO UPDATE
    SET intent_id = EXCLUDED.intent_id, salt = EXCLUDED.salt, content_hash = EXCLUDED.content_hash
  )`;

// An existing row was committed by a batch whose answer was lost. It has made its reservation.
const insertion = (name: string, clear: string, claims: string) => `-- prepared as ${name}
  WITH admission AS MATERIALIZED (
    SELECT ${clear} AS clear
  ), calls AS MATERIALIZED (
    ${INTENTS.source} WHERE (SELECT clear FROM admission)
  ), payouts AS MATERIALIZED (
    ${ITEMS.source} WHERE (SELECT clear FROM admission)
  ), intents AS (
    INSERT INTO intent (id, client_id, key_id, operation, request_id, traceparent, client_address, query, item_count,
      total_usd, body_commitment, received_at, coverage, caused_by, duplicate_of, idempotency_key, actor, held_for,
      expires_at, reserved_on, process)
    SELECT id, client_id, key_id, operation, request_id, traceparent, client_address, query, item_count,
      total_usd, body_commitment, received_at, coverage, caused_by, duplicate_of, idempotency_key, actor, held_for,
      expires_at, reserved_on, process
    FROM calls ON CONFLICT DO NOTHING
    RETURNING client_id, reserved_on, total_usd
  ), bodies AS (
    INSERT INTO intent_body (intent_id, salt, body)
    SELECT id, salt, body FROM calls WHERE body IS NOT NULL ON CONFLICT DO NOTHING
  ), items AS (
    INSERT INTO intent_item (intent_id, position, recipient_field, handle_ignored, amount_usd, country, network_code,
      reference, receiver, wallet, upstream_ref, email_commitment, phone_commitment, handle_commitment)
    SELECT intent_id, position, recipient_field, handle_ignored, amount_usd, country, network_code,
      reference, receiver, wallet, upstream_ref, email_commitment, phone_commitment, handle_commitment
    FROM payouts ON CONFLICT DO NOTHING
  ), recipients AS (
    INSERT INTO item_recipient (intent_id, position, salt, email, phone, handle)
    SELECT intent_id, position, salt, email, phone, handle FROM payouts WHERE salt IS NOT NULL ON CONFLICT DO NOTHING
  ), contents AS (
    INSERT INTO recent_content (client_id, operation, content, intent_id, lasting)
    SELECT client_id, operation, content, id, lasting FROM calls WHERE content IS NOT NULL ON CONFLICT DO NOTHING
  ), spent AS (
    INSERT INTO spending (client_id, day, usd)
    SELECT client_id, reserved_on, sum(total_usd) FROM intents WHERE reserved_on IS NOT NULL AND total_usd IS NOT NULL
    GROUP BY client_id, reserved_on ORDER BY client_id, reserved_on
    ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd
  )${claims}
  SELECT clear FROM admission`;

const INSERT = insertion('insert_intents', 'TRUE', CLAIMS);

const [CLIENTS, USD, DAY, CONTENTS] = [0, 1, 2, 3].map((place) => `$${ITEMS.next + place}`);
// The order matters: whether a call was refused in the meantime is certain only once its client is locked.
const CLEAR = `CASE WHEN nothing_against(${CLIENTS}::uuid[], ${USD}::text[]::numeric[], ${DAY}::date,
      ${INTENTS.parameter('client_id')}, ${INTENTS.parameter('operation')}, ${INTENTS.parameter('idempotency_key')},
      ${CONTENTS}::bytea[]) THEN none_refused(${INTENTS.parameter('id')}) ELSE FALSE END`;
const INSERT_IF_CLEAR = insertion('insert_intents_if_clear', CLEAR, '');
const INSERT_KEYED_IF_CLEAR = insertion('insert_intents_if_clear_keyed', CLEAR, CLAIMS);

/** Writes intents that need no decision, with their items and people: one statement, one commit. */
export async function insertIntents(prisma: PrismaService, intents: OpenIntent[]): Promise<void> {
  await prisma.prepared('insert_intents', INSERT, valuesOf(intents, false));
}

interface Options {
  /** Whether to remember their content, so that repetitions are detected. */
  remember: boolean;
}

/** Writes decided intents within a transaction, with their claims and reservations. */
export async function insertDecided(
  tx: Prisma.TransactionClient,
  intents: OpenIntent[],
  { remember }: Options,
): Promise<void> {
  await tx.$queryRawUnsafe(INSERT, ...valuesOf(intents, remember));
}

/** Writes intents at once if nothing stands against them. @returns whether they were written, all or none. */
export async function insertIntentsIfClear(
  prisma: PrismaService,
  intents: OpenIntent[],
  { clients, usd, day, contents }: Clearance,
  { remember }: Options,
): Promise<boolean> {
  const clearance = [TYPES.uuid.array(clients), TYPES.text.array(usd), day, TYPES.bytea.array(contents)];
  const values = [...valuesOf(intents, remember), ...clearance];
  const [row] = intents.some(({ claim }) => claim)
    ? await prisma.prepared<Cleared>('insert_intents_if_clear_keyed', INSERT_KEYED_IF_CLEAR, values)
    : await prisma.prepared<Cleared>('insert_intents_if_clear', INSERT_IF_CLEAR, values);
  return row?.clear === true;
}

interface Cleared {
  clear: boolean;
}

function valuesOf(intents: OpenIntent[], remember: boolean): Buffer[] {
  const rows = intents.map((intent) => ({
    intent,
    salt: newSalt(),
    remembered: remember ? intent.contentSha256 : undefined,
  }));
  const items = intents.flatMap(({ id, items }) =>
    recordedItems(items).map((item, position) => ({
      intentId: id,
      position,
      item,
      salt: (item.email ?? item.phone ?? item.handle) === null ? null : newSalt(),
    })),
  );
  return [...INTENTS.values(rows), ...ITEMS.values(items)];
}
