import { once } from 'node:events';
import { IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallJournal } from '../src/journal/call-journal';
import { answer } from './support/fake-upstream';
import { AIRTIME, eventually, Paying, startPaying, SUCCESS } from './support/paying';

/** How long a request waits, and what becomes of it after that. */
describe('the deadline of a request', () => {
  let paying: Paying;
  let journal: CallJournal;

  beforeAll(async () => {
    paying = await startPaying({ requestDeadlineMs: 2_000 });
    journal = paying.proxy.app.get(CallJournal, { strict: false });
  });
  afterAll(() => paying.close());
  beforeEach(() => {
    paying.upstream.received.length = 0;
    paying.upstream.behaviour = answer(200, SUCCESS);
  });
  afterEach(() => jest.restoreAllMocks());

  const pay = (key: string) => paying.proxy.post(paying.app, '/payouts/airtime', AIRTIME).set('Idempotency-Key', key);

  it('is kept: a call that was admitted is not sent after it, and its key and its money are free', async () => {
    const admit = journal.admit.bind(journal);
    jest.spyOn(journal, 'admit').mockImplementation(async (admission, patienceMs) => {
      const result = await admit(admission, patienceMs);
      const passed = performance.now() + 2_001;
      jest.spyOn(performance, 'now').mockReturnValue(passed); // the process was held up for two seconds
      setImmediate(() => setImmediate(() => jest.restoreAllMocks()));
      return result;
    });
    const late = await pay('late').expect(503);
    jest.restoreAllMocks();
    expect(late.body).toMatchObject({ code: 'too_late', action: 'retry_same_key' });
    expect(paying.upstream.received).toHaveLength(0);
    expect(await paying.record(late)).toMatchObject({ outcome: 'not_sent', upstream: { failure: 'too_late' } });
    await pay('late').expect(200);
  });

  it('does not include the time in which the body arrives', async () => {
    const text = JSON.stringify(AIRTIME);
    const headers = { 'X-API-Key': paying.app, 'Content-Type': 'application/json', 'Content-Length': text.length };
    const asking = request(`${paying.proxy.url}/api/v0.1/payouts/airtime`, { method: 'POST', headers });
    asking.write(text.slice(0, 20));
    await sleep(2_200);
    asking.end(text.slice(20));
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
  });

  it('ends the wait for the record of an answer, which is written later and says that nobody got it', async () => {
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
      const undelivered = `SELECT FROM settlement WHERE intent_id = $1 AND record::json ->> 'undelivered' = 'true'`;
      return (await paying.proxy.database.query(undelivered, [unknown.headers['x-call-id']])).length === 1;
    });
    expect((await pay('unrecorded').expect(200)).headers['idempotent-replayed']).toBe('true');
    expect(paying.upstream.received).toHaveLength(1);
  });
});
