import { PayoutProxy } from './client.ts';

it('is queued until its turn, if it is sent by respondAsync', async () => {
  const answers = [
    { status: 'queued' },
    { id: 'id', outcome: 'queued', items: [] },
    { id: 'id', outcome: 'succeeded', items: [] },
  ];
  const preferred: (string | null)[] = [];
  const client = new PayoutProxy({
    baseUrl: 'https://payouts.example.com',
    apiKey: 'key',
    retries: { firstMs: 1 },
    fetch: (_url, { headers } = {}) => {
      preferred.push(new Headers(headers).get('Prefer'));
      const body = JSON.stringify(answers.shift());
      return Promise.resolve(new Response(body, { headers: { 'X-Call-Id': 'id' } }));
    },
  });
  const body = { credits: [{ email: 'ada@example.com', valueInUSD: '1' }] };
  const payment = client.payouts.credit(body, { respondAsync: true });
  const results: string[] = [];
  for await (const { status, settled } of payment.follow())
    results.push(`${status}, ${settled ? 'settled' : 'open'}`);
  expect(results).toEqual(['queued, open', 'succeeded, settled']);
  expect(preferred).toEqual(['respond-async', null, null]);
});

describe('a held payment', () => {
  it('is in progress while it is being sent after its approval', async () => {
    const answers = [
      { status: 'pending_approval' },
      { id: 'id', outcome: 'in_progress', items: [] },
      { id: 'id', outcome: 'succeeded', items: [] },
    ];
    const client = new PayoutProxy({
      baseUrl: 'https://payouts.example.com',
      apiKey: 'key',
      retries: { firstMs: 1 },
      fetch: () =>
        Promise.resolve(new Response(JSON.stringify(answers.shift()), { headers: { 'X-Call-Id': 'id' } })),
    });
    const results: string[] = [];
    const payment = client.payouts.credit({ credits: [{ email: 'ada@example.com', valueInUSD: '1' }] });
    for await (const { status, settled } of payment.follow())
      results.push(`${status}, ${settled ? 'settled' : 'open'}`);
    expect(results).toEqual(['held, open', 'in_progress, open', 'succeeded, settled']);
  });
});
