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
});
