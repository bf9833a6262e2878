import {
  DecisionNeededError,
  InvalidRequestError,
  type PaymentResult,
  ProviderError,
} from '../../packages/sdk/src/index.ts';
import { first } from '../support/examples/first';
import { SdkApp, startSdkApp } from '../support/sandbox/sdk-app';

describe('the result of a payment by the SDK', () => {
  let app: SdkApp;

  beforeAll(async () => void (app = await startSdkApp()));
  afterAll(() => app.proxy.close());

  it('is rejected with every fault of an invalid body', async () => {
    const result = await app
      .airtime({
        airtimes: [{ countryToSend: 'Kenya', phoneNumber: '1', valueInUSD: '0' }],
      })
      .send();
    const { error } = result as Extract<PaymentResult, { status: 'rejected' }>;
    expect([result.status, result.settled]).toEqual(['rejected', true]);
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ code: 'invalid_request', action: 'fix_request', errorsTotal: 2 });
    const { errors } = error as InvalidRequestError;
    expect(errors.map(({ pointer }) => pointer)).toEqual([
      '/airtimes/0/phoneNumber',
      '/airtimes/0/valueInUSD',
    ]);
  });

  it('is rejected above a cap', async () => {
    const { key: poor, name } = await app.proxy.client('poor', 'pay');
    await app.proxy.database.query('UPDATE client SET daily_cap_usd = 1 WHERE name = $1', [name]);
    const result = await app
      .airtime(app.bodyOf(undefined, '1.000001'), app.clientWith({ apiKey: poor }))
      .settled();
    const { error } = result as Extract<PaymentResult, { status: 'rejected' }>;
    expect(error).toBeInstanceOf(DecisionNeededError);
    expect(result).toMatchObject({ status: 'rejected', error: { code: 'cap_exceeded', action: 'ask' } });
  });

  it("is rejected with the provider's error", async () => {
    const result = await app.airtime(app.bodyOf('+254799990108')).settled();
    const { error } = result as Extract<PaymentResult, { status: 'rejected' }>;
    expect([result.status, result.settled]).toEqual(['rejected', true]);
    expect(error).toBeInstanceOf(ProviderError);
  });

  it('is partial for an item that the provider does not pay', async () => {
    const items = [first(app.bodyOf().airtimes), first(app.bodyOf('+254799990104').airtimes)];
    const result = await app.airtime({ airtimes: items }).settled();
    expect(result).toMatchObject({ status: 'partially', settled: true });
    const { items: payouts } = result as Extract<PaymentResult, { status: 'partially' }>;
    expect(payouts.map(({ state, next }) => [state, next])).toEqual([
      ['paid', 'none'],
      ['failed', 'send_again'],
    ]);
    expect(await app.airtime(app.bodyOf('+254799990104')).settled()).toMatchObject({
      status: 'rejected',
      settled: true,
    });
  });

  // After the rejections, because these faults make the proxy doubt rejections for a day.
  it.each([
    ['noResponse', 'unknown'],
    ['resetBeforeProcessing', 'unknown'],
    ['resetAfterProcessing', 'unknown'],
    ['error500', 'unknown'],
    ['error500AfterProcessing', 'unknown'],
    ['errorNamingTransactions', 'unknown'],
    ['error502Html', 'unknown'],
    ['malformedJson', 'unknown'],
  ] as const)('is unknown after %s, and never sent again', async (name, status) => {
    const body = app.bodyOf();
    await app.fault({ fault: name }).expect(201);
    const payment = app.airtime(body);
    const results = [await payment.send(), await payment.send()];
    expect(results).toEqual(Array(2).fill(expect.objectContaining({ status, settled: false })));
    const timeout = AbortSignal.timeout(200);
    await expect(payment.settled({ signal: timeout })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await app.arrivals(body)).toHaveLength(1);
  });

  it('is rejected after another payment with its key', async () => {
    const { idempotencyKey } = await app.airtime().settled();
    const result = await app.client.payouts.airtime(app.bodyOf(), { idempotencyKey }).settled();
    const error: unknown = expect.objectContaining({ code: 'idempotency_key_reused', action: 'new_key' });
    expect(result).toMatchObject({ status: 'rejected', settled: true, callId: undefined, error });
  });

  it('is rejected while an equal payment is open', async () => {
    const body = app.bodyOf();
    await app.fault({ fault: 'noResponse' }).expect(201);
    const { callId } = await app.airtime(body).send();
    const second = app.airtime(body);
    const error: unknown = expect.objectContaining({
      code: 'suspected_duplicate',
      action: 'wait',
      firstCallId: callId,
    });
    expect(await second.settled()).toMatchObject({
      status: 'rejected',
      settled: true,
      callId: undefined,
      error,
    });
    const duplicate = app.client.payouts.airtime(body, { allowDuplicateOf: callId ?? '' });
    expect(await duplicate.settled()).toMatchObject({ status: 'succeeded' });
    expect(await app.arrivals(body)).toHaveLength(2);
  });

  it.each([
    ['approve', { status: 'succeeded' }],
    ['reject', { status: 'rejected', error: { code: 'approval_rejected', action: 'ask' } }],
  ])('is held until an approver decides to %s', async (decision, expected) => {
    const { key: careful, name } = await app.proxy.client(`careful-${decision}`, 'pay');
    await app.proxy.database.query('UPDATE client SET approval_over_usd = 0 WHERE name = $1', [name]);
    const payment = app.airtime(undefined, app.clientWith({ apiKey: careful }));
    const approver = await app.proxy.client(`approver-${decision}`, 'approve');
    const held = await payment.send();
    expect(held).toMatchObject({ status: 'held', settled: false });
    const settled = payment.settled();
    const response = await fetch(`${app.proxy.url}/v1/approvals/${held.callId}/${decision}`, {
      method: 'POST',
      headers: { 'X-API-Key': approver.key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ reason: 'checked' }),
    });
    expect(response.status).toBe(200);
    expect(await settled).toMatchObject({ ...expected, settled: true, callId: held.callId });
  });
});
