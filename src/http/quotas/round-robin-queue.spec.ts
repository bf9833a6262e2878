import fc from 'fast-check';
import { RoundRobinQueue } from './round-robin-queue';

describe('fair lines', () => {
  it('skips a client that may not go, and keeps its turn', () => {
    const queue = new RoundRobinQueue<string>();
    queue.add('a', 'a1');
    queue.add('b', 'b1');
    expect(queue.next((client) => client !== 'a')).toBe('b1');
    expect(queue.next(() => true)).toBe('a1');
    expect(queue.next(() => true)).toBeUndefined();
  });

  it('lists its entries in the order of their turns, and bounds the turn of a new one', () => {
    const anyLines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 });
    fc.assert(
      fc.property(anyLines, fc.nat(10), (clients, taken) => {
        const queue = new RoundRobinQueue<string>();
        clients.forEach((client, at) => queue.add(client, `${client}${at}`));
        for (let turn = 0; turn < taken; turn += 1) queue.next(() => true);
        const most = queue.aheadOf('a');
        queue.add('a', 'new');
        const order = queue.inTurnOrder();
        expect(order.indexOf('new')).toBeLessThanOrEqual(most);
        expect(order.map(() => queue.next(() => true))).toEqual(order);
        expect([queue.size, queue.lineCount]).toEqual([0, 0]);
      }),
    );
  });
});
