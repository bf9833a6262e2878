import { Registry } from 'prom-client';
import { MetricsService } from '../metrics/metrics.service';
import { SharesService } from './shares.service';

describe('the shares of keys', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  /** Lets a search work for some time while another one waits, and returns how much later the other one begins. */
  async function restAfter(shares: SharesService, workedMs: number): Promise<number> {
    const { signal } = new AbortController();
    const end = await shares.takeTurn('searches', 'one', signal);
    let begun: (() => void) | undefined;
    void shares.takeTurn('searches', 'other', signal).then((endOther) => (begun = endOther));
    jest.advanceTimersByTime(workedMs);
    end();
    for (let rested = 0; ; rested += 10) {
      await new Promise((resolve) => setImmediate(resolve));
      if (begun) {
        begun();
        return rested;
      }
      jest.advanceTimersByTime(10);
    }
  }

  const newShares = () => new SharesService({ registry: new Registry() } as MetricsService);

  it('let searches rest three times as long as they worked, while payments are made', async () => {
    const shares = newShares();
    shares.notePayment();
    expect(await restAfter(shares, 300)).toBe(900);
    shares.notePayment();
    jest.advanceTimersByTime(900);
    expect(await restAfter(shares, 50)).toBe(150);
  });

  it('let searches work without a rest while nobody pays', async () => {
    const shares = newShares();
    expect(await restAfter(shares, 300)).toBe(0);
    shares.notePayment();
    expect(await restAfter(shares, 1_500)).toBe(0); // the last payment was too long ago
  });

  it('let no search rest for long', async () => {
    const shares = newShares();
    const paying = setInterval(() => shares.notePayment(), 100);
    expect(await restAfter(shares, 10_000)).toBe(3_000);
    clearInterval(paying);
  });
});
