import { answer, FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { MakeCall, makeCalls } from '../../support/records/searched-calls';

const CALLS = '/v1/audit/calls';

describe('the search of the history', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let shop: string;
  let shopId: string;
  let other: string;
  let auditor: string;
  /** Calls of the scene by name, oldest first. */
  const made = new Map<string, string>();

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    ({ key: shop, id: shopId } = await proxy.client('shop', 'pay', 'write', 'read', 'account'));
    ({ key: other } = await proxy.client('other', 'pay', 'write', 'read', 'account'));
    ({ key: auditor } = await proxy.client('auditor', 'audit', 'audit:pii'));
    // The scene has numbers of three countries.
    await proxy.database.query('UPDATE client SET allow_foreign_numbers = TRUE');
    await makeCalls(make, { shop, other, auditor });
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const make: MakeCall = async (name, key, path, body, behaviour) => {
    upstream.behaviour = behaviour ?? answer(200, { status: 'success', data: {} });
    const { headers } = await proxy.post(key, path, body);
    made.set(name, headers['x-call-id'] as string);
  };

  /** Returns the names of the matching calls, oldest first. */
  async function found(query: string): Promise<(string | undefined)[]> {
    const { body } = await proxy.get(auditor, `${CALLS}?${query}`).expect(200);
    const names = new Map([...made].map(([name, id]) => [id, name]));
    return body.calls.map(({ id }) => names.get(id)).reverse();
  }

  it('lists every call without a filter, including refusals, newest first', async () => {
    const { body } = await proxy.get(auditor, CALLS).expect(200);
    expect(body.calls.map(({ id }) => id)).toEqual([...made.values()].reverse());
    expect(body.next_page_token).toBeNull();
  });

  const BY_ONE_FILTER: [query: string, names: string[]][] = [
    ['client=other', ['send', 'credit', 'unknown']],
    ['client=auditor', ['no scope']],
    ['client=nobody', []],
    ['operation=POST%20/payouts/airtime', ['airtime', 'unknown', 'busy']],
    ['operation=POST+/send', ['send', 'refused', 'no scope']],
    ['operation=post+/send', []],
    ['outcome=succeeded', ['airtime', 'momo', 'send', 'transfer', 'deletion']],
    ['outcome=rejected', []], // until the listing confirms it
    ['outcome=refused', ['refused', 'no scope']],
    ['outcome=unknown', ['credit', 'unknown', 'busy']],
    ['outcome=not_sent', []],
    ['outcome=in_progress', []],
    ['recipient=%2B2348012345678', ['airtime', 'unknown']],
    ['recipient=+2348012345678', ['airtime', 'unknown']],
    ['recipient=+254712345678', ['airtime', 'momo']],
    ['recipient=%E2%80%AA%2B254712345678%E2%80%AC', ['airtime', 'momo']], // Copied from a contact app.
    ['recipient=%E2%80%8E0712%E2%80%91345678%EF%B8%8D', ['airtime', 'momo']],
    ['recipient=2348012345678', ['airtime', 'unknown']],
    ['recipient=002348012345678', ['airtime', 'unknown']],
    ['recipient=0712345678', ['airtime', 'momo']],
    ['recipient=0712%20345%20678', ['airtime', 'momo']],
    ['recipient=712345678', ['airtime', 'momo']],
    ['recipient=0712345679', []],
    ['recipient=%2B23480', []],
    ['recipient=ada%2Bprizes@example.com', ['send']],
    ['recipient=ADA+PRIZES@EXAMPLE.COM', ['send']],
    ['recipient=@ada', ['send']],
    ['recipient=@BOB', ['credit']],
    ['recipient=sub%20account%2B1', ['transfer']],
    ['recipient=%25', []],
    ["recipient='%20OR%20true--", []],
    ['reference=invoice-17', ['momo']],
    ['reference=INVOICE-17', []],
    ['upstream_ref=chi-2', ['airtime']],
    ['upstream_ref=transaction-1', ['airtime']],
    ['upstream_ref=issue_1', ['airtime']],
    ['upstream_ref=chi-9', ['deletion']],
    ['in_doubt=true', ['credit', 'unknown', 'busy']],
    ['in_doubt=false&client=other', ['send']],
    ['approval=pending', []],
    ['recipient_prefix=%2B23480', ['airtime', 'unknown']],
    ['recipient_prefix=+2547123', ['airtime', 'momo']],
    ['recipient_prefix=ADA', ['send']],
    ['recipient_prefix=@bo', ['credit']],
    ['recipient_prefix=sub%20acc', ['transfer']],
    ['recipient_prefix=Ada%2BPrizes@', ['send']],
    ['recipient_prefix=%25%25%25', []],
    ['recipient_prefix=prizes', []],
    ['country=Kenya&operation=POST%20/payouts/airtime', ['airtime', 'unknown', 'busy']],
    ...['kenya', 'KENYA', 'Kenya.', 'KE', 'ken'].map((country): [string, string[]] => [
      `country=${country}&operation=POST%20/payouts/airtime`,
      ['airtime', 'unknown', 'busy'],
    ]),
    ['network_code=MPS', ['momo']],
    ['min_item_usd=5', ['transfer', 'unknown', 'busy']],
    ['min_item_usd=2&max_item_usd=5', ['airtime', 'send', 'transfer']],
    ['max_item_usd=1.000000', ['airtime', 'momo']],
    ['min_item_usd=7.000001', []],
    ['min_total_usd=3&max_total_usd=3', ['airtime', 'send']],
    ['max_total_usd=2', ['momo']],
    ['client_address=127.0.0.1&operation=POST%20/send', ['send', 'refused', 'no scope']],
    ['client_address=127.0.0.2', []],
  ];
  it.each(BY_ONE_FILTER)('searches by %s and finds %j', async (query, names) => {
    expect(await found(query)).toEqual(names);
  });

  const BY_SEVERAL: [query: string, names: string[]][] = [
    ['client=shop&operation=POST%20/payouts/airtime', ['airtime', 'busy']],
    ['client=shop&operation=POST%20/payouts/airtime&outcome=unknown', ['busy']],
    ['client=other&recipient=+2348012345678', ['unknown']],
    ['outcome=refused&client=shop&operation=POST%20/send', ['refused']],
    ['outcome=refused&recipient=@ada', []],
    ['recipient=+254712345678&reference=invoice-17&upstream_ref=chi-2', []],
    ['recipient=+254712345678&reference=invoice-17', ['momo']],
    ['recipient=+256712345678&reference=invoice-17', []], // Two payouts of one call.
    ['recipient=+254712345678&min_item_usd=2', ['airtime']],
    ['country=Kenya&min_total_usd=3&max_item_usd=2&outcome=succeeded', ['airtime']],
    ['recipient=+254712345678&upstream_ref=chi-2&client=shop&outcome=succeeded', ['airtime']],
  ];
  it.each(BY_SEVERAL)('searches by %s combined and finds %j', async (query, names) => {
    expect(await found(query)).toEqual(names);
  });

  it('finds the same by client ID and by client name', async () => {
    expect(await found(`client=${shopId}`)).toEqual(await found('client=shop'));
  });

  it('finds the calls of both clients if the name of one is the ID of the other', async () => {
    await proxy.client(shopId, 'read');
    expect(await found(`client=${shopId}`)).toEqual(await found('client=shop'));
  });

  it('includes `from` and excludes `to`, in any time zone', async () => {
    const instantOf = (name: string) => parseInt(made.get(name)?.replaceAll('-', '').slice(0, 12) ?? '', 16);
    const at = instantOf('momo');
    const names = [...made.keys()];
    const after = new Date(at + 1).toISOString();
    expect(await found(`from=${new Date(at).toISOString()}`)).toEqual(
      names.filter((name) => instantOf(name) >= at),
    );
    expect(await found(`to=${new Date(at).toISOString()}`)).toEqual(
      names.filter((name) => instantOf(name) < at),
    );
    expect(await found(`from=${new Date(at).toISOString()}&to=${after}`)).toContain('momo');
    expect(await found(`from=${after}`)).not.toContain('momo');
    const inAnotherZone = new Date(at + 1 + 3_600_000).toISOString().replace('Z', '%2B01:00');
    expect(await found(`from=${inAnotherZone}`)).toEqual(await found(`from=${after}`));
    expect(await found('from=2099-01-01T00:00:00Z')).toEqual([]);
    expect(await found('from=2099-01-01T00:00:00Z&to=2000-01-01T00:00:00Z')).toEqual([]);
  });

  it('sorts by amount, largest first, then newest, with missing amounts last', async () => {
    const { body } = await proxy.get(auditor, `${CALLS}?sort=amount`).expect(200);
    const names = body.calls.map(({ id }) => [...made].find(([, one]) => one === id)?.[0]);
    const without = ['no scope', 'refused', 'deletion', 'credit'];
    expect(names).toEqual(['busy', 'unknown', 'transfer', 'send', 'airtime', 'momo', ...without]);
  });

  it.each(['', 'client=shop&', 'operation=POST%20/send&', 'sort=amount&', 'sort=amount&min_item_usd=1&'])(
    'joins pages of any size without gaps or repetitions (%s)',
    async (filter) => {
      const whole = (await proxy.get(auditor, `${CALLS}?${filter}page_size=200`).expect(200)).body
        .calls as unknown[];
      expect(whole.length).toBeGreaterThan(2);
      for (const size of [1, 2, 3, whole.length - 1, whole.length]) {
        const joined: unknown[] = [];
        let token: string | null = '';
        let pages = 0;
        while (token !== null) {
          const from: string = token === '' ? '' : `&page_token=${token}`;
          const { body } = await proxy.get(auditor, `${CALLS}?${filter}page_size=${size}${from}`).expect(200);
          joined.push(...(body.calls as unknown[]));
          token = body.next_page_token;
          pages += 1;
        }
        expect(joined).toEqual(whole);
        expect(pages).toBe(Math.ceil(whole.length / size));
      }
    },
  );

  it('continues from the end of a page after new calls arrive', async () => {
    const whole = (await proxy.get(auditor, CALLS).expect(200)).body.calls as { id: string }[];
    const first = (await proxy.get(auditor, `${CALLS}?page_size=4`).expect(200)).body;
    await make('later', shop, '/account/transfer', { receiver: 'later' });
    const rest = (await proxy.get(auditor, `${CALLS}?page_token=${first.next_page_token}`).expect(200)).body;
    expect([...first.calls, ...rest.calls].map(({ id }) => id)).toEqual(whole.map(({ id }) => id));
  });
});
