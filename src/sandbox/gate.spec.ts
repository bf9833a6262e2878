import { Gate } from './read-write-lock';

/** A work that is inside until it is ended; `log` tells when it began and ended. */
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

describe('Gate', () => {
  it('runs tasks concurrently', async () => {
    const log: string[] = [];
    const [a, b] = [workOf('a', log), workOf('b', log)];
    const gate = new Gate();
    const passed = [gate.pass(a.work), gate.pass(b.work)];
    await turn();
    expect(log).toEqual(['a begins', 'b begins']);
    b.end();
    a.end();
    await Promise.all(passed);
  });

  it('runs an exclusive task alone, after earlier and before later tasks', async () => {
    const log: string[] = [];
    const [inside, alone, second, later] = ['inside', 'alone', 'second', 'later'].map((name) =>
      workOf(name, log),
    );
    const gate = new Gate();
    const all = [gate.pass(inside!.work)];
    await turn();
    all.push(gate.close(alone!.work), gate.close(second!.work), gate.pass(later!.work));
    for (const { end } of [inside!, alone!, second!, later!]) {
      await turn();
      end();
    }
    await Promise.all(all);
    const order = ['inside', 'alone', 'second', 'later'];
    expect(log).toEqual(order.flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it('reopens after a failed task', async () => {
    const gate = new Gate();
    const failing = () => Promise.reject(new Error('failed'));
    await expect(gate.pass(failing)).rejects.toThrow('failed');
    await expect(gate.close(failing)).rejects.toThrow('failed');
    await expect(gate.pass(() => Promise.resolve('passed'))).resolves.toBe('passed');
  });
});
