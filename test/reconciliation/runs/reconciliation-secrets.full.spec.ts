import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { findingsCommands } from '../../../src/cli/reconcile/findings';
import { reconcileCommand } from '../../../src/cli/reconcile/reconcile';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { everythingIn } from '../../support/databases/everything';
import { first } from '../../support/examples/first';
import { HANDED_IN, PERSON, SPELLED, TEXTS } from '../../support/http/hostile-texts';
import type { Answer } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { answer, FakeUpstream, ReceivedRequest, reset } from '../../support/network/fake-upstream';
import { cliOf } from '../../support/processes/cli';
import { removeDataDir } from '../../support/processes/data-dir';
import { newDataDir } from '../../support/processes/process';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../../support/processes/proxy';
import { ended } from '../../support/reconciliation/reconciliation-scene';

const SECRET = 'secret-of-the-events-that-must-not-be-seen';
const HOUR_MS = 3_600_000;
/** The start of a formula in a cell. Numbers may have signs. */
const FORMULA = /(?:^|,)"?[=@\t\r]|(?:^|,)"?[+-](?!\d+(?:\.\d+)?(?:,|$))/m;

/** Output and storage of reconciliation with hostile upstream data, statements and events. */
describe('secrets and people in reconciliation', () => {
  const dataDir = newDataDir();
  const environment = { ...process.env };
  const shown: Record<string, string> = {};
  const logged: string[] = [];
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let key: string;
  const runs: string[] = [];

  const keep = (name: string, { headers, text }: Answer) => {
    shown[name] = `${shown[name] ?? ''}${JSON.stringify(headers)}\n${text}`;
  };
  const get = async <const Path extends string>(path: Path) => {
    const got = await proxy.get(key, `/v1/reconciliation${path}`).expect(200);
    keep(path.replaceAll(/[0-9a-f-]{36}/g, ':id'), got);
    return got;
  };
  const post = async <const Path extends string>(path: Path, body: object) => {
    const got = await supertest(proxy.url).post(`/v1/reconciliation${path}`).set('X-API-Key', key).send(body);
    keep(`POST ${path}`, got);
    return got;
  };

  function listed(): object[] {
    const issueDate = new Date(Date.now() - HOUR_MS).toISOString();
    const base = { valueInUSD: 3, issueDate, type: 'airtime', status: 'paid', email: PERSON.email };
    const everywhere = (text: string) => ({
      ...Object.fromEntries(
        ['id', 'issueID', 'type', 'reference', 'description'].map((name) => [name, text]),
      ),
    });
    const bad = TEXTS.flatMap((text, place) => [
      { ...base, chiRef: text, id: `a-${place}`, status: text },
      { ...base, ...everywhere(text), chiRef: `b-${place}` },
      { ...base, id: text, countryToSend: text, momoCode: text, receiver: text, phoneNumber: PERSON.phone },
      { ...base, issueID: text, error: text, message: text, twitter: PERSON.handle },
    ]);
    const own = { valueInUSD: 9, issueDate: new Date().toISOString(), status: PERSON.email, type: 'airtime' };
    const paid = { ...own, chiRef: PERSON.phone.slice(1), issueID: PERSON.email, phoneNumber: PERSON.phone };
    return [...bad, paid, { ...own, chiRef: 'later', issueDate: new Date(Date.now() + 5_000).toISOString() }];
  }

  const wallets = () =>
    TEXTS.map((text) => {
      const balances = { balanceBefore: 7, newBalance: 99 };
      const entry = { amount: 1, ...balances, description: text, meta: { date: new Date() } };
      return { id: text, type: text, balance: 5, transactions: [entry, entry] };
    });

  function behave({ url }: ReceivedRequest, ...rest: [ServerResponse, Socket]): unknown {
    const data = /wallets/.test(url) ? wallets() : { data: listed(), error: 'None' };
    return answer(200, { status: 'success', data, note: UPSTREAM_KEY })({} as ReceivedRequest, ...rest);
  }

  const event = (id: string, body: string) => {
    const at = String(Math.floor(Date.now() / 1_000));
    const signature = `v1,${createHmac('sha256', SECRET).update(`${id}.${at}.${body}`).digest('base64')}`;
    return supertest(proxy.url)
      .post('/hooks/upstream')
      .set({ 'content-type': 'application/json', 'webhook-id': id })
      .set({ 'webhook-timestamp': at, 'webhook-signature': signature })
      .send(body);
  };

  const statement = (file: string, name: string) =>
    supertest(proxy.url)
      .post('/v1/reconciliation/statements')
      .query({ mapping: 'fields', file: name })
      .set({ 'X-API-Key': key, 'Content-Type': 'text/csv', 'X-Actor': 'grace' })
      .send(file);

  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;

  async function attack(): Promise<void> {
    const app = (await proxy.client('app', 'pay')).key;
    const airtimes = [{ countryToSend: 'Nigeria', phoneNumber: PERSON.phone, valueInUSD: 9 }];
    upstream.behaviour = reset;
    await proxy.post(app, '/payouts/airtime', { airtimes }).expect(502);
    const data = [{ chiRef: PERSON.email, id: 'x', status: 'paid' }];
    upstream.behaviour = answer(200, { status: 'success', data });
    await proxy.post(app, '/payouts/airtime', { airtimes: [{ ...airtimes[0], valueInUSD: 4 }] }).expect(200);
    upstream.behaviour = behave;
    await post('/resolver/rounds', {});
    for (const [place, text] of TEXTS.entries()) {
      const names = { eventType: text, issueID: text, chiRef: text, status: text };
      const body = { ...names, meta: { id: text }, amount: 1 };
      keep('event', await event(`event-${place}`, JSON.stringify(body)).expect(200));
    }
    keep('event', await event(`for-${PERSON.email}`, '{}').expect(200));
    const lines = HANDED_IN.map((text) => ['id,1', cell(text), cell(text), cell(text)].join(','));
    const file = `upstream_ref,amount_usd,status,reference,recipient\n${lines.join('\n')}\n`;
    const rows = HANDED_IN.map((text) => `${cell(text)},${cell(text)},1`);
    const bad = ['upstream_ref,"amount_usd",fee_usd', ...rows].join('\n');
    keep('statements', await statement(file, `for ${PERSON.email} ${PERSON.phone}.csv`).expect(201));
    keep('statements', await statement(bad, 'bad.csv').expect(201));
    keep('statements', await statement(HANDED_IN.map(cell).join(','), 'no.csv').expect(400));
    const { body: list } = await get('/statements');
    for (const { read_id: id } of list.statements) await get(`/statements/${id}`);
    const period = { from: new Date(Date.now() - 2 * HOUR_MS).toISOString(), to: new Date().toISOString() };
    for (const source of [{}, { statement_id: list.statements[1]!.read_id }]) {
      const { body } = await post('/runs', { ...period, ...source });
      const run = await ended({ url: proxy.url, key }, body.id as string);
      expect(run).toMatchObject({ result: 'findings', totals: { residual_usd: '0' } });
      runs.push(run.id);
    }
    const { body: page } = await get('/findings?page_size=200');
    for (const { id } of page.findings.slice(0, 40)) await get(`/findings/${id}`);
    const { id } = first(page.findings);
    const decision = { finding_id: id, state: 'explained', reason: TEXTS.slice(0, 7).join(' ') };
    const invalid = { finding_id: PERSON.email, state: PERSON.email, reason: '' };
    for (const each of [decision, invalid]) await post('/findings/decisions', { decisions: [each] });
    for (const run of runs) {
      for (const format of ['json', 'csv', 'html']) await get(`/runs/${run}/report?format=${format}`);
      await get(`/runs/${run}`);
      keep(
        'sse',
        await proxy.get(key, `/v1/reconciliation/runs/${run}`).set('Accept', 'text/event-stream').expect(200),
      );
    }
    await get('/runs');
    await get('/findings.csv');
    keep('metrics', await proxy.get(key, '/metrics').expect(200));
  }

  async function commands(): Promise<void> {
    Object.assign(process.env, { DATA_DIR: dataDir, PORT: new URL(proxy.url).port, PAYOUT_PROXY_KEY: key });
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const [findings, reconcile] = [cliOf(findingsCommands), cliOf(reconcileCommand)];
    shown['cli list'] =
      (await findings('list')).stdout + (await findings('list', '--filter', 'state=any')).stdout;
    const file = join(dataDir, 'attack.csv');
    writeFileSync(file, `${HANDED_IN.map(cell).join(',')}\n`);
    shown['cli import'] = await reconcile('import', file, '--mapping', 'fields').then(
      ({ stdout }) => stdout,
      (error: Error) => error.message,
    );
    shown['cli decide'] = (await findings('decide', '--file', file).catch(
      (error: Error) => error.message,
    )) as string;
  }

  beforeAll(async () => {
    for (const level of ['log', 'warn', 'error', 'debug'] as const) {
      jest.spyOn(Logger.prototype, level).mockImplementation((...words) => {
        const error = words.map((word) => (word as { err?: Error })?.err).find(Boolean);
        logged.push(JSON.stringify(words) + (error?.stack ?? ''));
      });
    }
    upstream = await FakeUpstream.start();
    proxy = await startProxy({
      upstreamBaseUrl: upstream.url,
      upstreamWebhookSecret: new Secret(SECRET),
      resolverQuietSeconds: 1,
    });
    await proxy.startWorker();
    key = (await proxy.client('reconciler', 'reconcile', 'audit:pii')).key;
    await attack();
    await commands();
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    process.env = environment;
    removeDataDir(dataDir);
    await proxy.close();
    await upstream.stop();
  });

  const leaks = (text: string, words: string[]) =>
    words.flatMap((word) => {
      const at = text.toLowerCase().indexOf(word.toLowerCase());
      return at < 0 ? [] : [`${word}: ${text.slice(Math.max(0, at - 120), at + 120)}`];
    });
  const people = [
    ...SPELLED.filter((each) => !each.includes(' ')),
    PERSON.handle.slice(1),
    encodeURIComponent(PERSON.email),
  ];

  it('are in no response', () => {
    for (const [name, text] of Object.entries(shown)) {
      expect([name, leaks(text, [...people, UPSTREAM_KEY, SECRET])]).toEqual([name, []]);
    }
  });

  it('are in no log line', () => {
    expect(leaks(logged.join('\n'), [...people, UPSTREAM_KEY, SECRET])).toEqual([]);
  });

  it('are only in tables that can be erased, and the key is in no table', async () => {
    const all = await everythingIn(proxy.database);
    for (const [name, text] of Object.entries(all)) {
      expect([name, leaks(text, [UPSTREAM_KEY, SECRET])]).toEqual([name, []]);
      if (/^(intent_body|outcome_body|access_filters|search_entry|upstream_(transaction|wallet))/.test(name))
        continue;
      // A number alone may be an upstream ID. Text about our payments is masked anyway.
      const isOfIds = /^(source_read|upstream_event|book_transaction)$/.test(name);
      const words = isOfIds ? people.filter((word) => !/^\d+$/.test(word)) : people;
      expect([name, leaks(text, words)]).toEqual([name, []]);
    }
  });

  it('send no control characters to the terminal', () => {
    for (const [name, text] of Object.entries(shown)) {
      if (!name.startsWith('cli')) continue;
      expect([name, /[^\n\P{Cc}]|\p{Bidi_Control}/u.exec(text)?.[0]]).toEqual([name, undefined]);
    }
  });

  it('add no element to a report, and no formula to a file', () => {
    const page = shown['/runs/:id/report?format=html'] ?? '';
    expect(page).not.toMatch(/<script|<img/);
    for (const [name, text] of Object.entries(shown)) {
      if (!/csv/.test(name)) continue;
      const rows = text.slice(text.indexOf('finding_id'));
      expect([name, FORMULA.exec(rows)?.[0]]).toEqual([name, undefined]);
    }
  });
});
