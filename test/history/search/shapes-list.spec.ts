import type { ShapeRecord } from '../../support/http/api';
import { answer } from '../../support/network/fake-upstream';
import { eventually, startPaying } from '../../support/payments/paying';

const AIRTIME_OPERATION = 'POST /payouts/airtime';
const SHAPES = '/v1/audit/shapes';

describe('the list of response shapes', () => {
  it('is available to auditors only, by operation, HTTP status and page', async () => {
    const paying = await startPaying();
    const listed = async (filter = '') =>
      (await paying.proxy.get(paying.auditor, `${SHAPES}?page_size=200${filter}`).expect(200)).body.shapes;
    for (const data of [{}, { error: 'None' }]) {
      paying.upstream.behaviour = answer(200, { status: 'success', data });
      await paying.pay().expect(200);
    }
    paying.upstream.behaviour = answer(400, { status: 'error', error: 'x' });
    await paying.pay().expect(400);
    // Refused by the proxy, without an answer.
    await paying.proxy.post(paying.app, '/payouts/mobile-money', {}).expect(400);
    await paying.proxy.get(paying.app, '/api/v0.1/wallets/list').expect(400);
    await eventually(async () => (await listed()).length === 4);
    await paying.proxy.get(paying.app, SHAPES).expect(403);
    for (const bad of [
      'http_status=abc',
      'http_status=99',
      'page_size=0',
      'page_token=x',
      'operation=',
      'shape=x',
    ])
      expect([bad, (await paying.proxy.get(paying.auditor, `${SHAPES}?${bad}`)).status]).toEqual([bad, 400]);
    const all = await listed();
    const named = (shapes: ShapeRecord[]) =>
      shapes.map(({ operation, http_status }) => [operation, http_status]);
    expect(named(all)).toEqual([
      ['GET /wallets/list', 400],
      [AIRTIME_OPERATION, 400],
      [AIRTIME_OPERATION, 200],
      [AIRTIME_OPERATION, 200],
    ]);
    expect(await listed(`&operation=${AIRTIME_OPERATION}`)).toEqual(all.slice(1));
    expect(await listed('&http_status=400')).toEqual(all.slice(0, 2));
    expect(await listed(`&http_status=400&operation=${AIRTIME_OPERATION}`)).toEqual(all.slice(1, 2));
    for (const size of [1, 3, 4]) {
      const pages: ShapeRecord[] = [];
      for (let token: string | null = ''; token !== null;) {
        const from: string = token && `&page_token=${token}`;
        const { body } = await paying.proxy
          .get(paying.auditor, `${SHAPES}?page_size=${size}${from}`)
          .expect(200);
        pages.push(...body.shapes);
        token = body.next_page_token;
      }
      expect(pages).toEqual(all);
    }
    await paying.close();
  });
});
