import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { readSentCalls } from '../../../src/reconciliation/in-doubt/calls-in-doubt';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { TestDatabase } from '../../support/databases/test-database';
import { answer } from '../../support/network/fake-upstream';
import { PaymentScene, PHONE, startPaying } from '../../support/payments/paying';
import { insertion } from '../../support/records/documents';

const EQUAL = 1_000;
const DOUBTS = 50;
const SECONDS_AGO = 1_000;
const INSTANT = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';

/** One receiver gets the same payment thousands of times. Some answers are lost. */
describe('a resolver round among thousands of equal payments', () => {
  let paying: PaymentScene;
  let listed: object[] = [];

  beforeAll(async () => {
    paying = await startPaying({ resolverQuietSeconds: 3_600 });
    paying.upstream.behaviour = (request, response, socket) => {
      const data = request.url.endsWith('/account/transactions') ? listed : { data: [], error: 'None' };
      return answer(200, { status: 'success', data })(request, response, socket);
    };
  });
  afterAll(() => paying.close());

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);

  /**
   * Copies of a call. The first one is in doubt. The others succeeded without transactions in their answers.
   */
  const copies = async (model: string) => {
    await query(
      `CREATE TEMP TABLE copy AS SELECT n, at, to_char(at AT TIME ZONE 'UTC', '${INSTANT}') AS instant,
         (left(uuid_floor(at)::text, 18) || '-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id
       FROM (SELECT n, now() - interval '${SECONDS_AGO} seconds' + n * interval '10 ms' AS at
         FROM generate_series(1, ${EQUAL}) AS n) AS t`,
    );
    // Records are canonical, so their members keep their order.
    const texts = (table: string, key: string, kind = `'succeeded'`) =>
      `ARRAY(SELECT replace(replace(
          regexp_replace(record, '"([a-z]+_at)":"[^"]*"', '"\\1":"' || c.instant || '"', 'g'),
          $1, c.id::text), '"kind":"succeeded"', '"kind":"' || ${kind} || '"')
        FROM ${table}, copy c WHERE ${table}.${key} = $1::uuid)`;
    await query(insertion('intent', texts('intent', 'id')), [model]);
    const kind = `CASE WHEN c.n <= ${DOUBTS} THEN 'unknown' ELSE 'succeeded' END`;
    await query(insertion('outcome', texts('outcome', 'intent_id', kind)), [model]);
    await query(
      `INSERT INTO intent_body (intent_id, salt, body, coding, people, people_salt)
       SELECT c.id, salt, body, coding, people, people_salt
       FROM intent_body, copy c WHERE intent_id = $1::uuid`,
      [model],
    );
    const made = await query('SELECT id::text, at FROM copy ORDER BY n');
    return made.map(({ id, at }) => ({ id: String(id), at: at as Date }));
  };

  it('attributes one transaction to each of thousands of equal payouts', async () => {
    const model = (await paying.pay(PHONE).expect(200)).headers['x-call-id'] ?? '';
    const calls = await copies(model);
    listed = calls.map(({ at }, place) => ({
      chiRef: `ref-${place}`,
      id: `id-${place}`,
      issueID: `issue-${place}`,
      issueDate: at.toISOString(),
      type: 'airtime',
      status: 'paid',
      phoneNumber: PHONE,
      valueInUSD: 2.5,
    }));
    const worker = await paying.proxy.startWorker();
    const looking = worker.get(PollService);
    looking.rules.quietMs = 0;
    const ids = calls.slice(0, DOUBTS).map(({ id }) => id);
    const due = await readSentCalls(worker.get(PrismaService, { strict: false }), ids, 1_000);
    const { verdicts, failure } = await looking.poll('main', due, new AbortController().signal);
    expect([failure, verdicts.length]).toEqual([null, DOUBTS]);
    expect(new Set(verdicts.map(({ verdict }) => verdict))).toEqual(new Set(['confirmed']));
    const attributed = await query<{ count: number }>(
      `SELECT count(DISTINCT (call_id, position))::integer AS count FROM book_transaction
       WHERE call_id = ANY ($1::uuid[])`,
      [ids],
    );
    expect(attributed).toEqual([{ count: DOUBTS }]);
  });
});
