import canonicalize from 'canonicalize';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { readChunk } from '../src/history/log/verify/chunks';
import { contradictionsOf } from '../src/history/log/verify/contradictions';
import { commitment } from '../src/journal/commitment';
import { writeIntent, writeOutcome } from '../src/journal/documents';
import { insertIntents } from '../src/journal/intents';
import { insertOutcomes } from '../src/journal/outcomes';
import { readIntent, RecordedIntent, RecordedItem, RecordedOutcome, readOutcome } from '../src/journal/recorded-calls';
import { recordedItems } from '../src/journal/recorded-items';
import { NewOutcome, OpenIntent } from '../src/journal/records';
import { totalOf } from '../src/operations/item';
import { PrismaService } from '../src/platform/database/prisma.service';
import { asRecorded, proseAsRecorded, queryAsRecorded } from '../src/platform/privacy/recorded';
import { anyIntent, anyOutcome } from './support/any-records';
import { first } from './support/first';
import { runs } from './support/runs';
import { createTestDatabase, TestDatabase } from './support/test-database';

const SALT = Buffer.alloc(16, 7);
const STAMP = '2026-11-21T10:20:30.123456Z';
const stamped = (record: string) => record.replace('"recorded_at":""', `"recorded_at":"${STAMP}"`);

/** What a reader of the records knows of a request, as long as nobody was erased. */
function knownOf(intent: OpenIntent, { recordedAt, items, bodyCommitment }: RecordedIntent): RecordedIntent {
  return {
    id: intent.id,
    clientId: intent.caller.clientId,
    keyId: intent.caller.keyId,
    operation: intent.operation,
    requestId: intent.requestId,
    traceparent: intent.traceparent ?? null,
    clientAddress: intent.clientAddress,
    query: queryAsRecorded(intent.query),
    itemCount: intent.items.length,
    totalUsd: totalOf(intent.items),
    bodyCommitment,
    receivedAt: intent.receivedAt,
    recordedAt,
    coverage: intent.coverage,
    causedBy: intent.causedBy ?? null,
    duplicateOf: intent.duplicateOf ?? null,
    idempotencyKey: intent.idempotencyKey ?? null,
    actor: intent.actor,
    heldFor: intent.heldFor ?? null,
    expiresAt: intent.expiresAt ?? null,
    process: intent.process,
    items: recordedItems(intent.items).map(({ email, phone, handle, ...item }, position): RecordedItem => {
      const salt = items[position]?.recipient?.salt;
      const committed = (value: string | null) => (salt ? commitment(salt, value) : null);
      return {
        ...item,
        position,
        emailCommitment: committed(email),
        phoneCommitment: committed(phone),
        handleCommitment: committed(handle),
        recipient: (email ?? phone ?? handle) === null ? null : { salt: salt ?? SALT, email, phone, handle },
      };
    }),
  };
}

function knownOfOutcome(outcome: NewOutcome, { recordedAt, bodyCommitment }: RecordedOutcome): RecordedOutcome {
  return {
    kind: outcome.kind,
    failure: outcome.failure,
    upstreamStatus: outcome.upstreamStatus,
    contentType: asRecorded(outcome.contentType),
    retryAfter: outcome.retryAfter,
    sentAt: outcome.sentAt,
    answeredAt: outcome.answeredAt,
    upstreamMs: new Decimal(outcome.upstreamMs.toFixed(3)),
    answerOf: outcome.answerOf,
    attempts: outcome.attempts,
    bodyCommitment,
    recordedAt,
    tries: outcome.tries.map(({ failure, ms, phase, startedAt, status }) => ({
      ...(failure === null ? {} : { failure }),
      ms: ms.toFixed(3),
      phase,
      started_at: startedAt.toISOString(),
      ...(status === null ? {} : { status }),
    })),
    items: outcome.items.map((item, ordinal) => ({
      ...item,
      ordinal,
      upstreamRef: asRecorded(item.upstreamRef),
      upstreamId: asRecorded(item.upstreamId),
      batchRef: asRecorded(item.batchRef),
      status: proseAsRecorded(item.status),
    })),
  };
}

describe('the record of a request', () => {
  it('is canonical JSON, and is read as it was written', () => {
    fc.assert(
      fc.property(anyIntent, (intent) => {
        const { record, people, salt } = writeIntent(intent);
        expect(canonicalize(JSON.parse(record))).toBe(record);
        const read = readIntent(stamped(record), people);
        expect(read).toEqual(knownOf(intent, read));
        expect(read.bodyCommitment).toEqual(commitment(salt, intent.body));
        expect(read.recordedAt).toEqual(new Date(STAMP));
      }),
      { numRuns: runs(300) },
    );
  });

  it('has a salt of its own for each person', () => {
    fc.assert(
      fc.property(anyIntent, (intent) => {
        const read = readIntent(stamped(writeIntent(intent).record), writeIntent(intent).people);
        const salts = read.items.flatMap(({ recipient }) => recipient?.salt.toString('hex') ?? []);
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
        const read = readOutcome(stamped(record));
        expect(read).toEqual(knownOfOutcome(outcome, read));
        expect(read.bodyCommitment).toEqual(commitment(SALT, outcome.body));
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('stored records', () => {
  let database: TestDatabase;
  let client: Client;
  let prisma: PrismaService;
  let leaves = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new Client({ connectionString: database.ownerUrl });
    await client.connect();
    const prepared = async (_name: string, text: string, values: unknown[]) =>
      (await client.query<object>(text, values)).rows;
    prisma = { prepared } as unknown as PrismaService;
  });
  afterAll(async () => {
    await client.end();
    await database.close();
  });

  /** Reads a record as the verification of the log does. */
  async function stored(kind: 'intent' | 'outcome', id: string) {
    const index = (leaves += 1);
    await client.query(`INSERT INTO log_leaf (index, kind, record_id, hash) VALUES ($1, $2, $3, sha256(''))`, [
      index,
      kind,
      id,
    ]);
    const { records } = await readChunk(client, index, index + 1);
    return first([...records.values()]);
  }

  it('are canonical with their time, equal their columns, and open their commitments', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyIntent, { minLength: 1, maxLength: 3 }), async (drawn) => {
        const intents = drawn.map((intent) => ({ ...intent, id: randomUUID() }));
        await insertIntents(prisma, intents);
        for (const intent of intents) {
          const row = await stored('intent', intent.id);
          expect(contradictionsOf('intent', intent.id, row)).toEqual([]);
          const [, at, record, , , people] = row;
          expect(canonicalize(JSON.parse(record))).toBe(record);
          const read = readIntent(record, people);
          expect(read).toEqual(knownOf(intent, read));
          expect(Math.abs(Number(at) * 1_000 - Date.now())).toBeLessThan(60_000);
          expect(read.recordedAt.getTime()).toBe(Math.floor(Math.round(Number(at) * 1e6) / 1_000));
          const { rows } = await client.query('SELECT * FROM intent_item WHERE intent_id = $1', [intent.id]);
          expect(rows).toHaveLength(intent.items.length);
          const named = read.items.filter(({ recipient }) => recipient).length;
          const { rows: persons } = await client.query('SELECT * FROM item_recipient WHERE intent_id = $1', [
            intent.id,
          ]);
          expect(persons).toHaveLength(named);
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
