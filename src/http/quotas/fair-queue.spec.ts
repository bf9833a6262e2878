import { EndTurn, FairQueue } from './fair-queue';

describe('a fair queue', () => {
  /** Lets all pending work begin. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  /** Returns the workers by name, in the order of their begins. */
  function workers(queue: FairQueue) {
    const begun: string[] = [];
    const ends = new Map<string, EndTurn>();
    const begin = (name: string, signal?: AbortSignal) =>
      queue.turn(name.charAt(0), signal).then((end) => {
        begun.push(name);
        ends.set(name, end);
      });
    const end = async (name: string, ...how: Parameters<EndTurn>) => {
      ends.get(name)?.(...how);
      await settle();
    };
    return { begun, begin, end };
  }

  it('lets a few work at once', async () => {
    const { begun, begin, end } = workers(new FairQueue(2));
    for (const name of ['a1', 'a2', 'a3']) void begin(name);
    await settle();
    expect(begun).toEqual(['a1', 'a2']);
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'a3']);
  });

  it('lets keys take turns regardless of their line lengths', async () => {
    const queue = new FairQueue(1);
    const { begun, begin, end } = workers(queue);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void begin(name);
    await settle();
    expect(queue.length).toBe(6);
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
    expect(queue.length).toBe(0);
  });

  it('passes the turns of leavers to others', async () => {
    const queue = new FairQueue(1);
    const { begun, begin, end } = workers(queue);
    const leaving = new AbortController();
    void begin('a1');
    const left = expect(begin('b1', leaving.signal)).rejects.toThrow('gone');
    void begin('c1');
    leaving.abort(new Error('gone'));
    await left;
    await expect(begin('d1', leaving.signal)).rejects.toThrow('gone');
    await end('a1');
    expect(begun).toEqual(['a1', 'c1']);
    await end('c1');
    void begin('e1');
    await settle();
    expect(begun).toEqual(['a1', 'c1', 'e1']);
  });

  it('ends a turn once', async () => {
    const { begun, begin, end } = workers(new FairQueue(1));
    for (const name of ['a1', 'a2', 'a3']) void begin(name);
    await settle();
    await end('a1');
    await end('a1');
    expect(begun).toEqual(['a1', 'a2']);
  });

  it('rests after a turn for the given time', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const worked: number[] = [];
    const rests = new FairQueue(1, (workedMs) => (worked.push(workedMs) === 1 ? 100 : 0));
    const { begun, begin, end } = workers(rests);
    for (const name of ['a1', 'b1']) void begin(name);
    await settle();
    jest.advanceTimersByTime(70);
    await end('a1');
    expect(worked).toEqual([70]);
    void begin('c1'); // a newcomer does not overtake the rest
    jest.advanceTimersByTime(99);
    await settle();
    expect(begun).toEqual(['a1']);
    jest.advanceTimersByTime(1);
    await settle();
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    jest.useRealTimers();
  });

  it('does not rest after work that rested while it went on', async () => {
    const rests = new FairQueue(1, (workedMs) => 1_000_000 * workedMs);
    const { begun, begin, end } = workers(rests);
    for (const name of ['a1', 'b1']) void begin(name);
    await settle();
    await end('a1', Infinity);
    expect(begun).toEqual(['a1', 'b1']);
  });
});
