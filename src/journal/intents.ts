import { Prisma } from '../database/generated/client';
import { HeldFor } from '../policy/admission';
import { commitment, hex, newSalt } from './commitment';
import { Item, totalOf } from '../policy/item';
import { queryAsRecorded } from '../privacy/recorded';
import { NewIntent } from './records';
import { recordedItems } from './recorded-items';

interface SaltedItem {
  intent_id: string;
  position: number;
  salt: Buffer;
  item: Item;
}

/** An intent that will be committed, with what of it keeps money safe; a read has nothing of that. */
export interface OpenIntent extends NewIntent {
  /** That works on it. */
  process: number;
  idempotencyKey?: string | null;
  heldFor?: HeldFor | null;
  expiresAt?: Date | null;
  /** The day (UTC, `2026-11-21`) on whose cap it counts. */
  reservedOn?: string | null;
  contentSha256?: Buffer;
  claim?: { salt: Buffer; contentHash: Buffer | null };
}

/** What must not be in the way of calls for their intents to be written; see nothing_against() of the migrations. */
export interface Clearance {
  /** Each client once. */
  clients: string[];
  /** For each client, what its calls may count on its caps. */
  usd: (string | null)[];
  /** The day (UTC, `2026-11-21`) on whose caps they would count. */
  day: string;
  /** Contents that came after this id (UUID) are looked at. */
  since: string;
  /** Of each call. */
  clientOf: string[];
  operations: string[];
  keys: (string | null)[];
  contents: (Buffer | null)[];
}

// A row that is there already was committed by a batch whose answer got lost; it has reserved what it reserves.
const insertion = (name: string, clear: string) => `-- prepared as ${name}
  WITH admission AS MATERIALIZED (
    SELECT ${clear} AS clear
  ), intents AS (
    INSERT INTO intent (id, client_id, key_id, operation, request_id, traceparent, client_address, query, item_count,
      total_usd, body_commitment, received_at, coverage, caused_by, idempotency_key, actor, held_for, expires_at,
      reserved_on, process)
    SELECT id, client_id, key_id, operation, request_id, traceparent, client_address, query, item_count,
      total_usd, body_commitment, received_at, coverage, caused_by, idempotency_key, actor, held_for, expires_at,
      reserved_on, process
    FROM json_populate_recordset(NULL::intent, $1::json) WHERE (SELECT clear FROM admission) ON CONFLICT DO NOTHING
    RETURNING client_id, reserved_on, total_usd
  ), bodies AS (
    INSERT INTO intent_body (intent_id, salt, body)
    SELECT intent_id, salt, body FROM json_populate_recordset(NULL::intent_body, $2::json)
    WHERE (SELECT clear FROM admission) ON CONFLICT DO NOTHING
  ), items AS (
    INSERT INTO intent_item (intent_id, position, recipient_field, handle_ignored, amount_usd, country, network_code,
      reference, receiver, wallet, chi_ref, email_commitment, phone_commitment, handle_commitment)
    SELECT intent_id, position, recipient_field, handle_ignored, amount_usd, country, network_code,
      reference, receiver, wallet, chi_ref, email_commitment, phone_commitment, handle_commitment
    FROM json_populate_recordset(NULL::intent_item, $3::json) WHERE (SELECT clear FROM admission) ON CONFLICT DO NOTHING
  ), recipients AS (
    INSERT INTO item_recipient (intent_id, position, salt, email, phone, handle)
    SELECT intent_id, position, salt, email, phone, handle
    FROM json_populate_recordset(NULL::item_recipient, $4::json) WHERE (SELECT clear FROM admission) ON CONFLICT DO NOTHING
  ), claims AS (
    INSERT INTO idempotency_claim (client_id, operation, key, intent_id, salt, content_hash)
    SELECT client_id, operation, key, intent_id, salt, content_hash
    FROM json_populate_recordset(NULL::idempotency_claim, $5::json) WHERE (SELECT clear FROM admission)
    ON CONFLICT (client_id, operation, key) DO UPDATE
    SET intent_id = EXCLUDED.intent_id, salt = EXCLUDED.salt, content_hash = EXCLUDED.content_hash
  ), contents AS (
    INSERT INTO recent_content (client_id, operation, content, intent_id)
    SELECT client_id, operation, content, intent_id
    FROM json_populate_recordset(NULL::recent_content, $6::json) WHERE (SELECT clear FROM admission) ON CONFLICT DO NOTHING
  ), spent AS (
    INSERT INTO spending (client_id, day, usd)
    SELECT client_id, reserved_on, sum(total_usd) FROM intents WHERE reserved_on IS NOT NULL AND total_usd IS NOT NULL
    GROUP BY client_id, reserved_on ORDER BY client_id, reserved_on
    ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd
  )
  SELECT clear FROM admission`;

const INSERT = insertion('insert_intents', 'TRUE');
const INSERT_IF_CLEAR = insertion(
  'insert_intents_if_clear',
  'nothing_against($7::uuid[], $8::numeric[], $9::date, $10::uuid[], $11::text[], $12::text[], $13::bytea[], $14::uuid)',
);

interface Options {
  /** Whether their content is to be noticed when it comes again. */
  remember: boolean;
}

/**
 * Writes intents, their items and the people in them, and what they claim and reserve: one statement, one commit, whatever
 * their number.
 */
export async function insertIntents(
  prisma: Prisma.TransactionClient,
  intents: OpenIntent[],
  { remember }: Options = { remember: false },
): Promise<void> {
  await prisma.$queryRawUnsafe(INSERT, ...toRows(intents, remember));
}

/** The same if nothing stands against them. @returns whether they were written: all or none. */
export async function insertIntentsIfClear(
  prisma: Prisma.TransactionClient,
  intents: OpenIntent[],
  { clients, usd, day, clientOf, operations, keys, contents, since }: Clearance,
  { remember }: Options,
): Promise<boolean> {
  const rows = toRows(intents, remember);
  const clearance = [clients, usd, day, clientOf, operations, keys, contents, since];
  const [row] = await prisma.$queryRawUnsafe<{ clear: boolean }[]>(INSERT_IF_CLEAR, ...rows, ...clearance);
  return row?.clear === true;
}

/** The rows of each table, as JSON, in the order of the statement. */
function toRows(intents: OpenIntent[], remember: boolean): string[] {
  const salted = intents.map((intent) => ({ intent, salt: newSalt() }));
  const items: SaltedItem[] = intents.flatMap(({ id, items }) =>
    recordedItems(items).map((item, position) => ({ intent_id: id, position, salt: newSalt(), item })),
  );
  const people = items.filter(({ item }) => item.email ?? item.phone ?? item.handle);
  return [
    salted.map(({ intent, salt }) => intentRow(intent, salt)),
    salted.flatMap(({ intent, salt }) => bodyRow(intent, salt) ?? []),
    items.map(itemRow),
    people.map(recipientRow),
    intents.flatMap((intent) => claimRow(intent) ?? []),
    remember ? intents.flatMap((intent) => contentRow(intent) ?? []) : [],
  ].map((rows) => JSON.stringify(rows));
}

function intentRow(intent: OpenIntent, salt: Buffer) {
  return {
    id: intent.id,
    client_id: intent.caller.clientId,
    key_id: intent.caller.keyId,
    operation: intent.operation,
    request_id: intent.requestId,
    traceparent: intent.traceparent ?? null,
    client_address: intent.clientAddress,
    query: queryAsRecorded(intent.query),
    item_count: intent.items.length,
    total_usd: totalOf(intent.items)?.toFixed() ?? null,
    body_commitment: hex(commitment(salt, intent.body)),
    received_at: intent.receivedAt,
    coverage: intent.coverage,
    caused_by: intent.causedBy ?? null,
    idempotency_key: intent.idempotencyKey ?? null,
    actor: intent.actor,
    held_for: intent.heldFor ?? null,
    expires_at: intent.expiresAt ?? null,
    reserved_on: intent.reservedOn ?? null,
    process: intent.process,
  };
}

function bodyRow({ id, body }: OpenIntent, salt: Buffer) {
  return body && { intent_id: id, salt: hex(salt), body: hex(body) };
}

function claimRow({ id, caller, operation, idempotencyKey, claim }: OpenIntent) {
  if (!claim || idempotencyKey === null || idempotencyKey === undefined) return undefined;
  const { salt, contentHash } = claim;
  const scope = { client_id: caller.clientId, operation, key: idempotencyKey };
  return { ...scope, intent_id: id, salt: hex(salt), content_hash: hex(contentHash) };
}

function contentRow({ id, caller, operation, contentSha256 }: OpenIntent) {
  if (!contentSha256) return undefined;
  return { client_id: caller.clientId, operation, content: hex(contentSha256), intent_id: id };
}

/** What it does not have is left out: a call may have a thousand of them. */
function itemRow({ intent_id, position, salt, item }: SaltedItem) {
  return {
    intent_id,
    position,
    recipient_field: item.recipientField ?? undefined,
    handle_ignored: item.handleIgnored,
    amount_usd: item.amountUsd?.toFixed(),
    country: item.country ?? undefined,
    network_code: item.networkCode ?? undefined,
    reference: item.reference ?? undefined,
    receiver: item.receiver ?? undefined,
    wallet: item.wallet ?? undefined,
    chi_ref: item.chiRef ?? undefined,
    email_commitment: hex(commitment(salt, item.email)) ?? undefined,
    phone_commitment: hex(commitment(salt, item.phone)) ?? undefined,
    handle_commitment: hex(commitment(salt, item.handle)) ?? undefined,
  };
}

function recipientRow({ intent_id, position, salt, item: { email, phone, handle } }: SaltedItem) {
  return {
    intent_id,
    position,
    salt: hex(salt),
    email: email ?? undefined,
    phone: phone ?? undefined,
    handle: handle ?? undefined,
  };
}
