import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { MetricsService } from '../../http/metrics/metrics.service';
import { RunningConfig } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { copiesFolder, LocalCopies } from './local-copies';

const MIB = 1_024 * 1_024;

describe('copies of committed records', () => {
  let dataDir: string;
  let metrics: MetricsService;
  let copies: LocalCopies;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-copies-'));
    metrics = new MetricsService();
    copies = new LocalCopies({} as PrismaService, metrics, { dataDir } as RunningConfig);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(dataDir, { recursive: true });
  });

  const metric = async (name: string) =>
    (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value;
  const waitingBytes = () => metric('payout_proxy_copies_waiting_bytes');
  const droppedLines = () => metric('payout_proxy_copies_dropped_total');
  const flush = () => copies.onApplicationShutdown();

  /** Returns the text of all copies. */
  const written = () => {
    const folder = copiesFolder(dataDir);
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    return texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
  };
  const records = () => written().map((line) => (JSON.parse(line) as { record: string }).record);
  const addOutcome = (record: string) => copies.addOutcome(JSON.stringify(record));

  it('drops and reports the oldest records while the disk takes none', async () => {
    const [warned, failed, told] = (['warn', 'error', 'log'] as const).map((level) =>
      jest.spyOn(Logger.prototype, level).mockImplementation(() => undefined),
    );
    writeFileSync(copiesFolder(dataDir), 'a file in the way of the folder');
    const name = (place: number) => `${place} ${'x'.repeat(MIB)}`;
    for (let place = 0; place < 100; place += 1) {
      addOutcome(name(place));
      expect(await waitingBytes()).toBeLessThanOrEqual(64 * MIB);
    }
    await flush();
    expect(await waitingBytes()).toBeGreaterThan(60 * MIB);
    const dropped = (await droppedLines()) ?? 0;
    expect(dropped).toBeGreaterThan(30);
    const refusals = warned?.mock.calls.filter(([, text]) => String(text).includes('cannot be copied'));
    expect([warned?.mock.calls, refusals?.length]).toEqual([refusals, 1]);
    const losses = failed?.mock.calls.filter(([text]) =>
      String(text).includes('database recover cannot restore these records'),
    );
    expect(losses).toHaveLength(1);

    rmSync(copiesFolder(dataDir));
    await flush();
    expect(await waitingBytes()).toBe(0);
    expect(told).toHaveBeenCalledWith({ dropped_lines: dropped }, 'committed records are copied again');
    expect(records()).toHaveLength(100 - dropped);
    expect(records().at(-1)).toBe(name(99));
  });

  it('preserves every character at any line length', async () => {
    const names = Array.from({ length: 300 }, (_, place) => `${place} ${'aé漢😀\ud800'.repeat(place * 7)}`);
    for (const name of [...names, '漢'.repeat(MIB), ...names]) addOutcome(name);
    await flush();
    expect(records()).toEqual([...names, '漢'.repeat(MIB), ...names]);
  });

  it('begins on a new line after a process that was killed while writing', async () => {
    mkdirSync(copiesFolder(dataDir));
    appendFileSync(join(copiesFolder(dataDir), `${clock.today()}.jsonl`), '{"kind":"outco');
    addOutcome('first');
    await flush();
    addOutcome('second');
    await flush();
    const [torn, ...whole] = written();
    expect(torn).toBe('{"kind":"outco');
    expect(whole.map((line) => JSON.parse(line) as object)).toEqual(
      ['first', 'second'].map((record) => ({ kind: 'outcome', record })),
    );
  });
});
