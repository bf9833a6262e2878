import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { TokenCredential } from '../src/access/tokens/token-credential';
import { contradictionsOf } from '../src/history/log/verify/contradictions';
import { RecordRow, recordsOf } from '../src/history/log/verify/record-rows';
import { commitment } from '../src/journal/commitment';
import {
  IntentDocument,
  ItemDocument,
  OutcomeDocument,
  PersonDocument,
  writeIntent,
  writeOutcome,
} from '../src/journal/documents';
import { insertIntents } from '../src/journal/intents';
import { insertOutcomes, insertOutcomesAgain } from '../src/journal/outcomes';
import { recordedItems } from '../src/journal/recorded-items';
import { OpenIntent } from '../src/journal/records';
import { feesOf, writeFeeRate } from '../src/operations/fees';
import { totalOf } from '../src/operations/item';
import { PrismaService } from '../src/platform/database/prisma.service';
import { asRecorded, queryAsRecorded } from '../src/platform/privacy/recorded';
import { anyIntent, anyOutcome } from './support/any-records';
import { outcomeOf } from './support/expected-outcome';
import { runs } from './support/runs';
import { createTestDatabase, TestDatabase } from './support/test-database';

const TIMEOUTS = { upstreamTimeoutMs: 30_000, upstreamTimeouts: new Map<string, number>() };
const SALT = Buffer.alloc(16, 7);
const STAMP = '2026-11-21T10:20:30.123456Z';
const stamped = (record: string) => record.replace('"recorded_at":""', `"recorded_at":"${STAMP}"`);
const hexOf = (salt: string | undefined, value: Buffer | string | null) =>
  salt === undefined ? undefined : commitment(Buffer.from(salt, 'hex'), value)?.toString('hex');
const parsed = <Document>(text: string) => JSON.parse(text) as Document;

/** The record of a request, with the time and the commitment of the body as they were `read`. */
function intentOf(intent: OpenIntent, people: PersonDocument[], read: IntentDocument): IntentDocument {
  const items = recordedItems(intent.items).map((item, position): ItemDocument => {
    const salt = people.find((person) => person.position === position)?.salt;
    return {
      recipient_field: item.recipientField ?? undefined,
      handle_ignored: item.handleIgnored || undefined,
      amount_usd: item.amountUsd?.toFixed(),
      country: item.country ?? undefined,
      network_code: item.networkCode ?? undefined,
      reference: item.reference ?? undefined,
      receiver: item.receiver ?? undefined,
      wallet: item.wallet ?? undefined,
      upstream_ref: item.upstreamRef ?? undefined,
      email_commitment: hexOf(salt, item.email),
      phone_commitment: hexOf(salt, item.phone),
      handle_commitment: hexOf(salt, item.handle),
    };
  });
  const { credential } = intent.caller;
  return {
    table: 'intent',
    account: intent.caller.account === 'main' ? undefined : intent.caller.account,
    id: intent.id,
    client_id: intent.caller.clientId,
    key_id: intent.caller.keyId,
    operation: intent.operation,
    request_id: intent.requestId,
    traceparent: intent.traceparent,
    client_address: intent.clientAddress,
    query: queryAsRecorded(intent.query) ?? undefined,
    item_count: intent.items.length,
    total_usd: totalOf(intent.items)?.toFixed(),
    body_commitment: read.body_commitment,
    received_at: intent.receivedAt.toISOString(),
    recorded_at: read.recorded_at,
    coverage: intent.coverage ?? undefined,
    screening: intent.screening ?? undefined,
    caused_by: intent.causedBy,
    duplicate_of: intent.duplicateOf ?? undefined,
    earlier_call_id: intent.earlierCallId ?? undefined,
    unexplained_transaction: intent.unexplainedTransaction ?? undefined,
    idempotency_key_commitment: intent.key ? hexOf(intent.key.salt.toString('hex'), intent.key.text) : undefined,
    actor_commitment: intent.person?.commitment.toString('hex'),
    actor_source: intent.person?.source,
    person_id: intent.person?.id,
    token: credential.kind === 'token' ? tokenOf(credential.claims, intent) : undefined,
    ephemeral_key_id: credential.kind === 'ephemeral' ? credential.id : undefined,
    held_for: intent.heldFor ?? undefined,
    expected_fee: intent.feeRate ? writeFeeRate(intent.feeRate) : undefined,
    expected_fee_usd: feesOf(intent.items, intent.feeRate)?.toFixed(),
    expires_at: intent.expiresAt?.toISOString(),
    reserved_on: intent.reservedOn ?? undefined,
    process: intent.process,
    items: items.length > 0 ? items : undefined,
  };
}

function tokenOf({ authTime, id, jkt }: TokenCredential['claims'], { person }: OpenIntent): IntentDocument['token'] {
  const acting = person?.acting;
  return {
    act: acting && { commitment: acting.commitment.toString('hex'), person_id: acting.id },
    auth_time: authTime === null ? undefined : new Date(authTime * 1_000).toISOString(),
    jkt: jkt ?? undefined,
    jti: asRecorded(id) ?? undefined,
  };
}

/** The people of a request, each with any salt. */
function peopleOf({ items }: OpenIntent) {
  return recordedItems(items).flatMap(({ email, phone, handle }, position) => {
    if ((email ?? phone ?? handle) === null) return [];
    const salt = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
    return { position, salt, email: email ?? undefined, phone: phone ?? undefined, handle: handle ?? undefined };
  });
}

const itemsCutOut = (text: string, next: string) => text.split('"items":')[1]?.split(`,"${next}":`)[0] ?? '[]';

describe('the record of a request', () => {
  it('is canonical JSON, and is read as it was written', () => {
    fc.assert(
      fc.property(anyIntent, (intent) => {
        const { record, people, salt } = writeIntent(intent);
        expect(canonicalize(JSON.parse(record))).toBe(record);
        expect(JSON.parse(itemsCutOut(record, 'key_id'))).toHaveLength(intent.items.length);
        const [read, named] = [parsed<IntentDocument>(stamped(record)), parsed<PersonDocument[]>(people ?? '[]')];
        expect(named).toEqual(peopleOf(intent));
        expect(read).toEqual(intentOf(intent, named, read));
        expect(read.body_commitment).toBe(hexOf(salt.toString('hex'), intent.body));
        expect(read.recorded_at).toBe(STAMP);
      }),
      { numRuns: runs(300) },
    );
  });

  it('has a salt of its own for each person', () => {
    fc.assert(
      fc.property(anyIntent, (intent) => {
        const salts = parsed<PersonDocument[]>(writeIntent(intent).people ?? '[]').map(({ salt }) => salt);
        expect(new Set(salts).size).toBe(salts.length);
      }),
      { numRuns: runs(30) },
    );
  });
});

describe('the record of an outcome', () => {
  it('is canonical JSON, and is read as it was written', () => {
    fc.assert(
      fc.property(anyOutcome, (outcome) => {
        const record = writeOutcome(outcome, SALT);
        expect(canonicalize(JSON.parse(record))).toBe(record);
        expect(JSON.parse(itemsCutOut(record, 'kind'))).toHaveLength(outcome.items.length);
        const read = parsed<OutcomeDocument>(stamped(record));
        expect(read).toEqual(outcomeOf(outcome, read));
        expect(read.body_commitment).toBe(hexOf(SALT.toString('hex'), outcome.body));
        expect(read.recorded_at).toBe(STAMP);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('stored records', () => {
  let database: TestDatabase;
  let client: Client;
  let prisma: PrismaService;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new Client({ connectionString: database.ownerUrl });
    await client.connect();
    const prepared = async (_name: string, text: string, values: unknown[]) =>
      (await client.query<object>(text, values)).rows;
    const nothingAbandoned = () => Promise.resolve([]);
    prisma = { prepared, $queryRaw: nothingAbandoned } as unknown as PrismaService;
  });
  afterAll(async () => {
    await client.end();
    await database.close();
  });

  /** Reads a record as the verification of the log does. */
  async function stored(kind: 'intent' | 'outcome', id: string) {
    await client.query('BEGIN');
    const cursor = await recordsOf(client, kind);
    let row: RecordRow | undefined;
    for (let page = await cursor.next(); page.length > 0 && !row; page = await cursor.next()) {
      row = page.find(([key]) => key === id);
    }
    await client.query('ROLLBACK');
    return row!;
  }

  it('are canonical with their time, equal their columns, and open their commitments', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyIntent, { minLength: 1, maxLength: 3 }), async (drawn) => {
        const intents = drawn.map((intent) => ({ ...intent, id: randomUUID() }));
        await insertIntents(prisma, intents);
        for (const intent of intents) {
          const row = await stored('intent', intent.id);
          expect(contradictionsOf('intent', intent.id, row)).toEqual([]);
          const [, at, record, , , , people] = row;
          expect(canonicalize(JSON.parse(record))).toBe(record);
          const [read, named] = [parsed<IntentDocument>(record), parsed<PersonDocument[]>(people ?? '[]')];
          expect(named).toEqual(peopleOf(intent));
          expect(read).toEqual(intentOf(intent, named, read));
          expect(Math.abs(Number(at) * 1_000 - Date.now())).toBeLessThan(60_000);
          expect(new Date(read.recorded_at).getTime()).toBe(Math.floor(Math.round(Number(at) * 1e6) / 1_000));
          const { rows } = await client.query('SELECT * FROM intent_item WHERE intent_id = $1', [intent.id]);
          expect(rows).toHaveLength(intent.items.length);
          const { rows: persons } = await client.query('SELECT * FROM item_recipient WHERE intent_id = $1', [
            intent.id,
          ]);
          expect(persons).toHaveLength(named.length);
        }
      }),
      { numRuns: runs(40) },
    );
  });

  it('of outcomes are canonical with their time, equal their columns, and open their commitments', async () => {
    const many = fc.array(anyOutcome, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(many, async (drawn) => {
        const outcomes = drawn.map((outcome) => ({ ...outcome, intentId: randomUUID() }));
        await insertOutcomes(prisma, outcomes);
        await insertOutcomesAgain(prisma, outcomes, TIMEOUTS); // the answer to the first attempt was lost
        for (const outcome of outcomes) {
          const row = await stored('outcome', outcome.intentId);
          expect(contradictionsOf('outcome', outcome.intentId, row)).toEqual([]);
          expect(canonicalize(JSON.parse(row[2]))).toBe(row[2]);
          const { rows } = await client.query('SELECT * FROM outcome_item WHERE intent_id = $1', [outcome.intentId]);
          expect(rows).toHaveLength(outcome.items.length);
        }
      }),
      { numRuns: runs(40) },
    );
  });
});
