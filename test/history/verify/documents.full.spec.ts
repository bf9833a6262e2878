import { randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { Client } from 'pg';
import { contradictionsOf } from '../../../src/history/log/verify/contradictions';
import { RecordRow, recordsOf } from '../../../src/history/log/verify/record-rows';
import { insertOutcomes, insertOutcomesAgain } from '../../../src/journal/outcomes/outcomes';
import {
  IntentDocument,
  OutcomeDocument,
  writeIntent,
  writeOutcome,
} from '../../../src/journal/records/documents';
import { insertIntents } from '../../../src/journal/records/intents';
import {
  isErased,
  namesOf,
  PersonDocument,
  recipientsText,
  saltedPeople,
  withoutRecipients,
} from '../../../src/journal/records/recipients';
import { recordedItems } from '../../../src/journal/records/recorded-items';
import { OpenIntent } from '../../../src/journal/records/records';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { commitment } from '../../../src/platform/privacy/commitment';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { runs } from '../../support/examples/runs';
import { anyIntent, anyOutcome } from '../../support/records/any-records';
import { hexOf, intentOf, outcomeOf } from '../../support/records/expected-documents';

const TIMEOUTS = { upstreamTimeoutMs: 30_000, upstreamTimeouts: new Map<string, number>() };
const SALT = Buffer.alloc(16, 7);
const CLIENT = randomUUID();
const STAMP = '2026-11-21T10:20:30.123456Z';
const stamped = (record: string) => record.replace('"recorded_at":""', `"recorded_at":"${STAMP}"`);
const parsed = <Document>(text: string) => JSON.parse(text) as Document;

/** People of a request, with any salts. */
function peopleOf({ items }: OpenIntent) {
  return recordedItems(items).flatMap(({ email, phone, handle }, position) => {
    if ((email ?? phone ?? handle) === null) return [];
    return {
      position,
      email: email ?? undefined,
      phone: phone ?? undefined,
      handle: handle ?? undefined,
    };
  });
}

const itemsCutOut = (text: string, next: string) =>
  text.split('"items":')[1]?.split(`,"${next}":`)[0] ?? '[]';

describe('the record of a request', () => {
  it('is canonical JSON, and reads back unchanged', () => {
    fc.assert(
      fc.property(anyIntent, (intent) => {
        const { record, people, peopleSalt, salt } = writeIntent(intent);
        expect(canonicalize(JSON.parse(record))).toBe(record);
        expect(JSON.parse(itemsCutOut(record, 'key_id'))).toHaveLength(intent.items.length);
        const [read, named] = [
          parsed<IntentDocument>(stamped(record)),
          parsed<PersonDocument[]>(people ?? '[]'),
        ];
        expect(named).toEqual(peopleOf(intent));
        expect(read).toEqual(intentOf(intent, saltedPeople({ people: named, peopleSalt }), read));
        expect(read.body_commitment).toBe(hexOf(salt.toString('hex'), intent.body));
        expect(read.recorded_at).toBe(STAMP);
      }),
      { numRuns: runs(300) },
    );
  });

  it('still commits to the others, and opens nobody, once recipients are erased', () => {
    fc.assert(
      fc.property(anyIntent, fc.array(fc.boolean(), { minLength: 10 }), (intent, gone) => {
        const { people, peopleSalt } = writeIntent(intent);
        const stored = { people: parsed<PersonDocument[]>(people ?? '[]'), peopleSalt };
        const left = withoutRecipients(stored, (position) => gone[position % gone.length] === true);
        expect(recipientsText(left)).toBe(recipientsText(stored));
        expect(left.peopleSalt).toBeNull();
        const written = parsed<PersonDocument[]>(JSON.stringify(left.people));
        for (const person of written.filter(isErased))
          expect(Object.keys(person).sort()).toEqual(
            [
              ...namesOf(stored.people.find(({ position }) => position === person.position)!).map(
                ([contact]) => `${contact}_commitment`,
              ),
              'position',
            ].sort(),
          );
      }),
      { numRuns: runs(100) },
    );
  });

  it('has a separate salt for each person', () => {
    fc.assert(
      fc.property(anyIntent, (intent) => {
        const { people, peopleSalt } = writeIntent(intent);
        const stored = { people: parsed<PersonDocument[]>(people ?? '[]'), peopleSalt };
        const salts = saltedPeople(stored).map(({ salt }) => salt);
        expect(new Set(salts).size).toBe(salts.length);
        expect(salts).toEqual(salts.map(() => expect.stringMatching(/^[0-9a-f]{32}$/)));
      }),
      { numRuns: runs(30) },
    );
  });
});

describe('the record of an outcome', () => {
  it('is canonical JSON, and reads back unchanged', () => {
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
    await client.query("INSERT INTO client (id, name, scopes) VALUES ($1, 'of-persons', '{pay}')", [CLIENT]);
    const prepared = async (_name: string, text: string, values: unknown[]) =>
      (await client.query<object>(text, values)).rows;
    const nothingAbandoned = () => Promise.resolve([]);
    prisma = { prepared, $queryRaw: nothingAbandoned } as unknown as PrismaService;
  });
  afterAll(async () => {
    await client.end();
    await database.close();
  });

  /** Reads a record like the verification of the log. */
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

  /** Inserts an intent, and its person with the name. */
  async function known({ person }: OpenIntent): Promise<Pick<OpenIntent, 'id' | 'person'>> {
    const id = randomUUID();
    if (!person) return { id, person };
    const own = { ...person, id: randomUUID(), commitment: commitment(SALT, 'ada') };
    await client.query('INSERT INTO person (id, client_id, sha256, name, salt) VALUES ($1, $2, $3, $4, $5)', [
      own.id,
      CLIENT,
      Buffer.from(own.id),
      'ada',
      SALT,
    ]);
    return { id, person: own };
  }

  it('are canonical with their time, match their columns, and open their commitments', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyIntent, { minLength: 1, maxLength: 3 }), async (drawn) => {
        const intents: OpenIntent[] = [];
        for (const intent of drawn) intents.push({ ...intent, ...(await known(intent)) });
        await insertIntents(prisma, intents);
        for (const intent of intents) {
          const row = await stored('intent', intent.id);
          expect(contradictionsOf('intent', intent.id, row)).toEqual([]);
          const [, at, record, , , , people] = row;
          expect(canonicalize(JSON.parse(record))).toBe(record);
          const [salt = '', ...texts] = (people ?? ':[]').split(':');
          const [read, named] = [parsed<IntentDocument>(record), parsed<PersonDocument[]>(texts.join(':'))];
          const salted = saltedPeople({ people: named, peopleSalt: Buffer.from(salt, 'hex') });
          expect(named).toEqual(peopleOf(intent));
          expect(read).toEqual(intentOf(intent, salted, read));
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

  it('of outcomes are canonical with their time, match their columns and open commitments', async () => {
    const many = fc.array(anyOutcome, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(many, async (drawn) => {
        const outcomes = drawn.map((outcome) => ({ ...outcome, intentId: randomUUID() }));
        await insertOutcomes(prisma, outcomes);
        await insertOutcomesAgain(prisma, outcomes, TIMEOUTS); // The answer to the first attempt was lost.
        for (const outcome of outcomes) {
          const row = await stored('outcome', outcome.intentId);
          expect(contradictionsOf('outcome', outcome.intentId, row)).toEqual([]);
          expect(canonicalize(JSON.parse(row[2]))).toBe(row[2]);
          const { rows } = await client.query('SELECT * FROM outcome_item WHERE intent_id = $1', [
            outcome.intentId,
          ]);
          expect(rows).toHaveLength(outcome.items.length);
        }
      }),
      { numRuns: runs(40) },
    );
  });
});
