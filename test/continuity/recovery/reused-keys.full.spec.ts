import fc from 'fast-check';
import { PayoutProxy } from '../../../packages/sdk/src/index.ts';
import { OPERATION_NAMES, OperationName, pathOf, rowOf } from '../../../src/operations/catalogue/catalogue';
import { itemsOf } from '../../../src/operations/items/items';
import { runs } from '../../support/examples/runs';
import { PreviewScene, startPreviewing } from '../../support/payments/previewing';
import {
  describedAnew,
  Fields,
  inItems,
  otherPayment,
  respelt,
  RESPELLING_NAMES,
} from '../../support/payments/respelt';
import { startProxyWithSandbox } from '../../support/processes/proxy';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

const WRITING = OPERATION_NAMES.filter((name) => rowOf(name).effect !== 'read');
const example = (operation: OperationName) => rowOf(operation).example as Fields;

/** Whether the body has words beside what it pays. */
const isDescribed = (operation: OperationName) =>
  JSON.stringify(describedAnew(operation, example(operation))) !== JSON.stringify(example(operation));

/** Promise 2, part: no advice after a used key pays again what the call with the key has paid. */
describe('a used idempotency key', () => {
  let api: PreviewScene;
  let key: string;
  let count = 0;

  beforeAll(async () => {
    api = await startPreviewing({ checkCoverage: false });
    ({ key } = await api.client());
  });
  afterAll(() => api.close());

  const keyed = (value: string) => ({ 'Idempotency-Key': value });
  const newKey = () => `used-${(count += 1)}`;
  const send = async (operation: OperationName, body: Fields, used: string) => {
    const { status, text, headers } = await api.ask(key, pathOf(operation), body, keyed(used));
    return { status, text, headers, body: JSON.parse(text) as Fields };
  };

  it.each(WRITING)('replays the response to the same request in another spelling: %s', async (operation) => {
    const used = newKey();
    const first = await send(operation, example(operation), used);
    expect(first.status).toBe(200);
    const body = respelt(operation, example(operation));
    const again = await send(operation, body, used);
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      200,
      first.text,
      'true',
    ]);
    expect((await api.preview(key, pathOf(operation), body, keyed(used))).would).toBe('be_replayed');
  });

  it.each(WRITING.filter(isDescribed))(
    'requires a person to decide about the same payment in other words: %s',
    async (operation) => {
      const used = newKey();
      const first = (await send(operation, example(operation), used)).headers['x-call-id'];
      const body = describedAnew(operation, respelt(operation, example(operation)));
      const refused = await send(operation, body, used);
      const expected = { code: 'idempotency_key_reused', action: 'ask', first_call_id: first };
      expect([refused.status, refused.body]).toMatchObject([422, expected]);
      expect(refused.body.error).not.toMatch(/nothing was|not paid|not sent/i);
      expect((await api.preview(key, pathOf(operation), body, keyed(used))).refusal).toMatchObject(expected);
    },
  );

  it.each(WRITING)('permits a new key for another payment: %s', async (operation) => {
    const used = newKey();
    await send(operation, example(operation), used);
    const body = otherPayment(operation, example(operation));
    const refused = await send(operation, body, used);
    const expected = { code: 'idempotency_key_reused', action: 'new_key' };
    expect([refused.status, refused.body]).toMatchObject([422, expected]);
    expect((await api.preview(key, pathOf(operation), body, keyed(used))).refusal).toMatchObject(expected);
  });

  it('requires a person to decide if some of the payments are the same', async () => {
    const used = newKey();
    const item = { countryToSend: 'Kenya', phoneNumber: '+254700000001', valueInUSD: 1 };
    const more = { ...item, phoneNumber: '+254700000002' };
    const adviceFor = async (...airtimes: object[]) =>
      (await send('POST /payouts/airtime', { airtimes }, used)).body.action;
    expect(await adviceFor(item)).toBeUndefined();
    expect(await adviceFor(item, more)).toBe('ask');
    expect(await adviceFor(more, { ...item, countryToSend: 'KENYA' })).toBe('ask');
    expect(await adviceFor(more)).toBe('new_key');
  });

  it('requires a person to decide once the first request is erased', async () => {
    const used = newKey();
    const first = await send(
      'POST /payouts/credit',
      { credits: [{ email: 'ada@example.com', valueInUSD: 1 }] },
      used,
    );
    await api.proxy.database.query('DELETE FROM intent_body WHERE intent_id = $1', [
      first.headers['x-call-id'],
    ]);
    const other = { credits: [{ email: 'bob@example.com', valueInUSD: 2 }] };
    expect((await send('POST /payouts/credit', other, used)).body).toMatchObject({ action: 'ask' });
  });
});

describe('a program that builds its request anew for each attempt', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let key: string;
  let count = 0;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox({ duplicateGuard: true });
    ({ key } = await proxy.client('agent', 'pay', 'write', 'read'));
  });
  afterAll(() => proxy.close());

  const arrivals = async (recipient: string) => {
    const asking = askSandbox(proxy.sandbox.url).get('/_sandbox/requests');
    const { body } = await asking.set('X-Sandbox-Control-Key', 'sandbox-control').expect(200);
    return body.filter((one) => JSON.stringify(one.body).toLowerCase().includes(recipient));
  };

  const attempt = fc.record({ spellings: fc.subarray(RESPELLING_NAMES), isDescribedAnew: fc.boolean() });
  const operation = fc.constantFrom<OperationName>(
    'POST /payouts/airtime',
    'POST /payouts/mobile-money',
    'POST /payouts/credit',
    'POST /payouts/initiate-credit',
    'POST /send',
  );

  it('pays once if it follows the errors', async () => {
    const property = fc.asyncProperty(
      operation,
      fc.array(attempt, { maxLength: 4 }),
      async (name, attempts) => {
        const id = (count += 1);
        const people = {
          phoneNumber: `+25472${String(id).padStart(7, '0')}`,
          email: `ada-${id}@example.com`,
        };
        const body = inItems(name, example(name), (item) =>
          Object.fromEntries(
            Object.entries(item).map(([field, value]) => [field, people[field as 'email'] ?? value]),
          ),
        );
        let used = `agent-${id}`;
        for (const { spellings, isDescribedAnew } of [
          { spellings: [], isDescribedAnew: false },
          ...attempts,
        ]) {
          const spelt = respelt(name, body, spellings);
          const sent = isDescribedAnew ? describedAnew(name, spelt) : spelt;
          const answered = await proxy.post(key, pathOf(name), sent).set('Idempotency-Key', used);
          const { action } = answered.body as { action?: string };
          if (action === 'ask') break; // a program cannot decide
          if (action === 'new_key') used += '-again';
          expect([answered.status, action]).toEqual([200, undefined]);
        }
        const [{ phone, email } = { phone: null, email: null }] = itemsOf(name, body);
        expect(await arrivals(phone ?? email ?? '')).toHaveLength(1);
      },
    );
    await fc.assert(property, { numRuns: runs(30) });
  });

  it('learns from the SDK that a person must decide', async () => {
    const client = new PayoutProxy({ baseUrl: proxy.url, apiKey: key });
    const momo = { countryToSend: 'Kenya', phoneNumber: '+254730000001', valueInUSD: '1', momoCode: 'MPS' };
    const first = client.payouts.mobileMoney({ momos: [{ ...momo, reference: 'A' }] });
    const { callId: firstCallId } = await first.settled();
    const again = (change: object) => {
      const momos = [{ ...momo, reference: 'A', ...change }];
      return client.payouts.mobileMoney({ momos }, { idempotencyKey: first.idempotencyKey });
    };
    const anew = again({ reference: 'B' });
    const error = { name: 'DecisionNeededError', code: 'idempotency_key_reused', firstCallId };
    expect(await anew.send()).toMatchObject({ status: 'unknown', settled: false, callId: undefined, error });
    await expect(anew.settled()).rejects.toMatchObject(error);
    expect(await again({ countryToSend: 'KENYA' }).settled()).toMatchObject({
      status: 'succeeded',
      callId: firstCallId,
    });
    expect(await arrivals(momo.phoneNumber)).toHaveLength(1);
  });
});
