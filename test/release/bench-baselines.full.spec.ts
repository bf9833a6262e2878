import { join } from 'node:path';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { answer, FakeUpstream } from '../support/network/fake-upstream';
import { Product } from '../support/processes/process';

const FOLDER = join(__dirname, '..', '..', 'bench', 'baselines');
const PROXIES = ['fastify-http-proxy', 'http-proxy-middleware'];
/** Query for the recorded rows of a contestant, including calls without an outcome. */
const RECORDS: Record<string, string> = {
  plain: `SELECT body::text, status, answer::text FROM plain.payout_record
    WHERE key_id IN (SELECT id FROM plain.api_key)`,
  floor: `SELECT convert_from(i.body, 'utf8') AS body, o.status, convert_from(o.body, 'utf8') AS answer
            FROM floor.intent i LEFT JOIN floor.outcome o ON o.intent_id = i.id`,
};
const RECORDING = Object.keys(RECORDS);
const BODY = {
  airtimes: [{ countryToSend: 'Côte d’Ivoire', phoneNumber: '+2250700000000', valueInUSD: 1.5 }],
};
const ANSWER = { status: 'error', error: 'Solde insuffisant: 1,50 €' };

describe('a contestant of the benchmark', () => {
  let upstream: FakeUpstream;
  let database: TestDatabase;
  const urls = new Map<string, string>();
  const running: Product[] = [];

  const start = (name: string, env: Record<string, string> = {}) =>
    new Product(process.execPath, [join(FOLDER, `${name}.mjs`)], { ...settings(), ...env }, FOLDER);
  const settings = () => ({
    UPSTREAM_URL: upstream.url,
    UPSTREAM_API_KEY: 'key-of-the-upstream',
    API_KEY: 'key-of-the-app',
    DATABASE_URL: database.ownerUrl,
  });
  const post = (name: string, body: object, key = 'key-of-the-app') =>
    fetch(`${urls.get(name)}/api/v0.1/payouts/airtime`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      body: JSON.stringify(body),
    });

  beforeAll(async () => {
    [upstream, database] = await Promise.all([FakeUpstream.start(), createTestDatabase()]);
    await Promise.all(
      [...PROXIES, ...RECORDING].map(async (name) => {
        const contestant = start(name);
        running.push(contestant);
        const [, url = ''] = await contestant.said(/^\{"url":"(http:.+)"\}$/m);
        urls.set(name, url);
      }),
    );
  });
  beforeEach(() => {
    upstream.received.length = 0;
    upstream.behaviour = answer(500, ANSWER);
  });
  afterAll(async () => {
    await Promise.all(running.map((contestant) => contestant.signal('SIGTERM')));
    await upstream.stop();
    await database.close();
  });

  it.each([...PROXIES, ...RECORDING])(
    "forwards the request with the upstream's key, and returns the answer (%s)",
    async (name) => {
      const response = await post(name, BODY);
      expect([response.status, await response.text()]).toEqual([500, JSON.stringify(ANSWER)]);
      expect(upstream.received).toMatchObject([
        {
          method: 'POST',
          url: '/api/v0.1/payouts/airtime',
          headers: { 'x-api-key': 'key-of-the-upstream', 'content-type': 'application/json' },
          body: JSON.stringify(BODY),
        },
      ]);
    },
  );

  it.each(RECORDING)(
    'records the request before it is sent, and the outcome before the app gets it (%s)',
    async (name) => {
      const record = async () => {
        const rows = await database.query<{ body: string; answer: string }>(RECORDS[name] ?? '');
        const parsed = rows.map((row) => ({
          ...row,
          body: JSON.parse(row.body) as typeof BODY,
          answer: JSON.parse(row.answer) as unknown,
        }));
        return parsed.filter(({ body }) => body.airtimes[0]?.valueInUSD === 2.25);
      };
      const body = { airtimes: [{ ...BODY.airtimes[0], valueInUSD: 2.25 }] };
      let before: unknown;
      upstream.behaviour = async (...exchange) => {
        before = await record();
        answer(200, ANSWER)(...exchange);
      };
      await post(name, body);
      expect(before).toEqual([{ body, status: null, answer: null }]);
      expect(await record()).toEqual([{ body, status: 200, answer: ANSWER }]);
    },
  );

  it.each(RECORDING)(
    'rejects requests without the key and requests other than payouts (%s)',
    async (name) => {
      const { airtimes } = BODY;
      const answers = [
        await post(name, BODY, 'guessed'),
        await post(name, { airtimes: [{ ...airtimes[0], valueInUSD: 0 }] }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([401, 400]);
      expect(upstream.received).toEqual([]);
    },
  );

  it('is skipped without an nginx installation', async () => {
    const { code, stdout, stderr } = await start('nginx', { PATH: FOLDER }).exit;
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: '',
      stderr: 'nginx is not on PATH: the comparison goes on without it\n',
    });
  });
});
