import { MetricsService } from '../metrics/metrics.service';
import { QuotasService } from './quotas.service';

describe('the quotas of keys', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  /** Lets one search work while another one waits, and returns the delay of the other one. */
  async function restAfter(quotas: QuotasService, workedMs: number, restedMs = 0): Promise<number> {
    const { signal } = new AbortController();
    const end = await quotas.takeTurn('searches', 'one', signal);
    let begun: (() => void) | undefined;
    void quotas.takeTurn('searches', 'other', signal).then((endOther) => (begun = endOther));
    jest.advanceTimersByTime(workedMs + (restedMs === Infinity ? 0 : restedMs));
    end(restedMs);
    for (let rested = 0; ; rested += 10) {
      await new Promise((resolve) => setImmediate(resolve));
      if (begun) {
        begun();
        return rested;
      }
      jest.advanceTimersByTime(10);
    }
  }

  const newQuotas = () => new QuotasService(new MetricsService());

  it('let searches rest five times as long as they worked, while payments are made', async () => {
    const quotas = newQuotas();
    quotas.notePayment();
    expect(await restAfter(quotas, 300)).toBe(1_500);
    quotas.notePayment();
    jest.advanceTimersByTime(900);
    expect(await restAfter(quotas, 50)).toBe(250);
  });

  it('do not let searches rest for the time in which they rested', async () => {
    const quotas = newQuotas();
    quotas.notePayment();
    expect(await restAfter(quotas, 100, 200)).toBe(500);
    quotas.notePayment();
    expect(await restAfter(quotas, 100, Infinity)).toBe(0);
  });

  it('let work of a resting quota rest after each step while payments are made', async () => {
    jest.useRealTimers();
    const quotas = newQuotas();
    function* steps() {
      for (let step = 0; step < 5; step += 1) yield;
    }
    const [quiet, resting, urgent] = [{ restedMs: 0 }, { restedMs: 0 }, {}];
    await quotas.paceOf(quiet)(steps());
    quotas.notePayment();
    await quotas.paceOf(resting)(steps());
    await quotas.paceOf(urgent)(steps());
    expect(resting.restedMs).toBeGreaterThan(0);
    expect([quiet, urgent]).toEqual([{ restedMs: 0 }, {}]);
  });

  it('let searches work without a rest between payments', async () => {
    const quotas = newQuotas();
    expect(await restAfter(quotas, 300)).toBe(0);
    quotas.notePayment();
    expect(await restAfter(quotas, 1_500)).toBe(0); // the last payment was too long ago
  });

  it('let no search rest for long', async () => {
    const quotas = newQuotas();
    const paying = setInterval(() => quotas.notePayment(), 100);
    expect(await restAfter(quotas, 10_000)).toBe(3_000);
    clearInterval(paying);
  });
});
