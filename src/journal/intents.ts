import { PrismaService } from '../database/prisma.service';
import { commitment, hex, newSalt } from './commitment';
import { Item, NewIntent, totalOf } from './records';

interface SaltedItem {
  intent_id: string;
  position: number;
  salt: Buffer;
  item: Item;
}

/** Writes intents, their items and the people in them: one statement, one commit, whatever their number. */
export async function insertIntents(prisma: PrismaService, intents: NewIntent[]): Promise<void> {
  const rows = intents.map((intent) => ({ intent, salt: newSalt() }));
  const items: SaltedItem[] = intents.flatMap(({ id, items }) =>
    items.map((item, position) => ({ intent_id: id, position, salt: newSalt(), item })),
  );
  const intentRows = JSON.stringify(rows.map(({ intent, salt }) => intentRow(intent, salt)));
  const bodyRows = JSON.stringify(
    rows
      .filter(({ intent }) => intent.body !== null)
      .map(({ intent, salt }) => ({ intent_id: intent.id, salt: hex(salt), body: hex(intent.body) })),
  );
  const itemRows = JSON.stringify(items.map(itemRow));
  const recipientRows = JSON.stringify(
    items.filter(({ item }) => item.email ?? item.phone ?? item.handle).map(recipientRow),
  );
  // A row that is there already was committed by a batch whose answer got lost.
  await prisma.$executeRaw`
    WITH intents AS (
      INSERT INTO intent (id, client_id, key_id, operation, request_id, traceparent, client_address, query, item_count,
        total_usd, body_commitment, received_at, coverage, caused_by)
      SELECT id, client_id, key_id, operation, request_id, traceparent, client_address, query, item_count,
        total_usd, body_commitment, received_at, coverage, caused_by
      FROM json_populate_recordset(NULL::intent, ${intentRows}::json) ON CONFLICT DO NOTHING
    ), bodies AS (
      INSERT INTO intent_body (intent_id, salt, body)
      SELECT intent_id, salt, body FROM json_populate_recordset(NULL::intent_body, ${bodyRows}::json)
      ON CONFLICT DO NOTHING
    ), items AS (
      INSERT INTO intent_item (intent_id, position, recipient_field, handle_ignored, amount_usd, country, network_code,
        reference, receiver, wallet, chi_ref, email_commitment, phone_commitment, handle_commitment)
      SELECT intent_id, position, recipient_field, handle_ignored, amount_usd, country, network_code,
        reference, receiver, wallet, chi_ref, email_commitment, phone_commitment, handle_commitment
      FROM json_populate_recordset(NULL::intent_item, ${itemRows}::json) ON CONFLICT DO NOTHING
    )
    INSERT INTO item_recipient (intent_id, position, salt, email, phone, handle)
    SELECT intent_id, position, salt, email, phone, handle
    FROM json_populate_recordset(NULL::item_recipient, ${recipientRows}::json) ON CONFLICT DO NOTHING`;
}

function intentRow(intent: NewIntent, salt: Buffer) {
  return {
    id: intent.id,
    client_id: intent.caller.clientId,
    key_id: intent.caller.keyId,
    operation: intent.operation,
    request_id: intent.requestId,
    traceparent: intent.traceparent ?? null,
    client_address: intent.clientAddress,
    query: intent.query,
    item_count: intent.items.length,
    total_usd: totalOf(intent.items)?.toFixed() ?? null,
    body_commitment: hex(commitment(salt, intent.body)),
    received_at: intent.receivedAt,
    coverage: intent.coverage,
    caused_by: intent.causedBy ?? null,
  };
}

function itemRow({ intent_id, position, salt, item }: SaltedItem) {
  return {
    intent_id,
    position,
    recipient_field: item.recipientField,
    handle_ignored: item.handleIgnored,
    amount_usd: item.amountUsd?.toFixed() ?? null,
    country: item.country,
    network_code: item.networkCode,
    reference: item.reference,
    receiver: item.receiver,
    wallet: item.wallet,
    chi_ref: item.chiRef,
    email_commitment: hex(commitment(salt, item.email)),
    phone_commitment: hex(commitment(salt, item.phone)),
    handle_commitment: hex(commitment(salt, item.handle)),
  };
}

function recipientRow({ intent_id, position, salt, item: { email, phone, handle } }: SaltedItem) {
  return { intent_id, position, salt: hex(salt), email, phone, handle };
}
