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
});
