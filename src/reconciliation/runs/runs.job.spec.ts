import { Logger } from '@nestjs/common';
import { RunningConfig } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { Turns } from '../../platform/jobs/turns';
import { RunReader } from './run-reader';
import { ScheduleService } from './runs.job';
import { RunsService } from './runs.service';

const SECOND_MS = 1_000;

describe('the clock of the schedule', () => {
  const checked = jest.spyOn(ScheduleService.prototype, 'check').mockResolvedValue();
  const of = (schedule: string | undefined) => {
    const settings = { reconciliation: { schedule }, namedAccounts: [] } as unknown as RunningConfig;
    return new ScheduleService(settings, {} as PrismaService, {} as RunReader, {} as RunsService);
  };
  const start = (service: ScheduleService) => {
    const ending = new AbortController();
    const done = service.run(new Turns(ending.signal));
    return () => {
      ending.abort();
      return done;
    };
  };
  const looks = () => checked.mock.calls.map(([, now]) => now.toISOString().slice(11, 19));

  beforeAll(() => void jest.spyOn(Logger.prototype, 'warn').mockImplementation());
  beforeEach(() => {
    jest.useFakeTimers({ now: Date.UTC(2026, 2, 1, 1, 59, 30) });
    checked.mockClear();
  });
  afterEach(() => jest.useRealTimers());

  it('checks at start, at each scheduled time in UTC, and a minute after each check', async () => {
    const service = of('0 2 * * *');
    const stop = start(service);
    await jest.advanceTimersByTimeAsync(29 * SECOND_MS);
    expect(looks()).toEqual(['01:59:30']);
    await jest.advanceTimersByTimeAsync(62 * SECOND_MS);
    expect(looks()).toEqual(['01:59:30', '02:00:00', '02:01:00']);
    await stop();
    await jest.advanceTimersByTimeAsync(24 * 3_600 * SECOND_MS);
    expect(looks()).toHaveLength(3);
  });

  it('continues after a failed check, one at a time', async () => {
    const service = of('0 2 * * *');
    let fail: (error: Error) => void = () => undefined;
    checked.mockImplementationOnce(() => new Promise((_, reject) => (fail = reject)));
    const stop = start(service);
    await jest.advanceTimersByTimeAsync(61 * SECOND_MS);
    expect(looks()).toEqual(['01:59:30']); // The first check has not ended.
    fail(new Error('no database'));
    await jest.advanceTimersByTimeAsync(0);
    expect(looks()).toEqual(['01:59:30', '02:00:31']); // At once, for the missed time.
    await stop();
  });

  it('does not run without a schedule', async () => {
    const service = of(undefined);
    const stop = start(service);
    await jest.advanceTimersByTimeAsync(24 * 3_600 * SECOND_MS);
    expect(looks()).toEqual([]);
    await stop();
  });
});
