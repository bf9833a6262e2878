import { noneOpen, paceWords, runwayWords, upstreamWords } from './words';

const run = (result: string | null, state = 'ended') => ({ result, state }) as never;

describe('the words of the overview', () => {
  it.each([
    [null, 'No reconciliation run yet.'],
    [run('clean'), 'Every difference is explained.'],
    [run('clean_with_doubts'), 'Every difference is explained.'],
    [run('findings'), 'Every difference is explained.'],
    [run(null, 'running'), 'No open findings. A run is in progress.'],
    [run(null, 'queued'), 'No open findings. A run is in progress.'],
    [run(null, 'interrupted'), 'No open findings, but the last run was incomplete.'],
    [run('failed'), 'No open findings, but the last run was incomplete.'],
    [run('incomplete'), 'No open findings, but the last run was incomplete.'],
  ])('explain after %j that no finding is open: %s', (last, words) => expect(noneOpen(last)).toBe(words));

  it.each([
    [null, 'Nothing was spent in the last 24 hours.'],
    [0, 'Lasts 0 hours at the pace of the last 24 hours.'],
    [172_799, 'Lasts 47 hours at the pace of the last 24 hours.'],
    [172_800, 'Lasts 2 days at the pace of the last 24 hours.'],
  ])('describe a balance that lasts %s seconds', (seconds, words) =>
    expect(runwayWords(seconds)).toBe(words),
  );

  it.each([
    [9_000, 0, 'None was sent in the last minute.'],
    [9_001, 3_000, '3,000 were sent in the last minute. At this pace, the last is sent in 4 minutes.'],
    [1, 1, '1 was sent in the last minute. At this pace, the last is sent in a minute.'],
  ])('describe the pace of a queue of %s calls, %s of them in a minute', (calls, released, words) =>
    expect(paceWords(calls, released)).toBe(words),
  );

  it('report the upstream as answering only after a recent answer', () => {
    const now = Date.parse('2026-11-20T12:00:00Z');
    expect(upstreamWords(null, now)).toBe('not used yet');
    expect(upstreamWords('2026-11-20T11:50:00Z', now)).toBe('answering');
    expect(upstreamWords('2026-11-20T11:00:00Z', now)).toBe('not used recently');
  });
});
