import { Effort, Work } from './work';

function* endless(): Work<void> {
  for (;;) yield 1;
}

describe('an effort', () => {
  it('stops its work on abort', async () => {
    const stopping = new AbortController();
    const working = new Effort(stopping.signal).all(endless());
    setImmediate(() => stopping.abort());
    await expect(working).rejects.toThrow('aborted');
  });
});
