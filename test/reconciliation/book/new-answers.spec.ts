import fc from 'fast-check';
import { newId } from '../../../src/platform/database/ids';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';

/** A transaction that an answer names. */
interface Named {
  ref: string | null;
  id: string | null;
  /** Whether the answer matches it to the payout of its place. */
  isMatched: boolean;
}

/** The transactions of an answer, in the order of its payouts. */
interface Answer {
  kind: 'succeeded' | 'rejected';
  items: Named[];
}

const named = (ref: string, more: Partial<Named> = {}): Named => ({
  ref,
  id: `id-${ref}`,
  isMatched: true,
  ...more,
});

const answerOf = (...items: Named[]): Answer => ({ kind: 'succeeded', items });

interface Entered {
  /** The payout of each transaction. Null without one. */
  owners: Record<string, string | null>;
  /** The payouts with a contradiction. */
  contradicted: string[];
}

describe('enter_calls()', () => {
  let database: TestDatabase;
  let accounts = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  /** Records answers of a new account. @returns the IDs of their calls, in order. */
  const record = async (account: string, answers: Answer[]): Promise<string[]> => {
    const clientId = newId();
    await database.query(`INSERT INTO client (id, name, account, scopes) VALUES ($1, $2, $2, '{pay}')`, [
      clientId,
      account,
    ]);
    const ids = answers.map(newId).sort();
    for (const [index, answer] of answers.entries()) {
      const items = answer.items.map(({ ref, id, isMatched }, position) => ({
        amount_usd: '1',
        batch_ref: 'batch',
        ...(isMatched && { position }),
        status: 'paid',
        ...(id !== null && { upstream_id: id }),
        ...(ref !== null && { upstream_ref: ref }),
      }));
      await database.query(
        `INSERT INTO intent (id, client_id, operation, item_count, recorded_at, record)
         VALUES ($1, $2, 'POST /payouts/airtime', $3, now(), '{"items":[]}')`,
        [ids[index], clientId, answer.items.length],
      );
      await database.query(
        `INSERT INTO outcome (intent_id, kind, sent_at, answered_at, recorded_at, record)
         VALUES ($1, $2, now(), now(), now(), $3)`,
        [ids[index], answer.kind, JSON.stringify({ entries: 'paid', items })],
      );
    }
    return ids;
  };

  /** Enters answers in batches of a size. To enter all of them again changes nothing. */
  const enter = async (answers: Answer[], size: number): Promise<Entered> => {
    const account = `account-${(accounts += 1)}`;
    const ids = await record(account, answers);
    for (let at = 0; at < ids.length; at += size)
      await database.query('SELECT enter_calls($1::uuid[])', [ids.slice(at, at + size)]);
    const entered = await read(account, ids);
    await database.query('SELECT enter_calls($1::uuid[])', [ids]);
    expect(await read(account, ids)).toEqual(entered);
    return entered;
  };

  const read = async (account: string, ids: string[]): Promise<Entered> => {
    const place = (callId: string, position: number) => `${ids.indexOf(callId)}.${position}`;
    const rows = await database.query<{ name: string; call_id: string | null; position: number }>(
      `SELECT coalesce(upstream_ref, replace(upstream_id, 'id-', '')) AS name, call_id::text, position
       FROM book_transaction WHERE account = $1 ORDER BY 1`,
      [account],
    );
    const contradictions = await database.query<{ call_id: string; position: number }>(
      `SELECT c.call_id::text, c.position FROM book_contradiction c
       JOIN book_transaction b ON b.id = c.transaction_id
       WHERE b.account = $1 AND c.position IS NOT NULL ORDER BY 1, 2`,
      [account],
    );
    return {
      owners: Object.fromEntries(
        rows.map((row) => [row.name, row.call_id && place(row.call_id, row.position)]),
      ),
      contradicted: contradictions.map((row) => place(row.call_id, row.position)),
    };
  };

  it('attributes the new names of a batch, though another one is known', async () => {
    const answers = [answerOf(named('a')), answerOf(named('b')), answerOf(named('a')), answerOf(named('c'))];
    const expected = { owners: { a: '0.0', b: '1.0', c: '3.0' }, contradicted: ['2.0'] };
    expect(await enter(answers, 2)).toEqual(expected);
    expect(await enter(answers, 4)).toEqual(expected);
  });

  it('enters a transaction that no payout of its call has, beside others that one has', async () => {
    expect(
      await enter([answerOf(named('a'), named('b', { isMatched: false })), answerOf(named('c'))], 2),
    ).toEqual({
      owners: { a: '0.0', b: null, c: '1.0' },
      contradicted: [],
    });
  });

  it('finds that a call names one transaction twice', async () => {
    expect(await enter([answerOf(named('a'), named('a'))], 1)).toEqual({
      owners: { a: '0.0' },
      contradicted: ['0.1'],
    });
  });

  it('leaves an ID to the first transaction with it', async () => {
    const answers = [answerOf(named('a')), answerOf(named('b', { id: 'id-a' })), answerOf(named('c'))];
    for (const size of [1, 3]) {
      expect((await enter(answers, size)).owners).toEqual({ a: '0.0', b: '1.0', c: '2.0' });
      const [row] = await database.query(
        `SELECT count(*)::integer FROM book_transaction WHERE account = $1 AND upstream_id = 'id-a'`,
        [`account-${accounts}`],
      );
      expect(row).toEqual({ count: 1 });
    }
  });

  it('finds a transaction by its ID alone', async () => {
    const answers = [
      answerOf(named('a')),
      answerOf({ ...named('a'), ref: null }),
      answerOf({ ...named('b'), ref: null }),
      answerOf(named('b')),
    ];
    for (const size of [1, 2, 4])
      expect(await enter(answers, size)).toEqual({
        owners: { a: '0.0', b: '2.0' },
        contradicted: ['1.0', '3.0'],
      });
  });

  /** Some transactions are shown with an ID, and of these, some without a reference. */
  const item = fc
    .record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      hasRef: fc.boolean(),
      isMatched: fc.integer({ min: 0, max: 4 }).map((drawn) => drawn !== 0),
    })
    .map(({ name, hasRef, isMatched }) => ({
      name,
      isMatched,
      ref: name > 'c' || hasRef ? name : null,
      id: name > 'c' ? null : `id-${name}`,
    }));
  const answer = fc.record({
    kind: fc.constantFrom('succeeded' as const, 'succeeded' as const, 'rejected' as const),
    items: fc.array(item, { minLength: 1, maxLength: 3 }),
  });

  it('attributes each transaction once, whatever the batches', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 6 }), async (answers) => {
        const alone = await enter(answers, 1);
        for (const size of [2, answers.length]) expect(await enter(answers, size)).toEqual(alone);
        const claims = answers.flatMap((one, index) =>
          one.items.flatMap(({ name, isMatched }, position) =>
            isMatched ? [{ name, payout: `${index}.${position}` }] : [],
          ),
        );
        for (const { name, payout } of claims)
          expect([alone.owners[name], ...alone.contradicted]).toContain(payout);
        expect(Object.keys(alone.owners).length).toBe(
          new Set(answers.flatMap(({ items }) => items.map(({ name }) => name))).size,
        );
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});
