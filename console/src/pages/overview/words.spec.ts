import { noneOpen, upstreamWords } from './words';

const run = (result: string | null, state = 'ended') => ({ result, state }) as never;

describe('the words of the overview', () => {
  it.each([
    [null, 'No run has looked for differences.'],
    [run('clean'), 'Every difference is explained.'],
    [run('clean_with_doubts'), 'Every difference is explained.'],
    [run('findings'), 'Every difference is explained.'],
    [run(null, 'running'), 'No finding waits. A run is in progress.'],
    [run(null, 'interrupted'), 'No finding waits, but the last run did not compare everything.'],
    [run('failed'), 'No finding waits, but the last run did not compare everything.'],
    [run('incomplete'), 'No finding waits, but the last run did not compare everything.'],
  ])('no open finding after %j: %s', (last, words) => expect(noneOpen(last)).toBe(words));

  it('says that the upstream answers only if it answered lately', () => {
    const now = Date.parse('2026-11-20T12:00:00Z');
    expect(upstreamWords(null, now)).toBe('not asked yet');
    expect(upstreamWords('2026-11-20T11:50:00Z', now)).toBe('answering');
    expect(upstreamWords('2026-11-20T11:00:00Z', now)).toBe('not asked lately');
  });
});
