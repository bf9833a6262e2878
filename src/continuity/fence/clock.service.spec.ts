import { Logger } from '@nestjs/common';
import { RunningConfig } from '../../platform/config/config';
import { Beat } from '../heartbeat/beat';
import { HeartbeatService } from '../heartbeat/heartbeat.service';
import { now } from '../heartbeat/instant';
import { ClockService } from './clock.service';
import { FenceService } from './fence.service';

/** The durable writes are fakes. test/continuity/failover/clocks.full.spec.ts has real ones. */
describe('the comparison of the clocks', () => {
  let fence: FenceService;
  let clocks: ClockService;
  let beat: (skewMs: number, tookMs?: number) => void;
  let warn: jest.SpyInstance;
  let log: jest.SpyInstance;

  beforeEach(() => {
    fence = new FenceService();
    const listeners: ((beat: Beat) => void)[] = [];
    const heartbeat = {
      observe: (listener: (beat: Beat) => void) => listeners.push(listener),
      beat: async () => {},
    };
    clocks = new ClockService(heartbeat as unknown as HeartbeatService, fence, {
      maxClockSkewMs: 10_000,
    } as RunningConfig);
    beat = (skewMs, tookMs = 2) => {
      const confirmedAt = now();
      const sentAt = { ...confirmedAt, monotonicMs: confirmedAt.monotonicMs - tookMs };
      const databaseMs = confirmedAt.wallMs - tookMs / 2 + skewMs;
      for (const listener of listeners) listener({ databaseMs, sentAt, confirmedAt } as Beat);
    };
    warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    log = jest.spyOn(Logger.prototype, 'log').mockReturnValue(undefined);
    jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
  });
  afterEach(() => jest.restoreAllMocks());

  const reasons = () => fence.reasons.map(({ reason }) => reason);

  it('fences an instance until its first comparison', async () => {
    await clocks.onModuleInit();
    expect([reasons(), clocks.skewSeconds]).toEqual([['clock_skewed'], undefined]);
    beat(0);
    expect(reasons()).toEqual([]);
  });

  it('warns once beyond a second, and logs the end once', () => {
    const saying = (spy: jest.SpyInstance, words: string) =>
      (spy.mock.calls as unknown[][]).filter(([, text]) => String(text).includes(words));
    const warned = () => saying(warn, 'differs from the database');
    const over = () => saying(log, 'agrees with the database again');
    for (const skewMs of [0, 3_000, 3_000, 3_000]) beat(skewMs);
    expect([warned().length, over().length, reasons()]).toEqual([1, 0, []]);
    expect(warned()[0]?.[0]).toEqual({ skew_seconds: expect.closeTo(3, 1) as number });
    for (const skewMs of [0, 0, -3_000, -3_000]) beat(skewMs);
    expect([warned().length, over().length]).toEqual([2, 1]);
  });

  it.each([
    [60_000, "60 s behind the database's"],
    [-60_000, "60 s ahead of the database's"],
  ])('fences an instance at a difference of %d ms, and lowers only its own fence', (skewMs, words) => {
    fence.raise('database_behind', 'The database lacks commits.');
    beat(skewMs);
    expect(reasons()).toEqual(['database_behind', 'clock_skewed']);
    expect(fence.reasons[1]?.detail).toContain(words);
    beat(0);
    expect(reasons()).toEqual(['database_behind']);
  });

  it('does not fence an instance that looks wrong only by a slow write', () => {
    beat(60_000);
    beat(12_000, 14_000); // the statement may have run seven seconds earlier or later
    expect(reasons()).toEqual([]);
  });
});
