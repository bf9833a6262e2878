import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { FenceService } from '../../../src/continuity/fence/fence.service';
import { HeartbeatService } from '../../../src/continuity/heartbeat/heartbeat.service';
import { MetricsService } from '../../../src/http/metrics/metrics.service';
import { ExpectedFees } from '../../../src/journal/admission/expected-fees';
import { copiesInBatches } from '../../../src/journal/copies/copies-reader';
import { LocalCopies } from '../../../src/journal/copies/local-copies';
import { SpooledOutcomes } from '../../../src/journal/recovery/spooled-outcomes';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { TestDatabase } from '../../support/databases/test-database';
import { answer, reset, succeed } from '../../support/network/fake-upstream';
import { eventually, PaymentScene, PHONE, startPaying } from '../../support/payments/paying';
import { copyIntent } from '../../support/records/intents';
import { paidOutcome } from '../../support/records/outcomes';
import { tamper } from '../../support/records/sealing';

/** Returns the calls whose outcomes were copied. */
async function copiedOutcomes(dataDir: string): Promise<string[]> {
  const ids: string[] = [];
  await copiesInBatches([dataDir], 'outcome', (batch) => {
    for (const line of batch) if (line.kind === 'outcome') ids.push(line.record.intent_id);
    return Promise.resolve();
  });
  return ids;
}

/** Ends a proxy while an outcome waits for a lock. It is written after all other copies. */
async function closeWhileWriting(paying: PaymentScene, begin: () => Promise<unknown>): Promise<void> {
  const { app, database } = paying.proxy;
  await database.query('BEGIN; LOCK TABLE outcome IN SHARE MODE');
  await begin();
  const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'outcome'::regclass`;
  await eventually(async () => (await database.query(waiting)).length === 1);
  const flushed = jest.spyOn(app.get(LocalCopies, { strict: false }), 'onApplicationShutdown');
  const closed = paying.close();
  await eventually(() => flushed.mock.calls.length > 0);
  await flushed.mock.results[0]?.value;
  await database.query('COMMIT');
  await closed;
}

describe('an outcome written after the response', () => {
  afterEach(() => jest.restoreAllMocks());

  it('is copied before the process ends', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-relaxed-'));
    const paying = await startPaying({ dataDir, outcomes: 'relaxed' });
    paying.upstream.behaviour = succeed;
    let id: string | undefined;
    await closeWhileWriting(paying, async () => (id = (await paying.pay().expect(200)).headers['x-call-id']));
    expect(await copiedOutcomes(dataDir)).toEqual([id]);
    rmSync(dataDir, { recursive: true, force: true });
  });
});

describe('an outcome that the journal gave up', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-spooled-'));
  const folder = join(dataDir, 'outcomes');
  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('is recorded later by the same process, without erased values', async () => {
    const lines: unknown[][] = [];
    for (const level of ['warn', 'error'] as const) {
      jest.spyOn(Logger.prototype, level).mockImplementation((...line: unknown[]) => void lines.push(line));
    }
    const paying = await startPaying({ dataDir });
    const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
    const data = {
      data: [{ chiRef: 'ref-1', status: 'paid', valueInUSD: 2.5, phoneNumber: PHONE }],
      error: 'None',
    };
    paying.upstream.behaviour = answer(200, { status: 'success', data });
    await query('REVOKE INSERT ON outcome FROM payout_proxy');
    const [kept, erased] = await Promise.all([paying.pay(), paying.pay()]);
    expect([kept, erased].map(({ status, body }) => [status, body.code])).toEqual([
      [502, 'outcome_unknown'],
      [502, 'outcome_unknown'],
    ]);
    const spooled = async () =>
      /^payout_proxy_spooled_outcomes (\d+)$/m.exec(
        await paying.proxy.app
          .get(MetricsService)
          .text()
          .then(({ body }) => body),
      )?.[1];
    expect(await spooled()).toBe('2');
    const givenUp = () =>
      lines.filter((line) => line.includes('outcome not recorded, call is in doubt')).length;
    await eventually(() => givenUp() === 2); // The journal retried until now.
    const id = erased.headers['x-call-id'];
    await query('ALTER TABLE intent_body DISABLE TRIGGER USER');
    await query('UPDATE intent_body SET body = NULL, salt = NULL, people = NULL WHERE intent_id = $1', [id]);
    // No heartbeat follows the outcomes.
    jest.spyOn(paying.proxy.app.get(HeartbeatService), 'beat').mockResolvedValue();
    await query('GRANT INSERT ON outcome TO payout_proxy');
    await eventually(async () => (await query('SELECT FROM outcome')).length === 2);
    await eventually(async () => (await spooled()) === '0');
    expect(await query('SELECT upstream_ref FROM outcome_item')).toEqual([
      { upstream_ref: 'ref-1' },
      { upstream_ref: 'ref-1' },
    ]);
    expect(await query('SELECT intent_id FROM outcome_body')).toEqual([
      { intent_id: kept.headers['x-call-id'] },
    ]);
    expect(JSON.stringify(lines)).not.toContain(PHONE.slice(1));
    await eventually(async () => (await copiedOutcomes(dataDir)).length === 2);
    // Like another process of the same DATA_DIR that wrote one.
    const service = paying.proxy.app.get(SpooledOutcomes, { strict: false });
    await service.keep(paidOutcome(id ?? ''));
    rmSync(join(folder, `${id}.json`));
    await service.release(id ?? '', false);
    await eventually(async () => (await spooled()) === '0');
    // Like a database from before the writes.
    await tamper(paying.proxy.database, 'DELETE FROM outcome');
    await query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND ' +
        'pid <> pg_backend_pid()',
    );
    const fenced = () => paying.proxy.app.get(FenceService).reasons.map(({ reason }) => reason);
    await eventually(async () => {
      await paying.pay();
      return fenced().includes('database_behind');
    });
    await paying.close();
  });

  it('does not wait for the record of a charged upstream fee', async () => {
    const paying = await startPaying({ dataDir });
    const fees = paying.proxy.app.get(ExpectedFees, { strict: false });
    let recorded = (): void => undefined;
    const observed = jest
      .spyOn(fees, 'observe')
      .mockReturnValue(new Promise((resolve) => (recorded = resolve)));
    const data = {
      data: [{ chiRef: 'ref-1', status: 'paid', valueInUSD: 2.5, fee: 0.1, phoneNumber: PHONE }],
    };
    paying.upstream.behaviour = answer(200, { status: 'success', data: { ...data, error: 'None' } });
    const paid = paying.pay().then(({ status }) => status);
    await eventually(() => observed.mock.calls.length === 1);
    const outcomes = () => paying.proxy.database.query('SELECT FROM outcome');
    await eventually(async () => (await outcomes()).length === 1);
    recorded();
    expect(await paid).toBe(200);
    await paying.close();
  });

  it('is on disk before its retry, which keeps all outcomes in a long queue', async () => {
    const paying = await startPaying({ dataDir });
    const prisma = paying.proxy.app.get(PrismaService);
    const prepared = prisma.prepared.bind(prisma);
    const keptAtRetry: number[] = [];
    jest.spyOn(prisma, 'prepared').mockImplementation(async (name: string, ...rest) => {
      if (name === 'insert_outcomes') throw new Error('Connection terminated unexpectedly');
      if (name === 'insert_outcomes_again')
        keptAtRetry.push(existsSync(folder) ? readdirSync(folder).length : 0);
      return prepared(name, ...rest);
    });
    paying.upstream.behaviour = succeed;
    await paying.pay().expect(200);
    expect(keptAtRetry).toEqual([1]);
    expect(readdirSync(folder)).toEqual([]);
    await paying.close();
  });

  it('is copied before the process ends', async () => {
    const paying = await startPaying({ dataDir });
    paying.upstream.behaviour = reset;
    const { headers } = await paying.pay().expect(502);
    const id = await copyIntent(paying.proxy.database, headers['x-call-id'] ?? '', {});
    const spooled = paying.proxy.app.get(SpooledOutcomes, { strict: false });
    await spooled.keep(paidOutcome(id));
    await closeWhileWriting(paying, () => spooled.release(id, false));
    expect(existsSync(join(folder, `${id}.json`))).toBe(false);
    expect(await copiedOutcomes(dataDir)).toContain(id);
  });

  it('leaves its transaction IDs in the log if the disk fails too', async () => {
    const lines: unknown[][] = [];
    jest.spyOn(Logger.prototype, 'error').mockImplementation((...line: unknown[]) => void lines.push(line));
    mkdirSync(dataDir);
    writeFileSync(folder, 'a file where the folder should be');
    const paying = await startPaying({ dataDir });
    const data = {
      data: [{ chiRef: 'ref-1', status: 'paid', valueInUSD: 2.5, phoneNumber: PHONE }],
      error: 'None',
    };
    paying.upstream.behaviour = answer(200, { status: 'success', data });
    await paying.proxy.database.query('REVOKE INSERT ON outcome FROM payout_proxy');
    const { headers } = await paying.pay().expect(502);
    expect(lines).toContainEqual([
      { call_id: headers['x-call-id'], code: 'EEXIST', outcome: 'succeeded', transactions: ['ref-1'] },
      'outcome can be neither recorded nor spooled, keep this line',
    ]);
    expect(JSON.stringify(lines)).not.toContain(PHONE.slice(1));
    await paying.close();
  });
});
