import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { NO_TRANSACTION } from '../../gateway/forwarding/outcome/handovers';
import { NewOutcome } from '../records/records';
import { OutcomeSpool } from './spooled-outcomes';

const ID = '01999999-0000-7000-8000-000000000000';
const OUTCOME: NewOutcome = {
  intentId: ID,
  kind: 'succeeded',
  failure: null,
  upstreamStatus: 200,
  contentType: 'application/json',
  retryAfter: null,
  body: Buffer.from('{"chiRef":"a"}'),
  items: [
    {
      position: 0,
      upstreamRef: 'a',
      upstreamId: 'b',
      batchRef: null,
      status: 'paid',
      amountUsd: new Decimal('0.10'),
      feeUsd: new Decimal('0.01'),
    },
    {
      position: null,
      ...NO_TRANSACTION,
      payoutError: 'x',
    },
  ],
  entries: ['paid'],
  countedUsd: '0.11',
  answerOf: null,
  sentAt: new Date(1),
  answeredAt: new Date(2),
  upstreamMs: 1.5,
  attempts: 1,
  tries: [{ startedAt: new Date(1), ms: 1, phase: 'answered', status: 200, failure: null }],
};

describe('OutcomeSpool', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'payout-proxy-spool-')), 'outcomes');
  const spool = new OutcomeSpool(folder);
  const file = join(folder, `${ID}.json`);
  afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

  it('is empty before the first outcome', async () => {
    expect(await spool.ids()).toEqual([]);
    expect(existsSync(folder)).toBe(false);
  });

  it('keeps an outcome as it was, readable only by its owner, until it is removed', async () => {
    await spool.keep(OUTCOME);
    await spool.keep(OUTCOME); // tried again
    expect(await spool.ids()).toEqual([ID]);
    expect(await spool.read(ID)).toEqual(OUTCOME);
    expect([statSync(file).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
    await spool.remove(ID);
    await spool.remove(ID);
    expect(await spool.read(ID)).toBeUndefined();
    expect(await spool.ids()).toEqual([]);
  });

  it('preserves arbitrary bytes and texts', async () => {
    const texts = { contentType: fc.option(fc.string()), failure: fc.option(fc.string()) };
    const body = fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes)));
    await fc.assert(
      fc.asyncProperty(fc.record({ ...texts, body }), async (more) => {
        await spool.keep({ ...OUTCOME, ...more });
        expect(await spool.read(ID)).toEqual({ ...OUTCOME, ...more });
      }),
      { numRuns: 20 },
    );
  });

  it('detects a damaged file', async () => {
    await spool.keep(OUTCOME);
    writeFileSync(file, readFileSync(file, 'utf8').replace('succeeded', 'rejected'));
    await expect(spool.read(ID)).rejects.toThrow('the file is damaged');
    writeFileSync(file, '');
    await expect(spool.read(ID)).rejects.toThrow('the file is damaged');
  });

  it('removes unfinished files of a killed process, and ignores other files', async () => {
    const [old, young] = ['old.partial', 'young.partial'].map((name) => join(folder, name)) as [
      string,
      string,
    ];
    for (const path of [old, young, join(folder, 'notes.json')]) writeFileSync(path, '{');
    utimesSync(old, 0, 0);
    expect(await spool.ids()).toEqual([ID]);
    expect([old, young].map(existsSync)).toEqual([true, true]);
    await spool.removeUnfinished();
    expect([old, young].map(existsSync)).toEqual([false, true]);
  });
});
