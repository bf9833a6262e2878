import { PayoutProxy } from '../client.ts';

describe('a payment while the proxy is overloaded', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  /** Pays through a proxy that is busy for the first attempts. Returns the times of the attempts. */
  async function pay(busy: number, retryAfter: string, retries = {}) {
    const start = performance.now();
    const times: number[] = [];
    const attempt = () => {
      times.push(Math.round((performance.now() - start) / 1_000));
      const headers = { 'X-Call-Id': 'id', 'Retry-After': retryAfter };
      const body =
        times.length > busy
          ? { status: 'success', data: {} }
          : { error: 'busy', code: 'overloaded', action: 'retry_same_key', call_id: 'id' };
      return Promise.resolve(new Response(JSON.stringify(body), { headers }));
    };
    const client = new PayoutProxy({
      baseUrl: 'https://payouts.example.com',
      apiKey: 'key',
      fetch: attempt,
      retries,
    });
    const sent = client.payouts.credit({ credits: [{ email: 'ada@example.com', valueInUSD: '1' }] }).send();
    for (let seconds = 0; seconds < 600; seconds += 1) {
      await jest.advanceTimersByTimeAsync(1_000);
      await new Promise((done) => setImmediate(done)); // bodies are read outside of the simulated time
    }
    return { status: (await sent).status, times };
  }

  it('sends the payment again exactly when Retry-After says, however often', async () => {
    const { status, times } = await pay(10, '7');
    expect(status).toBe('succeeded');
    expect(times).toEqual(Array.from({ length: 11 }, (_, at) => 7 * at));
  });

  it('gives up after five minutes', async () => {
    const { status, times } = await pay(Infinity, '30');
    expect([status, times.length]).toEqual(['not_sent', 11]);
  });

  it('never retries without retries', async () => {
    expect((await pay(1, '1', { most: 0 })).times).toEqual([0]);
  });
});
