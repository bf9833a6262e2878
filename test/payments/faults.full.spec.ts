import { createSandbox, Sandbox } from '../../src/sandbox/app';
import { FAULTS, FaultName } from '../../src/sandbox/faults/table';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { eventually } from '../support/payments/paying';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../support/processes/proxy';
import { askSandbox } from '../support/sandbox/sandbox-answers';

/** Expected answer and record for one fault of the upstream. */
interface Row {
  fault: FaultName;
  with?: object;
  status: number;
  code?: string;
  outcome: 'succeeded' | 'unknown';
  failure: string | null;
  /** Whether the sandbox executed the payout in the end. */
  processed: boolean;
}

const passed = { outcome: 'succeeded', failure: null, processed: true } as const;
const unknown = (failure: string, status = 502) =>
  ({ status, code: 'outcome_unknown', outcome: 'unknown', failure, processed: true }) as const;
const unverified = { outcome: 'unknown', failure: 'unverified_rejection' } as const;
const contradictory = { outcome: 'unknown', failure: 'contradictory' } as const;
const refused = { ...unverified, processed: false } as const;

const TABLE: Row[] = [
  { fault: 'delay', with: { ms: 50 }, status: 200, ...passed },
  { fault: 'delay', with: { ms: 5_000 }, ...unknown('timeout', 504) },
  { fault: 'noResponse', ...unknown('timeout', 504) },
  { fault: 'resetBeforeProcessing', ...unknown('reset'), processed: false },
  { fault: 'resetAfterProcessing', ...unknown('reset') },
  { fault: 'lateProcessing', with: { ms: 100 }, ...unknown('server_error') },
  { fault: 'lateProcessing', with: { ms: 100, status: 500 }, status: 500, ...unverified, processed: true },
  { fault: 'error500', status: 500, ...unverified, processed: false },
  { fault: 'error500AfterProcessing', status: 500, ...unverified, processed: true },
  { fault: 'error500AfterSome', status: 500, ...unverified, processed: true },
  { fault: 'errorBesideTransactions', status: 200, ...passed },
  { fault: 'errorNamingTransactions', status: 400, ...contradictory, processed: true },
  { fault: 'errorNamingTransactions', with: { status: 200 }, status: 200, ...contradictory, processed: true },
  { fault: 'successNamingNothing', status: 200, ...passed },
  { fault: 'error502Html', ...unknown('server_error') },
  { fault: 'truncatedBody', ...unknown('reset') },
  { fault: 'malformedJson', ...unknown('unreadable') },
  { fault: 'slowBody', with: { ms: 50 }, status: 200, ...passed },
  { fault: 'slowBody', with: { ms: 60_000 }, ...unknown('timeout', 504) },
  { fault: 'hugeBody', ...unknown('oversized') },
  { fault: 'redirect', ...unknown('redirect') },
  { fault: 'redirect', with: { status: 307 }, ...unknown('redirect') },
  { fault: 'unauthorized', status: 502, code: 'upstream_auth', ...refused },
  { fault: 'forbidden', status: 502, code: 'upstream_auth', ...refused },
  { fault: 'tooManyRequests', with: { retryAfter: 7 }, status: 503, code: 'upstream_busy', ...refused },
  { fault: 'duplicateTransaction', status: 200, ...passed },
  { fault: 'failsLater', with: { ms: 50 }, status: 200, ...passed },
  { fault: 'reversesLater', with: { ms: 50 }, status: 200, ...passed },
  { fault: 'refundsLater', with: { ms: 50 }, status: 200, ...passed },
];

const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const AIRTIME = 'POST /payouts/airtime';

describe('a misbehaving upstream', () => {
  let database: TestDatabase;
  let sandbox: Sandbox;
  let proxy: TestProxy;
  let app: string;
  let auditor: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await createSandbox({ databaseUrl: database.sandboxUrl, port: 0, apiKey: UPSTREAM_KEY });
    const settings = {
      upstreamBaseUrl: sandbox.url,
      upstreamTimeoutMs: 2_000,
      upstreamMaxResponseBytes: 100_000,
    };
    proxy = await startProxy({ ...settings, checkCoverage: true }, database);
    app = (await proxy.client('app', 'pay')).key;
    auditor = (await proxy.client('auditor', 'audit')).key;
    await pay(); // caches the list of countries
  });
  afterAll(async () => {
    await proxy.close();
    await sandbox.close();
    await database.close();
  });

  const pay = (phoneNumber = '+254712345678') =>
    proxy.post(app, '/payouts/airtime', {
      airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD: 0.01 }],
    });
  const recordOf = async ({ headers }: { headers: Record<string, string> }) =>
    (await proxy.get(auditor, `/v1/audit/calls/${headers['x-call-id']}`).expect(200)).body;
  const arrivals = async () => {
    const address = `/_sandbox/requests?operation=${encodeURIComponent(AIRTIME)}` as const;
    return (await askSandbox(sandbox.url).get(address).set(CONTROL).expect(200)).body;
  };

  it('covers every fault of the sandbox', () => {
    expect([...new Set(TABLE.map(({ fault }) => fault))].sort()).toEqual(Object.keys(FAULTS).sort());
  });

  it.each(TABLE)('gives the app $status and records $outcome: $fault', async (row) => {
    const { fault, status, code, outcome, failure, processed } = row;
    const before = (await arrivals()).length;
    const asked = { fault, operation: AIRTIME, nth: 1, ...row.with };
    await askSandbox(sandbox.url).post('/_sandbox/faults').set(CONTROL).send(asked).expect(201);
    const answer = await pay();
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await recordOf(answer)).toMatchObject({ outcome, upstream: { failure } });
    const arrived = (await arrivals()).slice(before);
    expect(arrived).toHaveLength(1); // sent once under every fault
    await eventually(async () => !processed || (await arrivals()).at(-1)!.processed); // including late ones
    expect((await arrivals()).at(-1)).toMatchObject({ fault, processed });
  });

  it.each([
    ['+254799990202', 504],
    ['+254799990204', 502],
    ['+254799990206', 500],
    ['+254799990217', 500],
    ['+254799990215', 503],
    ['+254799990104', 200],
  ])('needs only the magic recipient %s', async (phoneNumber, status) => {
    await pay(phoneNumber).expect(status);
  });
});
