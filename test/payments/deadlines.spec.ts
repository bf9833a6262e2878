import { once } from 'node:events';
import { IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallJournal } from '../../src/journal/call-journal';
import { PrismaService } from '../../src/platform/database/pools/prisma.service';
import { answer, succeed } from '../support/network/fake-upstream';
import { AIRTIME, eventually, PaymentScene, startPaying } from '../support/payments/paying';
import { passTime } from '../support/processes/pass-time';

/** Below `passTime`'s step, and above the duration of a request on a slow machine. */
const DEADLINE_MS = 8_000;

/** Effects of a deadline before and after sending. */
describe('the deadline of a request', () => {
  let paying: PaymentScene;
  let journal: CallJournal;

  beforeAll(async () => {
    paying = await startPaying({ requestDeadlineMs: DEADLINE_MS });
    journal = paying.proxy.app.get(CallJournal, { strict: false });
  });
  afterAll(() => paying.close());
  beforeEach(() => {
    paying.upstream.received.length = 0;
    paying.upstream.behaviour = succeed;
  });
  afterEach(() => jest.restoreAllMocks());

  const pay = (key: string) =>
    paying.proxy.post(paying.app, '/payouts/airtime', AIRTIME).set('Idempotency-Key', key);

  it('prevents sending after it, and frees the key and the money of the admitted call', async () => {
    const admit = journal.admit.bind(journal);
    jest.spyOn(journal, 'admit').mockImplementation(async (admission, timeoutMs) => {
      const result = await admit(admission, timeoutMs);
      const passed = performance.now() + DEADLINE_MS + 1;
      jest.spyOn(performance, 'now').mockReturnValue(passed); // the process was paused
      setImmediate(() => setImmediate(() => jest.restoreAllMocks()));
      return result;
    });
    const late = await pay('late').expect(503);
    jest.restoreAllMocks();
    expect(late.body).toMatchObject({ code: 'too_late', action: 'retry_same_key' });
    expect(paying.upstream.received).toHaveLength(0);
    expect(await paying.record(late)).toMatchObject({
      outcome: 'not_sent',
      upstream: { failure: 'too_late' },
    });
    await pay('late').expect(200);
  });

  it('ends the wait for the outcome record, which is written later as undelivered', async () => {
    let write: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (write = resolve));
    const close = journal.close.bind(journal);
    jest.spyOn(journal, 'close').mockImplementation(async (...given) => {
      await held;
      return close(...given);
    });
    const unknown = await pay('unrecorded').expect(502);
    expect(unknown.body).toMatchObject({ code: 'outcome_unknown', action: 'wait' });
    jest.restoreAllMocks();
    write();
    await eventually(async () => (await paying.record(unknown)).outcome === 'succeeded');
    await eventually(async () => {
      const undelivered = `SELECT FROM settlement WHERE intent_id = $1
        AND record::json ->> 'undelivered' = 'true'`;
      return (await paying.proxy.database.query(undelivered, [unknown.headers['x-call-id']])).length === 1;
    });
    expect((await pay('unrecorded').expect(200)).headers['idempotent-replayed']).toBe('true');
    expect(paying.upstream.received).toHaveLength(1);
  });
});

describe('a one-second deadline', () => {
  let paying: PaymentScene;
  beforeAll(async () => (paying = await startPaying({ requestDeadlineMs: 1_000 })));
  afterAll(() => paying.close());

  it('excludes the arrival of the body', async () => {
    const text = JSON.stringify(AIRTIME);
    const headers = {
      'X-API-Key': paying.app,
      'Content-Type': 'application/json',
      'Content-Length': text.length,
    };
    const slowly = async () => {
      const asking = request(`${paying.proxy.url}/api/v0.1/payouts/airtime`, { method: 'POST', headers });
      asking.write(text.slice(0, 20));
      await sleep(1_100);
      asking.end(text.slice(20));
      const [response] = (await once(asking, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode === 200;
    };
    await eventually(slowly); // the remaining steps may take a second on a slow machine
  });

  it('ends the lookup of possibly changed permissions before a refusal', async () => {
    const { database, app } = paying.proxy;
    await database.query(`UPDATE client SET countries = '{Kenya}' WHERE name = 'app'`);
    await eventually(async () => (await paying.pay()).status === 200); // the rights are cached
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const prisma = app.get(PrismaService, { strict: false });
    const prepared = prisma.prepared.bind(prisma);
    jest.spyOn(prisma, 'prepared').mockImplementation(async (name: string, ...asked) => {
      if (name === 'find_key_by_id') await held;
      return prepared<never>(name, ...asked);
    });
    const airtimes = [{ ...AIRTIME.airtimes[0], countryToSend: 'Ghana' }];
    const refused = await paying.proxy.post(paying.app, '/payouts/airtime', { airtimes }).expect(503);
    expect(refused.body).toMatchObject({ code: 'database_unavailable' });
    release();
    const again = () => paying.proxy.post(paying.app, '/payouts/airtime', { airtimes });
    await eventually(async () => (await again()).status !== 503);
    await again().expect(403, /country_not_allowed/);
    jest.restoreAllMocks();
  });

  it('excludes reads of the upstream before the refusal, which have their own timeouts', async () => {
    let clock: jest.SpyInstance | undefined;
    const checking = await startPaying({ requestDeadlineMs: DEADLINE_MS, checkCoverage: true });
    checking.upstream.behaviour = async (...asked) => {
      clock = passTime();
      await answer(200, { status: 'success', data: ['Nigeria'] })(...asked);
    };
    await checking.pay().expect(400, /not_served/);
    clock?.mockRestore();
    await checking.close();
  });
});
