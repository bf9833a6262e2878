import { startProxyWithSandbox, UPSTREAM_KEY } from '../processes/proxy';
import { dataOf, InterfaceClient, RawAnswer } from './interface-client';

/** A request of docs/reference/upstream.md: method and path of a heading, body of a table. */
export interface DocumentedRequest {
  /** Statement of the document. */
  title: string;
  request: string;
  body?: object;
  /** Required content of `data`. Undefined for a rejection. */
  data?: unknown;
}

/** Removes or replaces one field. */
export const without = (item: object, field: string) => ({ ...item, [field]: undefined });
export const wrong = (item: object, field: string, value: unknown) => ({ ...item, [field]: value });

/** Sends the rows to a sandbox, directly and through a proxy. */
export function walk(
  rows: DocumentedRequest[],
  more: (client: () => InterfaceClient, baseUrl: () => string) => void,
): void {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let key: string;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox();
    key = (await proxy.client('app', 'pay', 'write', 'read', 'account')).key;
  });
  afterAll(() => proxy.close());

  describe.each(['the sandbox', 'the proxy'])('with %s', (side) => {
    const baseUrl = () => (side === 'the proxy' ? proxy.url : proxy.sandbox.url);
    const client = () => new InterfaceClient(baseUrl(), side === 'the proxy' ? key : UPSTREAM_KEY);
    const upstream = () => new InterfaceClient(proxy.sandbox.url, UPSTREAM_KEY);
    const balances = async () =>
      dataOf('GET /wallets/list', await upstream().wallets()).map(({ balance }) => balance);
    /** Balances after all executed requests. */
    let before: number[] | undefined;

    it.each(rows.filter(({ data }) => data))('$request: $title', async ({ request, body, data }) => {
      const answer = await ask(client(), request, body);
      expect(answer).toMatchObject({ status: 200, contentType: 'application/json; charset=utf-8' });
      const expected = Array.isArray(data) && data.length === 0 ? expect.any(Array) : data;
      expect(JSON.parse(answer.text)).toMatchObject({ status: 'success', data: expected });
    });

    it.each(rows.filter(({ data }) => !data))(
      'rejects $request, and moves nothing: $title',
      async ({ request, body }) => {
        before ??= await balances();
        const { status, text } = await ask(client(), request, body);
        // The provider documents one error, the 500 of POST /send. The proxy's own checks reject with 400.
        expect(status).toBe(request === 'POST /send' && side === 'the sandbox' ? 500 : 400);
        expect(JSON.parse(text)).toMatchObject({ status: 'error', error: expect.stringMatching(/./) });
        expect(await balances()).toEqual(before);
      },
    );

    more(client, baseUrl);
  });
}

function ask(client: InterfaceClient, request: string, body: object | undefined): Promise<RawAnswer> {
  const [method, path = ''] = request.split(' ');
  return method === 'GET' ? client.get(path) : client.post(path, body);
}
