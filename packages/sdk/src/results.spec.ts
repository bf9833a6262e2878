import { PayoutProxy } from './client.ts';

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
