import { Crowd, many, turn } from '../../../test/support/limits/crowd';

beforeEach(() =>
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] }),
);
afterEach(() => jest.useRealTimers());

describe('the turns of a load shedder', () => {
  it('go to clients in turn, whatever the number of their requests', async () => {
    const crowd = new Crowd(1, 10);
    await crowd.arrive(...many(4), { client: 'b', name: 'b0' }, { client: 'c', name: 'c0' });
    for (const name of ['a0', 'a1', 'b0', 'c0', 'a2']) await crowd.leave(name);
    expect(crowd.entered).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'a3']);
  });

  it('go to payments before reads, and half of the permits are reserved for payments', async () => {
    const crowd = new Crowd(2, 10);
    await crowd.arrive(...many(2, { priority: 'read' }, 'read'), ...many(2, {}, 'pay'));
    expect(crowd.entered).toEqual(['read0', 'pay0']);
    await crowd.leave('read0');
    await crowd.leave('pay1');
    expect(crowd.entered).toEqual(['read0', 'pay0', 'pay1', 'read1']);
  });

  it('leave a quarter of the permits to other clients, once there are any', async () => {
    const crowd = new Crowd(8, 10);
    await crowd.arrive(...many(8));
    expect(crowd.entered).toHaveLength(8); // No other client is active.
    await crowd.leave(...crowd.entered);
    await crowd.arrive({ client: 'b', name: 'b0' });
    await crowd.leave('b0');
    await crowd.arrive(...many(8, {}, 'again'), { client: 'b', name: 'b1' });
    expect(crowd.entered.slice(9)).toEqual([...many(6).map((_, at) => `again${at}`), 'b1']);
  });

  it('are not given up because a burst delays one review', async () => {
    const crowd = new Crowd(4, 100);
    await crowd.arrive(...many(4, {}, 'known'));
    await crowd.serve(1_000, () => 1_000);
    await crowd.arrive(...many(4 + 76)); // the last turn comes after 19 s
    crowd.nowMs += 750;
    await crowd.pass(50);
    expect(crowd.refused).toEqual([]);
  });

  it('go to the others if a caller has disconnected', async () => {
    const crowd = new Crowd(1, 10);
    const isGone = new Set<string>();
    await crowd.arrive(...many(4).map(({ name = '' }) => ({ name, isGone: () => isGone.has(name) })));
    isGone.add('a1');
    await crowd.leave('a0'); // before a review
    expect([crowd.gone, crowd.entered]).toEqual([['a1'], ['a0', 'a2']]);
    isGone.add('a3');
    await crowd.pass(150);
    expect([crowd.gone, crowd.shedder.waiting]).toEqual([['a1', 'a3'], 0]);
    expect(crowd.shedder['reviews']).toBeUndefined();
  });
});

describe('a failing database behind a load shedder', () => {
  it('admits fewer at once, and more step by step', async () => {
    const crowd = new Crowd(8, 100);
    await crowd.arrive(...many(8));
    await crowd.pass(2_000);
    for (const permit of crowd.permits.values()) permit.endAdmission(true);
    const { admissions } = crowd.shedder;
    expect(admissions.current).toBe(4); // one round of failures halves it once
    await crowd.leave(...crowd.entered);
    await crowd.arrive(...many(6, {}, 'b'));
    expect(crowd.entered).toHaveLength(8 + 4);
    crowd.nowMs += 10;
    for (let at = 0; at < 4; at += 1) crowd.permits.get(`b${at}`)?.endAdmission(false);
    expect(admissions.current).toBe(4);
    await turn();
    expect(crowd.entered).toHaveLength(8 + 6);
    crowd.nowMs += 10_000;
    expect(admissions.current).toBe(8); // nothing has failed since
  });

  it('lets no request wait once it has confirmed nothing for the deadline of a request', async () => {
    const crowd = new Crowd(2, 100);
    await crowd.arrive(...many(6));
    for (const permit of crowd.permits.values()) permit.beginStep();
    await crowd.pass(1_500);
    crowd.permits.get('a0')?.endAdmission(false); // it still commits
    await crowd.pass(1_500);
    expect(crowd.refused).toEqual([]);
    await crowd.pass(700);
    expect(crowd.refused).toEqual(['a2', 'a3', 'a4', 'a5']);
    await crowd.arrive({ name: 'late' });
    expect([crowd.refused.at(-1), crowd.waits.get('late')]).toEqual(['late', 0]);
    crowd.permits.get('a1')?.endAdmission(false);
    await crowd.arrive({ name: 'again' });
    expect(crowd.shedder.waiting).toBe(1);
  });

  it('sends requests back at the pace of all permits, while failures return them', async () => {
    const crowd = new Crowd(64, 100);
    await crowd.arrive(...many(64 + 56));
    for (const permit of crowd.permits.values()) permit.beginStep();
    await crowd.pass(2_000);
    const failed = crowd.entered.slice(0, 31);
    for (const name of failed) crowd.permits.get(name)?.endAdmission(true);
    await crowd.leave(...failed);
    await crowd.pass(50);
    expect(crowd.refused).toHaveLength(56);
    expect(Math.max(...crowd.retryAfter.values())).toBe(2); // 56 requests, by 64 at once that take 2 s
  });

  it('lets requests wait for the upstream before and after the admission', async () => {
    const crowd = new Crowd(1, 100);
    await crowd.arrive(...many(2));
    await crowd.pass(3_000); // look-ups at the upstream
    crowd.permits.get('a0')?.beginStep();
    crowd.permits.get('a0')?.endAdmission(false);
    await crowd.pass(3_000);
    await crowd.leave('a0');
    expect(crowd.entered).toEqual(['a0', 'a1']);
  });
});
