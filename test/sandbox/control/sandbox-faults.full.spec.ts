import { MAGIC } from '../../../src/sandbox/behaviour/magic-recipients';
import { FAULTS, FaultName } from '../../../src/sandbox/faults/table';
import { first } from '../../support/examples/first';
import { eventually } from '../../support/payments/paying';
import { AIRTIME, airtime, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

const HEADERS_END = '\r\n\r\n';
const headOf = (text: string) => text.split(HEADERS_END, 1)[0] ?? '';
const bodyOf = (text: string) => text.slice(headOf(text).length + HEADERS_END.length);
const announced = (text: string) => Number(/content-length: (\d+)/i.exec(headOf(text))?.[1]);
const statusOf = (text: string) => (text === '' ? null : Number(text.split(' ')[1]));

describe('a fault of the sandbox', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  beforeEach(() => sandbox.control('post', '/reset').expect(204));

  /** Sends one payout of 10 USD with a fault. Returns the response and the actual result. */
  async function strike(fault: FaultName, settings: object = {}) {
    const before = await sandbox.balance('airtime');
    await sandbox.fault({ fault, operation: AIRTIME, nth: 1, ...settings });
    const heard = await sandbox.hear('/payouts/airtime', airtime(10));
    const [truth] = await sandbox.requests(AIRTIME);
    return { ...heard, truth, debited: before - (await sandbox.balance('airtime')) };
  }

  it.each<[FaultName, object, { http: number; debited: number; body: RegExp }]>([
    ['delay', { ms: 20 }, { http: 200, debited: 10, body: /"status":"success"/ }],
    ['error500', {}, { http: 500, debited: 0, body: /^{"status":"error","error":"[^"]+"}$/ }],
    ['error500', { processed: true }, { http: 500, debited: 10, body: /^{"status":"error"/ }],
    ['error500AfterProcessing', {}, { http: 500, debited: 10, body: /^{"status":"error","error":"[^"]+"}$/ }],
    ['error500AfterSome', {}, { http: 500, debited: 10, body: /^{"status":"error","error":"[^"]+"}$/ }],
    ['error502Html', {}, { http: 502, debited: 10, body: /^<html>\r\n[^]*502 Bad Gateway[^]*nginx/ }],
    ['error502Html', { processed: false }, { http: 502, debited: 0, body: /^<html>/ }],
    ['redirect', {}, { http: 302, debited: 10, body: /^$/ }],
    ['unauthorized', {}, { http: 401, debited: 0, body: /"key is not defined\. Generate a new one/ }],
    ['forbidden', {}, { http: 403, debited: 0, body: /"API Access not enabled for account 00000000-/ }],
    ['tooManyRequests', {}, { http: 429, debited: 0, body: /^{"status":"error"/ }],
    ['slowBody', { ms: 20 }, { http: 200, debited: 10, body: /^{"status":"success".*}$/ }],
    ['duplicateTransaction', {}, { http: 200, debited: 20, body: /"status":"success"/ }],
  ])('answers as configured: %s %j answers %j', async (fault, settings, { http, debited, body }) => {
    const struck = await strike(fault, settings);
    expect(struck).toMatchObject({ error: undefined, debited });
    expect(statusOf(struck.text)).toBe(http);
    expect(bodyOf(struck.text)).toMatch(body);
    expect(struck.truth).toMatchObject({
      fault,
      processed: debited > 0,
      httpStatus: http,
      body: airtime(10),
    });
    expect(struck.truth?.chiRefs).toHaveLength(debited / 10);
  });

  it.each<[FaultName, number]>([
    ['resetBeforeProcessing', 0],
    ['resetAfterProcessing', 10],
  ])('breaks the connection with %s, after %d USD have moved', async (fault, debited) => {
    const struck = await strike(fault);
    expect(struck).toMatchObject({ text: '', error: 'ECONNRESET', debited });
    expect(struck.truth).toMatchObject({ processed: debited > 0, httpStatus: null, answeredAt: null });
  });

  it('ends truncatedBody before its Content-Length', async () => {
    const { text, truth, debited } = await strike('truncatedBody');
    expect(Buffer.byteLength(bodyOf(text))).toBe(Math.floor(announced(text) / 2));
    expect([debited, truth?.httpStatus]).toEqual([10, 200]);
  });

  it('sends malformedJson with a correct Content-Length and invalid JSON', async () => {
    const { text, debited } = await strike('malformedJson');
    expect(Buffer.byteLength(bodyOf(text))).toBe(announced(text));
    expect(bodyOf(text)).toMatch(/^{"status":"success"/);
    expect(() => JSON.parse(bodyOf(text)) as unknown).toThrow(SyntaxError);
    expect(debited).toBe(10);
  });

  it('can leave malformedJson and truncatedBody unprocessed', async () => {
    expect(await strike('malformedJson', { processed: false })).toMatchObject({
      debited: 0,
      truth: { processed: false },
    });
    await sandbox.control('post', '/reset').expect(204);
    expect(await strike('truncatedBody', { processed: false })).toMatchObject({
      debited: 0,
      truth: { processed: false },
    });
  });

  it('sends hugeBody as valid JSON of the requested size', async () => {
    const { text, debited } = await strike('hugeBody', { bytes: 3_000_000 });
    expect(JSON.parse(bodyOf(text))).toMatchObject({ status: 'success', padding: 'x'.repeat(3_000_000) });
    expect(debited).toBe(10);
  });

  it.each<[FaultName, object, { http: number; envelope: object }]>([
    ['error500AfterSome', {}, { http: 500, envelope: { status: 'error', error: expect.any(String) } }],
    ['errorBesideTransactions', {}, { http: 200, envelope: { status: 'success' } }],
    ['errorNamingTransactions', {}, { http: 400, envelope: { status: 'error', error: expect.any(String) } }],
    ['errorNamingTransactions', { status: 200 }, { http: 200, envelope: { status: 'error' } }],
  ])('omits the last of three items with %s %j', async (fault, settings, { http, envelope }) => {
    await sandbox.fault({ fault, operation: AIRTIME, nth: 1, ...settings });
    const [item] = airtime(10).airtimes;
    const { body } = await sandbox.post('/payouts/airtime', { airtimes: [item, item, item] }).expect(http);
    expect(body).toMatchObject(envelope);
    const names = fault !== 'error500AfterSome';
    expect(body.data?.data).toEqual(names ? [expect.anything(), expect.anything()] : undefined);
    if (fault === 'errorBesideTransactions') expect(body.data?.error).toBe('some of the items failed');
    expect(await sandbox.balance('airtime')).toBe(9_980);
    expect((await sandbox.requests(AIRTIME))[0]).toMatchObject({ fault, processed: true, httpStatus: http });
  });

  it('hides only young transactions of a type from lists with listedAfterMs', async () => {
    await sandbox.control('patch', '/settings', { listedAfterMs: { airtime: 600_000 } }).expect(200);
    const { body: late } = await sandbox.post('/payouts/airtime', airtime(1)).expect(200);
    const credits = [{ email: 'ada@example.org', valueInUSD: 1 }];
    const { body: shown } = await sandbox.post('/payouts/credit', { credits }).expect(200);
    const { id, issueID } = first(late.data.data);
    const listed = async () =>
      (await sandbox.post('/account/transactions').expect(200)).body.data.map(
        (transaction) => transaction.id,
      );
    expect(await listed()).toEqual([first(shown.data.data).id]);
    const ofIssue = await sandbox.post(`/account/issue-id-transactions?issueID=${issueID}`).expect(200);
    expect(ofIssue.body.data).toEqual({ error: 'not found for that id' });
    expect((await sandbox.get(`/account/transaction?id=${id}`).expect(200)).body.data).toMatchObject({ id });
    await sandbox.control('patch', '/settings', { listedAfterMs: { airtime: 0 } }).expect(200);
    expect(await listed()).toEqual([first(shown.data.data).id, id]);
  });

  it('sends Retry-After with tooManyRequests', async () => {
    expect(headOf((await strike('tooManyRequests', { retryAfter: 7 })).text)).toMatch(/retry-after: 7/i);
  });

  it('makes a client that follows redirects send twice', async () => {
    const { text } = await strike('redirect', { status: 307 });
    const [, location = ''] = /location: (\S+)/i.exec(headOf(text)) ?? [];
    await sandbox.post(location.replace('/api/v0.1', ''), airtime(10)).expect(200);
    expect(await sandbox.requests(AIRTIME)).toMatchObject([
      { processed: true, httpStatus: 307, query: {} },
      { processed: true, httpStatus: 200, query: { redirected: 'true' } },
    ]);
  });

  it('answers lateProcessing with an error, and executes it afterwards', async () => {
    const { text, truth } = await strike('lateProcessing', { ms: 200, status: 500 });
    expect([statusOf(text), truth?.httpStatus]).toEqual([500, 500]);
    expect(JSON.parse(bodyOf(text))).toEqual({ status: 'error', error: expect.any(String) });
    await eventually(async () => (await sandbox.requests(AIRTIME))[0]!.processed);
    const [late] = await sandbox.requests(AIRTIME);
    expect(late?.chiRefs).toHaveLength(1);
    expect(Date.parse(late?.processedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(late?.answeredAt ?? ''));
    expect(await sandbox.balance('airtime')).toBe(9_990);
  });

  it.each(
    Object.entries(MAGIC).flatMap(([, row]) => ('fault' in row ? [[row.fault, row.digits] as const] : [])),
  )('makes %s strike the magic number …%s', async (fault, digits) => {
    void sandbox.hear('/payouts/airtime', airtime(1, `+2547${digits}`)); // the response is tested above
    await eventually(async () => (await sandbox.requests(AIRTIME)).length === 1);
    expect((await sandbox.requests(AIRTIME))[0]?.fault).toBe(fault);
  });

  it('strikes for magic recipients of all operations, after a requested fault', async () => {
    const credit = (item: object) =>
      sandbox.post('/payouts/credit', { credits: [{ valueInUSD: 1, ...item }] });
    await credit({ email: 'Unauthorized@sandbox.example' }).expect(401);
    await credit({ twitter: '@sandbox_forbidden' }).expect(403);
    await credit({ email: 'ada@sandbox.example' }).expect(200);
    await sandbox.post('/collections/mobile-money/collect', { phone_number: '+254799990213' }).expect(401);
    await sandbox.post('/redeem/airtime', { phoneNumber: '+254799990214' }).expect(403);
    await sandbox
      .post('/send', { credit: [{ valueInUSD: 1, twitter: '@sandbox_unauthorized' }] })
      .expect(401);
    await sandbox.post('/sub-account/create', { name: 'A', email: 'forbidden@sandbox.example' }).expect(403);
    await sandbox.fault({ fault: 'error500', nth: 1 });
    await credit({ email: 'unauthorized@sandbox.example' }).expect(500);
  });

  it('is documented for every name', () => {
    const magic = Object.values(MAGIC).flatMap((row) => ('fault' in row ? [row.fault as string] : []));
    expect(magic.sort()).toEqual(Object.keys(FAULTS).sort());
  });
});
