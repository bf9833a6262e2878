import { createApp } from '../../../src/app/app';
import { loadConfig, RunningConfig } from '../../../src/platform/config/config';
import supertest from '../../support/http/supertest';
import { answer } from '../../support/network/fake-upstream';
import { eventually, startPaying } from '../../support/payments/paying';
import { HEADER, LINE, MAPPING } from '../../support/reconciliation/statement';

const transaction = (status: string) => ({
  chiRef: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11',
  status,
  valueInUSD: '0.1',
});

describe('the list of unknown status words', () => {
  it('has each word of an answer once, with its count and an example, and no known word', async () => {
    const paying = await startPaying({ upstreamStatusWords: ['settled_t2=paid'] });
    const listed = async () =>
      (await paying.proxy.get(paying.auditor, '/v1/audit/status-words').expect(200)).body.words;
    for (const status of ['Odd', 'ODD ', 'Settled_T2', 'paid', 'sent to ada@example.com']) {
      const data = { data: [transaction(status)], error: 'None' };
      paying.upstream.behaviour = answer(200, { status: 'success', data });
      await paying.pay().expect(200);
    }
    await eventually(async () => (await listed()).length === 2);
    await eventually(async () => (await listed())[0]?.times === 2);
    expect(await listed()).toEqual([
      {
        word: 'odd',
        times: 2,
        call_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        upstream_ref: transaction('').chiRef,
        first_seen_at: expect.any(String),
        last_seen_at: expect.any(String),
      },
      expect.objectContaining({ word: 'sent to a••@example.com', times: 1 }),
    ]);
    await paying.proxy.get(paying.app, '/v1/audit/status-words').expect(403);
    await paying.close();
  });

  it('has the words of a statement, once for each counted import', async () => {
    const paying = await startPaying();
    const { key } = await paying.proxy.client('recon', 'reconcile', 'audit:pii');
    const listed = async () =>
      (await paying.proxy.get(paying.auditor, '/v1/audit/status-words').expect(200)).body.words;
    const file = [
      HEADER,
      LINE,
      LINE.replace('paid', 'Odd'),
      LINE.replace('c-1', 'c-2').replace('paid', 'Odd'),
    ];
    for (let count = 0; count < 2; count += 1) {
      await supertest(paying.proxy.url)
        .post('/v1/reconciliation/statements')
        .query({ mapping: JSON.stringify(MAPPING) })
        .set({ 'X-API-Key': key, 'Content-Type': 'text/csv' })
        .send(file.join('\n'))
        .expect(count === 0 ? 201 : 200);
    }
    await eventually(async () => (await listed()).length > 0);
    expect(await listed()).toMatchObject([{ word: 'odd', times: 2, call_id: null, upstream_ref: 'c-1' }]);
    await paying.close();
  });

  it('aborts the start on an invalid configured word', async () => {
    const config = loadConfig({ UPSTREAM_STATUS_WORDS: 'settled=payed, failed=paid' });
    await expect(createApp(config as RunningConfig)).rejects.toThrow(
      'UPSTREAM_STATUS_WORDS: "settled=payed" is not word=status; "failed" already means failed.',
    );
  });
});
