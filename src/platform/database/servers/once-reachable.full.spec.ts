import { Logger } from '@nestjs/common';
import { StartError } from '../../config/config';
import { cannotReach } from './database-client';
import { onceReachable } from './once-reachable';

const URL = 'postgresql://proxy:hunter2@127.0.0.1:1/records';
const failure = (code: string) => Object.assign(new Error('for hunter2'), { code });
const TIMED_OUT = () => new Error('timeout expired'); // as pg reports a connection that was not made in time

describe('onceReachable', () => {
  let told: unknown[];
  beforeEach(() => {
    told = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((...line: unknown[]) => void told.push(line));
  });
  afterEach(() => jest.restoreAllMocks());

  /** Fails with one error after the other, and then returns. */
  const failing = (...errors: (() => Error)[]) =>
    jest.fn(() => {
      const error = errors.shift();
      return error ? Promise.reject(error()) : Promise.resolve('done');
    });
  const block = (ms: number) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  };

  it.each(['57P01', '57P02', '57P03', 'ECONNREFUSED', 'ECONNRESET', '53300', 'ENOTFOUND'])(
    'repeats the work of a process after %s, and logs the wait once',
    async (code) => {
      const work = failing(
        () => failure(code),
        () => cannotReach(URL, failure(code)),
        TIMED_OUT,
      );
      expect(await onceReachable({ url: URL, while: 'unavailable' }, work)).toBe('done');
      expect(work).toHaveBeenCalledTimes(4);
      expect(told).toEqual([[{ reason: code, timeout_s: 60 }, 'waiting for the database']]);
    },
  );

  it.each(['28P01', '42501', 'ERR_INVALID_URL'])('passes %s on at once', async (code) => {
    const work = failing(() => failure(code));
    await expect(onceReachable({ url: URL, while: 'unavailable' }, work)).rejects.toMatchObject({ code });
    expect(told).toEqual([]);
  });

  it('passes a refusal of the start on at once', async () => {
    const refused = new StartError('migrations are pending');
    const work = failing(() => refused);
    await expect(onceReachable({ url: URL, while: 'unavailable' }, work)).rejects.toBe(refused);
  });

  it('lets a command wait while the server restarts, and not for one that is not there', async () => {
    const restarting = failing(() => cannotReach(URL, failure('57P03')));
    expect(await onceReachable({ url: URL, while: 'restarting' }, restarting)).toBe('done');
    const gone = failing(() => failure('ECONNREFUSED'));
    await expect(onceReachable({ url: URL, while: 'restarting' }, gone)).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });

  it('gives up after a while, and names the database without its password', async () => {
    const work = jest.fn(() => Promise.reject(failure('57P03')));
    const giving = onceReachable({ url: URL, while: 'unavailable', timeoutMs: 0 }, work);
    await expect(giving).rejects.toThrow(
      /^the database records at 127\.0\.0\.1:1 cannot be reached \(57P03\)/,
    );
    await expect(giving).rejects.not.toThrow(/hunter2/);
  });

  it('reports the lateness of this process', async () => {
    const work = failing(TIMED_OUT);
    const late = () => {
      block(1_100);
      return work();
    };
    expect(await onceReachable({ url: URL, while: 'restarting' }, late)).toBe('done');
    expect(told).toEqual([
      [
        { reason: 'no answer in time', timeout_s: 60, late_ms: expect.any(Number) },
        'waiting for the database, after this process itself was late',
      ],
    ]);
    const hopeless = () => {
      block(1_100);
      return Promise.reject(TIMED_OUT());
    };
    await expect(onceReachable({ url: URL, while: 'unavailable', timeoutMs: 0 }, hopeless)).rejects.toThrow(
      /This process itself was late by \d\.\d seconds meanwhile\. Give it more CPU time\.$/,
    );
  });
});
