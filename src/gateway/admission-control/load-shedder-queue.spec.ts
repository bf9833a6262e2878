import fc from 'fast-check';
import { Crowd, many, REQUEST, turn } from '../../../test/support/limits/crowd';
import { measured, Priority } from './permit';

beforeEach(() =>
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] }),
);
afterEach(() => jest.useRealTimers());

describe('the queue of a load shedder', () => {
  it('ends when the instance stops, for another instance to serve its requests', async () => {
    const crowd = new Crowd(1, 10);
    await crowd.arrive(...many(3));
    crowd.shedder.close();
    await crowd.arrive({ name: 'late' });
    expect([crowd.refused, crowd.shedder.waiting]).toEqual([['late', 'a1', 'a2'], 0]);
    await crowd.leave('a0');
    await crowd.arrive({ name: 'last' }); // on a connection that is still open
    expect(crowd.entered).toEqual(['a0', 'last']);
  });

  it('carries out bursts of any size that fit into the patience', async () => {
    for (const serviceMs of [1_000, 3_000]) {
      const crowd = new Crowd(64, 2_048);
      await crowd.arrive(...many(400));
      await crowd.serve(25_000, () => serviceMs);
      expect([crowd.entered.length, crowd.refused]).toEqual([400, []]);
    }
  });

  it('refuses at once what would come too late at the measured pace, after a lull, too', async () => {
    const crowd = new Crowd(4, 2_048);
    await crowd.arrive(...many(4, {}, 'known'));
    await crowd.serve(1_000, () => 1_000);
    await crowd.pass(600_000);
    await crowd.arrive(...many(100));
    expect(crowd.entered).toHaveLength(4 + 4);
    expect(crowd.shedder.waiting).toBe(4 * 19); // 19.9 s of patience
    expect(crowd.refused).toEqual(many(20).map((_, at) => `a${80 + at}`));
    expect([crowd.shedder.expectedWaitMs, crowd.waits.get('a99')]).toEqual([1_000, 0]);
    await crowd.serve(25_000, () => 1_000);
    expect(crowd.entered).toHaveLength(4 + 80);
  });

  it('refuses at once what would come too late beside a client that goes on paying', async () => {
    const crowd = new Crowd(8, 2_048);
    const permitsOfOther = 4;
    const other = (ms: number) =>
      ms % (1_000 / permitsOfOther) === 0 ? [{ client: 'b', name: `b${ms}` }] : [];
    const burst = (ms: number) => (ms === 5_050 ? many(100) : []);
    await crowd.serve(
      30_000,
      () => 1_000,
      (ms) => [...other(ms), ...burst(ms)],
    );
    expect(crowd.refused).toEqual(many(20).map((_, at) => `a${80 + at}`));
    expect(crowd.refused.map((name) => crowd.waits.get(name))).toEqual(many(20).map(() => 0));
  });

  it('refuses from the end while the first answers take longer, before anything was measured', async () => {
    const crowd = new Crowd(4, 2_048);
    await crowd.arrive(...many(100));
    expect(crowd.refused).toEqual([]);
    await crowd.serve(60_000, () => 3_000);
    expect(crowd.entered.length).toBe(4 * 7); // at 0, 3, …, 18 seconds
    expect(crowd.refused.sort()).toEqual(
      many(100)
        .flatMap(({ name = '' }) => (crowd.entered.includes(name) ? [] : [name]))
        .sort(),
    );
    const latest = Math.max(...crowd.refused.map((name) => crowd.waits.get(name) ?? 0));
    expect(latest).toBeLessThanOrEqual(3_100); // and not after 20 s
  });

  it('refuses 50 ms before the patience of a request ends, so that the answer is in time', async () => {
    const crowd = new Crowd(1, 2_048);
    await crowd.arrive({ name: 'stuck' }, { name: 'late', patienceMs: 1_000 });
    await crowd.pass(2_000);
    expect([crowd.refused, crowd.waits.get('late')]).toEqual([['late'], 950]);
  });

  it('refuses earlier while a busy processor delays the reviews', async () => {
    const crowd = new Crowd(1, 2_048);
    await crowd.arrive({ name: 'stuck' }, { name: 'late', patienceMs: 1_000 });
    for (; crowd.shedder.waiting > 0; await crowd.pass(50)) crowd.nowMs += 150;
    expect([crowd.refused, crowd.waits.get('late')]).toEqual([['late'], 800]); // 950 with reviews in time
  });

  it('refuses from the end when the upstream becomes slower', async () => {
    const crowd = new Crowd(4, 2_048);
    await crowd.arrive(...many(4, {}, 'known'));
    await crowd.serve(1_000, () => 1_000);
    await crowd.arrive(...many(40)); // 9 s
    await crowd.serve(30_000, () => 6_000);
    const waits = crowd.refused.map((name) => crowd.waits.get(name) ?? 0);
    expect(waits.filter((ms) => ms <= 6_100).length).toBeGreaterThanOrEqual(16); // at the first slow answers
    expect(Math.max(...waits)).toBeLessThanOrEqual(12_100);
  });

  it('refuses while an upstream that was fast answers nothing at all', async () => {
    const crowd = new Crowd(4, 2_048);
    await crowd.arrive(...many(4, {}, 'known'));
    await crowd.serve(1_000, () => 1_000);
    await crowd.arrive(...many(70)); // 17 s
    await crowd.pass(1_900);
    expect(crowd.refused).toEqual([]); // the processor may have been busy
    await crowd.pass(4_000);
    expect(crowd.refused.length).toBeGreaterThan(40);
    await crowd.leave(...crowd.entered);
  });

  it('does not take one stuck request for a slow upstream', async () => {
    const crowd = new Crowd(4, 2_048);
    const stuck = await crowd.shedder.enter({ ...REQUEST, client: 'a' });
    await crowd.pass(25_000);
    await crowd.arrive(...many(40));
    await crowd.serve(30_000, () => 1_000);
    expect(crowd.refused).toEqual([]);
    stuck.release();
  });

  it('counts the payments before a read, and the share of reads', async () => {
    const crowd = new Crowd(4, 2_048);
    await crowd.arrive(...many(4, {}, 'known'));
    await crowd.serve(1_000, () => 1_000);
    await crowd.arrive(...many(16)); // four seconds of payments
    await crowd.arrive({ name: 'late', priority: 'read', patienceMs: 4_000 });
    await crowd.arrive({ name: 'patient', priority: 'read', patienceMs: 4_200 });
    expect([crowd.refused, crowd.shedder.waiting]).toEqual([['late'], 13]);
  });

  it('has room for requests by the length of their bodies, and displaces from the longest line', async () => {
    const crowd = new Crowd(1, 4);
    await crowd.arrive(...many(4), { name: 'long', room: 2 });
    expect(crowd.refused).toEqual(['long']);
    await crowd.arrive({ client: 'b', name: 'b0', room: 2 });
    expect(crowd.refused).toEqual(['long', 'a3']);
    await crowd.arrive({ client: 'c', name: 'c0' });
    await crowd.arrive({ client: 'd', name: 'd0' });
    expect(crowd.refused).toEqual(['long', 'a3', 'a2', 'd0']);
    for (const name of ['a0', 'a1', 'b0']) await crowd.leave(name);
    await crowd.arrive({ client: 'e', name: 'huge', room: 100 }); // never more than the queue has
    await crowd.leave('c0');
    expect(crowd.entered).toEqual(['a0', 'a1', 'b0', 'c0', 'huge']);
  });

  it('sends refused requests back one after another, when the backlog allows', async () => {
    const crowd = new Crowd(4, 2_048);
    await crowd.arrive(...many(4, {}, 'known'));
    await crowd.serve(1_000, () => 1_000);
    await crowd.arrive(...many(120));
    const seconds = crowd.refused.map((name) => crowd.retryAfter.get(name) ?? 0);
    expect(seconds.slice(0, 9)).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2]);
    expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
    expect(seconds.at(-1)).toBe(10); // 40 requests at four a second
    await crowd.arrive(...many(400, {}, 'more'));
    expect(crowd.retryAfter.get('more399')).toBe(30);
    await crowd.arrive({ client: 'b', name: 'other' }); // its line is short
    expect(crowd.refused).not.toContain('other');
  });

  it('finishes any burst by retries after Retry-After, each refused a few times', async () => {
    const crowd = new Crowd(4, 2_048);
    const back = new Map<string, number>(many(160).map(({ name = '' }) => [name, crowd.nowMs]));
    const ends = new Map<string, number>();
    let refusals = 0;
    const began = crowd.nowMs;
    while (ends.size < 160) {
      const due = [...back].filter(([, at]) => at <= crowd.nowMs).map(([name]) => name);
      for (const name of due) back.delete(name);
      await crowd.arrive(...due.map((name) => ({ name })));
      for (const name of crowd.refused.splice(0)) {
        refusals += 1;
        back.set(name, crowd.nowMs + (crowd.retryAfter.get(name) ?? 0) * 1_000);
      }
      for (const name of crowd.permits.keys()) if (!ends.has(name)) ends.set(name, crowd.nowMs + 1_000);
      await crowd.leave(...[...ends.keys()].filter((name) => (ends.get(name) ?? 0) <= crowd.nowMs));
      await crowd.pass(50);
    }
    expect(crowd.nowMs - began).toBeLessThan(1.1 * 40_000);
    expect(refusals).toBeLessThan(2 * 160);
  });
});

describe('any crowd at a load shedder', () => {
  const steps = fc.array(
    fc.record({
      client: fc.constantFrom('a', 'b', 'c'),
      priority: fc.constantFrom<Priority>('payment', 'read'),
      patienceMs: fc.constantFrom(0, 1_000, 5_000, 20_000),
      room: fc.integer({ min: 1, max: 3 }),
      leaves: fc.nat(3),
      passes: fc.constantFrom(0, 50, 1_000),
      fails: fc.boolean(),
      disconnects: fc.boolean(),
    }),
    { maxLength: 40 },
  );

  it('uses each permit once, and waits no longer than its patience', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.nat(8), steps, async (permits, room, all) => {
        const crowd = new Crowd(permits, room);
        const { shedder } = crowd;
        const released = new Set<string>();
        const inside = () => crowd.entered.filter((name) => !released.has(name));
        const leave = async (name: string, fails: boolean) => {
          const permit = crowd.permits.get(name);
          const step = fails ? Promise.reject(new Error('gone')) : Promise.resolve();
          await measured(permit, step).catch(() => undefined);
          permit?.release();
          permit?.release();
          released.add(name);
          await turn();
        };
        for (const [at, { leaves, passes, fails, disconnects, ...wanted }] of all.entries()) {
          await crowd.arrive({ ...wanted, name: String(at), isGone: () => disconnects });
          expect(shedder.inUse).toBeLessThanOrEqual(permits);
          expect(shedder.inUse).toBe(inside().length);
          for (const name of inside().slice(0, leaves)) await leave(name, fails);
          await crowd.pass(passes);
        }
        while (inside().length > 0 || shedder.waiting > 0) {
          for (const name of inside()) await leave(name, false);
          await crowd.pass(50);
        }
        expect([shedder.inUse, shedder.waiting, crowd.waits.size]).toEqual([0, 0, all.length]);
        expect(shedder.admissions.hasRoom).toBe(true);
        for (const [at, { patienceMs }] of all.entries())
          expect(crowd.waits.get(String(at))).toBeLessThanOrEqual(patienceMs);
        for (const seconds of crowd.retryAfter.values()) {
          expect(seconds).toBeGreaterThanOrEqual(1);
          expect(seconds).toBeLessThanOrEqual(30);
        }
        expect(shedder['reviews']).toBeUndefined();
      }),
    );
  });

  it('serves as many as there are permits, and each client its share', async () => {
    const crowd = new Crowd(8, 2_048);
    await crowd.arrive(...many(200), ...many(30, { client: 'b' }), ...many(30, { client: 'c' }));
    let served = 0;
    await crowd.serve(10_000, () => 500 + ((served += 350) % 1_000));
    const first = crowd.entered.slice(8, 8 + 60);
    const sharesOf = (client: string) => first.filter((name) => name.startsWith(client)).length;
    for (const client of ['a', 'b', 'c']) expect(sharesOf(client)).toBeGreaterThanOrEqual(17);
  });
});
