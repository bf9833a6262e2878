import fc from 'fast-check';
import { LoadShedder, Overloaded } from './load-shedder';
import { measured, Permit, Priority } from './permit';

/** Runs the pending work of this turn of the event loop. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Requests of a test, with the order in which they got their permits. */
class Crowd {
  readonly entered: string[] = [];
  readonly refused: string[] = [];
  readonly permits = new Map<string, Permit>();

  constructor(private readonly shedder: LoadShedder) {}

  async arrive(client: string, name = client, priority: Priority = 'payment'): Promise<void> {
    try {
      this.permits.set(name, await this.shedder.enter(client, priority));
      this.entered.push(name);
    } catch (error) {
      expect(error).toBeInstanceOf(Overloaded);
      this.refused.push(name);
    }
  }

  async leave(name: string): Promise<void> {
    this.permits.get(name)?.release();
    await turn();
  }
}

describe('LoadShedder', () => {
  let nowMs: number;
  let shedder: LoadShedder;
  let crowd: Crowd;

  function open(permits: number, mostWaiting: number): void {
    nowMs = 1_000_000;
    shedder = new LoadShedder(permits, mostWaiting, 1_000, () => nowMs);
    crowd = new Crowd(shedder);
  }
  async function arrive(...arrivals: Parameters<Crowd['arrive']>[]): Promise<void> {
    for (const arrival of arrivals) void crowd.arrive(...arrival);
    await turn();
  }

  beforeEach(() =>
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] }),
  );
  afterEach(() => jest.useRealTimers());

  it('serves clients in turns, whatever the number of their requests', async () => {
    open(1, 10);
    await arrive(['a', 'a1'], ['a', 'a2'], ['a', 'a3'], ['a', 'a4'], ['b', 'b1'], ['c', 'c1']);
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) await crowd.leave(name);
    expect(crowd.entered).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4']);
  });

  it('prefers payments to reads, and reserves half of the permits for payments', async () => {
    open(2, 10);
    await arrive(['a', 'read1', 'read'], ['a', 'read2', 'read'], ['a', 'pay1'], ['a', 'pay2']);
    expect(crowd.entered).toEqual(['read1', 'pay1']);
    await crowd.leave('read1');
    await crowd.leave('pay2');
    expect(crowd.entered).toEqual(['read1', 'pay1', 'pay2', 'read2']);
  });

  it('leaves a quarter of the permits to other clients, once there are any', async () => {
    open(8, 10);
    await arrive(...Array.from({ length: 8 }, (_, at): [string, string] => ['a', `a${at}`]));
    expect(crowd.entered).toHaveLength(8); // No other client is active.
    for (let at = 0; at < 8; at += 1) await crowd.leave(`a${at}`);
    await arrive(['b', 'b0']);
    await crowd.leave('b0');
    await arrive(...Array.from({ length: 8 }, (_, at): [string, string] => ['a', `again${at}`]), ['b', 'b1']);
    expect(crowd.entered.slice(9)).toEqual([
      'again0',
      'again1',
      'again2',
      'again3',
      'again4',
      'again5',
      'b1',
    ]);
  });

  it('refuses requests beyond the queue, and displaces from the longest line for a shorter one', async () => {
    open(1, 3);
    await arrive(['a', 'a1'], ['a', 'a2'], ['a', 'a3'], ['a', 'a4'], ['a', 'a5']);
    expect(crowd.refused).toEqual(['a5']);
    expect([
      shedder.isFull('a', 'payment'),
      shedder.isFull('b', 'payment'),
      shedder.isFull('a', 'read'),
    ]).toEqual([true, false, false]);
    await arrive(['b', 'b1']);
    expect(crowd.refused).toEqual(['a5', 'a4']);
    for (const name of ['a1', 'a2', 'b1']) await crowd.leave(name);
    expect(crowd.entered).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  it('refuses requests after their wait, which is shorter in a standing queue', async () => {
    open(1, 10);
    await arrive(['a', 'a1'], ['a', 'burst']);
    jest.advanceTimersByTime(999);
    await turn();
    expect(crowd.refused).toEqual([]);
    nowMs += 1_001;
    await arrive(['a', 'standing']); // the rate is 1 a second, so one may wait
    expect(crowd.refused).toEqual(['standing']);
    jest.advanceTimersByTime(1);
    await turn();
    expect(crowd.refused).toEqual(['standing', 'burst']);
    await arrive(['a', 'short']);
    nowMs += 1_001;
    await arrive(['a', 'shed']);
    expect(crowd.refused).toEqual(['standing', 'burst', 'shed']);
  });

  it('keeps a standing queue short although it is empty for moments', async () => {
    open(1, 10);
    await arrive(['a', 'a1'], ['a', 'a2'], ['a', 'a3']);
    nowMs += 1_001;
    await arrive(['a', 'shed']); // it stands
    for (const name of ['a1', 'a2']) await crowd.leave(name);
    expect(shedder.waiting).toBe(0);
    nowMs += 500;
    await arrive(['a', 'a4'], ['a', 'a5']);
    expect(crowd.refused).toEqual(['shed', 'a5']);
    jest.advanceTimersByTime(200);
    await turn();
    expect(crowd.refused).toEqual(['shed', 'a5', 'a4']);
    nowMs += 1_000; // Past any client's wait.
    await arrive(['a', 'b1'], ['a', 'b2']);
    expect([shedder.waiting, crowd.refused.length]).toEqual([2, 3]);
  });

  it('lowers the limit when the database fails, and raises it slowly', async () => {
    open(8, 100);
    const attempts = Array.from({ length: 8 }, (_, at) => `a${at}`);
    await arrive(...attempts.map((name): [string, string] => ['a', name]));
    nowMs += 2_000;
    for (const name of attempts) crowd.permits.get(name)?.endAdmission(true);
    expect(shedder.admissions.current).toBe(4); // one round of failures halves it once
    for (const name of attempts) await crowd.leave(name);
    await arrive(...Array.from({ length: 6 }, (_, at): [string, string] => ['a', `b${at}`]));
    expect(crowd.entered).toHaveLength(8 + 4);
    nowMs += 10;
    for (let at = 0; at < 4; at += 1) crowd.permits.get(`b${at}`)?.endAdmission(false);
    expect(shedder.admissions.current).toBe(4);
    await turn();
    expect(crowd.entered).toHaveLength(8 + 6);
    nowMs += 10_000;
    expect(shedder.admissions.current).toBe(8); // nothing has failed since
  });

  it('returns each permit exactly once, in any order of events', async () => {
    const actions = fc.array(
      fc.record({
        client: fc.constantFrom('a', 'b', 'c'),
        priority: fc.constantFrom<Priority>('payment', 'read'),
        leaves: fc.nat(3),
        fails: fc.boolean(),
      }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.nat(5),
        actions,
        async (permits, mostWaiting, steps) => {
          open(permits, mostWaiting);
          const inside: Permit[] = [];
          let settled = 0;
          for (const { client, priority, leaves, fails } of steps) {
            shedder
              .enter(client, priority)
              .then((permit) => inside.push(permit))
              .catch((error: unknown) => expect(error).toBeInstanceOf(Overloaded))
              .finally(() => (settled += 1));
            await turn();
            expect(shedder.inUse).toBeLessThanOrEqual(permits);
            expect(shedder.inUse).toBe(inside.length);
            for (const permit of inside.splice(0, leaves)) {
              await measured(permit, fails ? Promise.reject(new Error('gone')) : Promise.resolve()).catch(
                () => undefined,
              );
              permit.release();
              permit.release();
              await turn();
            }
          }
          while (inside.length > 0 || shedder.waiting > 0) {
            for (const permit of inside.splice(0)) permit.release();
            await turn();
          }
          expect([shedder.inUse, shedder.waiting, settled]).toEqual([0, 0, steps.length]);
          expect(shedder.admissions.hasRoom).toBe(true);
        },
      ),
    );
  });
});
