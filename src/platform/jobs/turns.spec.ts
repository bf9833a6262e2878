import { once } from 'node:events';
import { Turns } from './turns';

const LONG_MS = 60_000;

describe('the turns of a job', () => {
  const stop = new AbortController();
  const turns = new Turns(stop.signal);

  it('begin after a while', async () => {
    await turns.wait(1);
  });

  it('begin at once when there is news, also if it came during the turn before', async () => {
    const waiting = turns.wait(LONG_MS);
    turns.wake();
    await waiting;
    turns.wake();
    await turns.wait(LONG_MS);
  });

  it('are over when the job has to end', async () => {
    const waiting = turns.wait(LONG_MS);
    expect(turns.areOver).toBe(false);
    stop.abort();
    await waiting;
    await turns.wait(LONG_MS);
    expect(turns.areOver).toBe(true);
  });

  it('end many jobs by one signal, without a warning of the runtime', async () => {
    const ending = new AbortController();
    const warned = once(process, 'warning');
    for (let job = 0; job < 20; job++) new Turns(ending.signal);
    process.emitWarning('the last one');
    expect(await warned).toEqual([expect.objectContaining({ message: 'the last one' })]);
  });
});
