import { onPort, PostgresPair } from '../../support/databases/postgres-pair';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { Gate } from '../../support/payments/gate';
import { airtime, eventually, phoneOf } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** Apps that pay one after another. */
const APPS = 8;

const ENOUGH = 24;

/** What apps are told about a payment that may have been made. */
const IN_DOUBT = ['outcome_unknown', 'request_in_progress'];

/** A proxy reaches the primary through one address. A failover moves it while apps pay. */
describe('a failover under load', () => {
  let pair: PostgresPair;
  let gate: Gate;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let app: string;

  beforeAll(async () => {
    [pair, upstream] = await Promise.all([PostgresPair.start(), FakeUpstream.start()]);
    upstream.behaviour = succeed;
    gate = await Gate.start(() => pair.database.url);
    const { url, ownerUrl } = pair.database;
    const port = Number(new URL(gate.url).port);
    const database = { ...pair.database, url: onPort(url, port), ownerUrl: onPort(ownerUrl, port) };
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, requestDeadlineMs: 2_000 }, database);
    app = (await proxy.client('app', 'pay')).key;
  });
  afterAll(async () => {
    await proxy?.close();
    await upstream?.stop();
    await gate?.stop();
    await pair?.close();
  });

  const isReady = async () => (await proxy.get('', '/readyz')).status === 200;
  const pay = async (number: number): Promise<{ status: number; code: unknown }> => {
    const phone = `+2547${String(number).padStart(8, '0')}`;
    const asked = proxy
      .post(app, '/payouts/airtime', airtime(phone))
      .set('Idempotency-Key', `order-${number}`);
    const { status, body } = await asked;
    return { status, code: body.code };
  };

  let numbers = 0;

  /** Pays until `end` is called, which resolves to all that was asked, and what each was told last. */
  function startPaying() {
    const told = new Map<number, { status: number; code: unknown }>();
    let isOver = false;
    const running = Array.from({ length: APPS }, async () => {
      while (!isOver) {
        const number = (numbers += 1);
        told.set(number, { status: 0, code: undefined });
        told.set(number, await pay(number));
      }
    });
    const paid = () => [...told.values()].filter(({ status }) => status === 200).length;
    const end = async () => {
      isOver = true;
      await Promise.all(running);
      return told;
    };
    return { paid, end };
  }

  it.each([
    ['of a confirming standby', false],
    ['after waits for the standby were cancelled', true],
  ])('%s loses no acknowledged payment, and pays none twice', async (_how, cancels) => {
    const paying = startPaying();
    await eventually(() => paying.paid() >= ENOUGH);
    if (cancels) {
      pair.freezeStandby();
      let cancelled = 0;
      await eventually(async () => (cancelled += await pair.cancelWaits()) >= 2 * APPS);
    }
    await pair.killPrimary();
    pair.thawStandby();
    await pair.failOver();
    gate.cut();
    const before = paying.paid();
    await eventually(() => paying.paid() >= before + ENOUGH);
    const told = await paying.end();
    const answered = [...told].flatMap(([number, { status }]) => (status === 200 ? [number] : []));
    for (const number of told.keys()) await eventually(async () => isSettled(await pay(number)));
    await expectAllFound([...told.keys()], answered);
    await pair.rejoin();
    await eventually(isReady);
  });

  const isSettled = ({ status, code }: { status: number; code: unknown }) =>
    status === 200 || IN_DOUBT.includes(String(code));

  async function expectAllFound(asked: number[], answered: number[]): Promise<void> {
    const rows = await pair.database.query<{ key: string; kind: string | null }>(
      `SELECT b.idempotency_key AS key, o.kind FROM intent i LEFT JOIN intent_body b ON b.intent_id = i.id
        LEFT JOIN outcome o ON o.intent_id = i.id`,
    );
    const kinds = new Map(rows.map(({ key, kind }) => [key, kind]));
    const sent = upstream.received.map((one) => Number(phoneOf(one).slice(-8)));
    expect(sent).toHaveLength(new Set(sent).size);
    expect(sent.filter((number) => !kinds.has(`order-${number}`))).toEqual([]);
    expect(
      answered.filter((number) => kinds.get(`order-${number}`) !== 'succeeded' || !sent.includes(number)),
    ).toEqual([]);
    expect(asked.filter((number) => !sent.includes(number))).toEqual([]);
    expect(answered.length).toBeGreaterThanOrEqual(2 * ENOUGH);
  }
});
