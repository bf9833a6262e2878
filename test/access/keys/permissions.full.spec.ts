import { randomUUID } from 'node:crypto';
import { Route, routesOf } from '../../../src/app/routes';
import { Scope, SCOPES } from '../../../src/operations/catalogue/scopes';
import { answer, succeed } from '../../support/network/fake-upstream';
import { ApprovalScene, startApproving } from '../../support/payments/approving';
import { FindingsScene } from '../../support/reconciliation/findings-scene';
import { totalsOf } from '../../support/reconciliation/report-scene';
import { asText } from '../../support/records/export-files';

const PERSON = { email: 'ada.lovelace@example.com', twitter: '@AdaLovelace' };

/** Parts of the recipients in any spelling that an answer could have. */
const PEOPLE = /lovelace|712345678|712 345 678/i;

/** Routes that reject a body of another type before they check the key. */
const TAKES_CSV = /decisions\.csv$|statements$/;

/** Queries that exclude the refusals of this test from the first page. */
const QUERIES: Record<string, string> = {
  'v1/audit/accesses': '?page_size=200',
  'v1/audit/calls': '?outcome=succeeded',
  'v1/audit/export': '?format=ndjson&what=items&outcome=succeeded',
  'v1/calls': '?outcome=succeeded',
};

/**
 * Every route, with a key of every scope and the objects of another client, as in
 * docs/reference/permissions.md.
 */
describe('the permissions of a key', () => {
  let approving: ApprovalScene;
  let routes: Route[];
  /** The objects of the client `app`, by the beginning of the route that reads them. */
  let objects: [route: string, id: string][];
  const keys = new Map<string, string>();

  const keyOf = async (...scopes: Scope[]) => {
    const name = `only-${scopes.map((scope) => SCOPES.indexOf(scope)).join('-')}`;
    if (!keys.has(name)) keys.set(name, (await approving.proxy.client(name, ...scopes)).key);
    return keys.get(name) as string;
  };

  beforeAll(async () => {
    approving = await startApproving();
    await approving.proxy.startWorker();
    const { proxy, app, upstream } = approving;
    routes = routesOf(proxy.app);
    const everybody = answer(200, { status: 'success', data: { data: [{ chiRef: 'chi-1', ...PERSON }] } });
    upstream.behaviour = (request, ...rest) =>
      (request.url.includes('/info/') ? succeed : everybody)(request, ...rest);
    const credits = [{ ...PERSON, valueInUSD: 3.5 }];
    const paid = await proxy.post(app, '/payouts/credit', { credits }).expect(200);
    const call = paid.headers['x-call-id'] ?? '';
    const scene = new FindingsScene(proxy.database);
    const run = await scene.run({ totals: totalsOf([{ category: 'amount_over', usd: '1' }]) });
    const subject = `upstream_ref/${PERSON.email}`;
    const finding = await scene.finding(run, { subject, callId: call, upstreamRef: PERSON.email });
    const seeing = await keyOf('audit', 'audit:pii');
    // records the searched text in the history
    await proxy.get(seeing, `/v1/audit/calls?recipient=${PERSON.email}`).expect(200);
    const exported = await proxy
      .get(seeing, '/v1/audit/export?format=ndjson')
      .buffer(true)
      .parse(asText)
      .expect(200);
    objects = [
      ['v1/approvals/', await approving.hold()],
      ['v1/audit/export/', exported.headers['x-call-id'] ?? ''],
      ['v1/clients/', 'app'],
      ['v1/reconciliation/findings/', finding],
      ['v1/reconciliation/runs/', run],
      ['', call],
    ];
  });
  afterAll(() => approving.close());

  /** Calls a route. Only reads get the ID of an object that exists, so nothing is changed. */
  const call = async ({ method, path }: Route, key?: string, id?: string) => {
    const [, own] = objects.find(([route]) => path.startsWith(route)) ?? ['', ''];
    const named = id ?? (method === 'GET' ? own : randomUUID());
    const response = await fetch(
      `${approving.proxy.url}/${path.replace(/:\w+/g, () => named)}${QUERIES[path] ?? ''}`,
      {
        method,
        headers: {
          accept: 'application/json',
          'content-type': TAKES_CSV.test(path) ? 'text/csv' : 'application/json',
          ...(key && { 'x-api-key': key }),
        },
        ...(['POST', 'PATCH'].includes(method) && { body: '{}' }),
      },
    );
    const text = await response.text();
    return {
      status: response.status,
      text,
      isRefused: response.status === 403 && text.includes('scope_missing'),
    };
  };
  const nameOf = ({ method, path }: Route) => `${method} /${path}`;

  it('match the documentation page for each route and scope', async () => {
    const wrong = [];
    for (const route of routes.filter(({ scopes }) => !scopes.includes('everyone'))) {
      for (const scope of SCOPES) {
        const { status, isRefused } = await call(route, await keyOf(scope));
        const opens = route.scopes.includes(scope) && (route.scopes.length === 1 || !route.needsAll);
        if (opens === isRefused) wrong.push([nameOf(route), scope, status]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('require a key for every route that is not public', async () => {
    const statuses = await Promise.all(
      routes.map(async (route) => [
        nameOf(route),
        route.scopes.includes('everyone'),
        (await call(route)).status,
      ]),
    );
    expect(statuses.filter(([, isOpen, status]) => isOpen === (status === 401))).toEqual([]);
  });

  it('require all scopes of an operation, and suffice with them', async () => {
    for (const route of routes.filter(({ needsAll, scopes }) => needsAll && scopes.length > 1)) {
      const key = await keyOf(...(route.scopes as Scope[]));
      expect([nameOf(route), (await call(route, key)).isRefused]).toEqual([nameOf(route), false]);
    }
  });

  it('reach no object of another client on own-object routes', async () => {
    const own = routes.filter(
      ({ reaches, method, path }) => reaches === 'own' && method === 'GET' && path.includes(':'),
    );
    expect(own.map(nameOf)).toContain('GET /v1/calls/:id');
    for (const route of own) {
      for (const scope of route.scopes as Scope[]) {
        const key = await keyOf(scope);
        const [foreign, unknown] = [await call(route, key), await call(route, key, randomUUID())];
        const problemOf = ({ text }: typeof foreign) => ({
          ...(JSON.parse(text) as object),
          call_id: '',
          instance: '',
        });
        expect([nameOf(route), foreign.status, problemOf(foreign)]).toEqual([
          nameOf(route),
          404,
          problemOf(unknown),
        ]);
      }
    }
  });

  it('reveal people neither without `audit:pii` nor to another client', async () => {
    const shown = [];
    for (const route of routes.filter(({ method }) => method === 'GET')) {
      for (const scope of SCOPES) {
        const { text } = await call(route, await keyOf(scope));
        if (PEOPLE.test(text)) shown.push([nameOf(route), scope]);
      }
    }
    expect(shown).toEqual([]);
  });

  it('reveal people with `audit:pii`, which proves the previous test can fail', async () => {
    const shown = [];
    const seeing = await keyOf('audit', 'audit:pii', 'approve', 'reconcile', 'admin');
    for (const route of routes.filter(({ method, isRecorded }) => method === 'GET' && isRecorded)) {
      if (PEOPLE.test((await call(route, seeing)).text)) shown.push(nameOf(route));
    }
    expect(shown).toEqual(
      expect.arrayContaining([
        'GET /v1/approvals',
        'GET /v1/approvals/:call_id',
        'GET /v1/audit/accesses',
        'GET /v1/audit/calls',
        'GET /v1/audit/calls/:id',
        'GET /v1/audit/export',
        'GET /v1/audit/items',
        'GET /v1/reconciliation/findings',
        'GET /v1/reconciliation/findings.csv',
        'GET /v1/reconciliation/findings/:id',
      ]),
    );
  });
});
