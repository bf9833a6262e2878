import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Call,
  comparedWithApps,
  comparedWithCaps,
  comparedWithUpstream,
  Payer,
} from '../fault-injection/comparison';
import { SCENARIOS } from '../fault-injection/main';
import { App, Attempt, Order } from '../fault-injection/orders';
import { documentOf, ScenarioResult } from '../fault-injection/report';
import type { Arrival } from '../fault-injection/upstream';

const ROOT = join(__dirname, '..', '..');

const APP: App = { id: 'client-1', name: 'shop', key: 'pp_shop_x', capUsd: 1, personCapUsd: null };
const PERSON: Payer = { id: 'person-1', name: 'ada', capUsd: 1 };
const OPERATION = 'POST /payouts/airtime';

const bodyOf = (number: number) => ({
  airtimes: [{ countryToSend: 'Kenya', phoneNumber: `+25470000000${number}`, valueInUSD: 0.75 }],
});

function orderOf(number: number, status: number | null = 200): Order {
  const one: Attempt = {
    sentAt: 0,
    endedAt: 1,
    status,
    code: undefined,
    callId: `call-${number}`,
    retryAfterMs: undefined,
    json: undefined,
  };
  return { app: APP, operation: OPERATION, body: bodyOf(number), key: `order-${number}`, attempts: [one] };
}

const callOf = (number: number, state = 'succeeded'): Call => ({
  id: `call-${number}`,
  clientId: APP.id,
  personId: PERSON.id,
  operation: OPERATION,
  body: JSON.stringify(bodyOf(number)),
  state,
  answered: state === 'succeeded',
});

const arrivalOf = (number: number, processed = true): Arrival => ({
  operation: OPERATION,
  query: '',
  body: bodyOf(number),
  fault: null,
  processed,
  chiRefs: [],
  answeredAt: null,
  httpStatus: 200,
});

describe('the audit of npm run trust', () => {
  it('finds nothing while apps, history and upstream agree', () => {
    const [orders, calls, arrivals] = [[orderOf(1)], [callOf(1)], [arrivalOf(1)]];
    expect(comparedWithUpstream(calls, arrivals)).toEqual([]);
    expect(comparedWithApps(orders, calls, arrivals)).toEqual([]);
    expect(comparedWithCaps([APP], calls, arrivals, new Map([[APP.id, 0.75]]))).toEqual([]);
  });

  it("finds a request without a call, and a call's extra request", () => {
    expect(comparedWithUpstream([], [arrivalOf(1)])).toEqual([
      expect.stringMatching(/^unrecorded: .*0000001/),
    ]);
    expect(comparedWithUpstream([callOf(1)], [arrivalOf(1), arrivalOf(1)])).toHaveLength(1);
    expect(comparedWithUpstream([callOf(1, 'refused')], [arrivalOf(1)])).toHaveLength(1);
  });

  it('finds an answer to a request that never arrived', () => {
    expect(comparedWithUpstream([callOf(1)], [])).toEqual([expect.stringMatching(/^phantom: .*0000001/)]);
  });

  it('finds duplicate executions', () => {
    const twice = [arrivalOf(1), arrivalOf(1)];
    expect(comparedWithApps([orderOf(1)], [callOf(1)], twice)).toEqual([expect.stringMatching(/^twice: /)]);
  });

  it('finds an acknowledged payment missing from the history or the upstream', () => {
    const lost = [expect.stringMatching(/^lost: /)];
    expect(comparedWithApps([orderOf(1)], [], [arrivalOf(1)])).toEqual(lost);
    expect(comparedWithApps([orderOf(1)], [callOf(1, 'unknown')], [arrivalOf(1)])).toEqual(lost);
    expect(comparedWithApps([orderOf(1)], [callOf(1)], [arrivalOf(1, false)])).toEqual(lost);
    expect(comparedWithApps([orderOf(1, 503)], [], [])).toEqual([]);
  });

  it('finds a cap exceeded by the executed or the counted amount', () => {
    const calls = [callOf(1), callOf(2)];
    const over = [expect.stringMatching(/^overspent: shop/)];
    expect(comparedWithCaps([APP], calls, [arrivalOf(1), arrivalOf(2)], new Map())).toEqual(over);
    expect(comparedWithCaps([APP], calls, [arrivalOf(1)], new Map([[APP.id, 1.5]]))).toEqual(over);
    const personOver = [expect.stringMatching(/^overspent: ada/)];
    expect(comparedWithCaps([PERSON], calls, [arrivalOf(1), arrivalOf(2)], new Map())).toEqual(personOver);
    expect(comparedWithCaps([PERSON], calls, [arrivalOf(1)], new Map([[PERSON.id, 1.5]]))).toEqual(
      personOver,
    );
  });
});

describe('docs/reliability.md', () => {
  const { scenarios } = JSON.parse(readFileSync(join(ROOT, 'bench/results/trust.json'), 'utf8')) as {
    scenarios: Record<string, ScenarioResult>;
  };
  const names = SCENARIOS.map(({ name }) => name);

  it('shows the figures of the results', () => {
    expect(Object.keys(scenarios).filter((name) => !names.includes(name))).toEqual([]);
    expect(readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8')).toBe(documentOf(scenarios, names));
  });

  it('counts only executed scenarios, and names broken ones and those without a result', () => {
    const [[one, kept] = ['', undefined]] = Object.entries(scenarios);
    if (!kept) throw new Error('there are no results');
    const page = (changes: Record<string, Partial<ScenarioResult>>) =>
      documentOf(
        Object.fromEntries(
          Object.entries(changes).map(([name, change]) => [name, { ...kept, broken: [], ...change }]),
        ),
        [one, 'two', 'three'],
      );
    expect(page({ [one]: {}, two: { isMissing: true } })).toContain(
      'All 1 scenarios that ran kept their promises. Without a result: `two`, `three`.',
    );
    expect(page({ [one]: {}, two: { broken: ['it paid twice'] }, three: {} })).toContain(
      '2 scenarios kept their promises. **1 did not: `two`.**',
    );
  });
});

describe('npm run trust', () => {
  it('describes its options and scenarios, and rejects unknown ones', () => {
    const run = (...args: string[]) =>
      execFileSync(process.execPath, [join(ROOT, 'test/fault-injection/run.mjs'), ...args], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
    expect(run('--help')).toMatch(/Scenarios: kill-proxy, .*\n[^]*Examples:\n/);
    expect(() => run('--only', 'nothing')).toThrow(/known scenarios are kill-proxy/);
  });
});
