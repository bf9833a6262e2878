import { Effort, Work } from './work';

function* endless(): Work<void> {
  for (;;) yield 1;
}

describe('an effort', () => {
  it('ends its work when it is aborted', async () => {
    const stopping = new AbortController();
    const working = new Effort(stopping.signal).all(endless());
    setImmediate(() => stopping.abort());
    await expect(working).rejects.toThrow('aborted');
  });
});
