import { ReadWriteLock } from './read-write-lock';

/** A task that runs until `end` is called, and logs its begin and end. */
function workOf(name: string, log: string[]) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const work = async () => {
    log.push(`${name} begins`);
    await ended;
    log.push(`${name} ends`);
  };
  return { work, end: () => end() };
}

const turn = () => new Promise(setImmediate);

describe('ReadWriteLock', () => {
  it('runs tasks concurrently', async () => {
    const log: string[] = [];
    const [a, b] = [workOf('a', log), workOf('b', log)];
    const lock = new ReadWriteLock();
    const passed = [lock.pass(a.work), lock.pass(b.work)];
    await turn();
    expect(log).toEqual(['a begins', 'b begins']);
    b.end();
    a.end();
    await Promise.all(passed);
  });

  it('runs an exclusive task alone, between earlier and later tasks', async () => {
    const log: string[] = [];
    const [inside, alone, second, later] = ['inside', 'alone', 'second', 'later'].map((name) =>
      workOf(name, log),
    );
    const lock = new ReadWriteLock();
    const all = [lock.pass(inside!.work)];
    await turn();
    all.push(lock.close(alone!.work), lock.close(second!.work), lock.pass(later!.work));
    for (const { end } of [inside!, alone!, second!, later!]) {
      await turn();
      end();
    }
    await Promise.all(all);
    const order = ['inside', 'alone', 'second', 'later'];
    expect(log).toEqual(order.flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it('reopens after a failed task', async () => {
    const lock = new ReadWriteLock();
    const failing = () => Promise.reject(new Error('failed'));
    await expect(lock.pass(failing)).rejects.toThrow('failed');
    await expect(lock.close(failing)).rejects.toThrow('failed');
    await expect(lock.pass(() => Promise.resolve('passed'))).resolves.toBe('passed');
  });
});
