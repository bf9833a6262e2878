import { freesKey, inDoubtSince, present, RecordedCall, stateOf } from './lifecycle';

const NOW = new Date('2026-11-21T12:00:00Z');
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000);
/** The upstream has 30 s. A call sent more than 60 s ago is given up. */
const AT = present(NOW, [7], 60_000);

const call = (more: Partial<RecordedCall>): RecordedCall => ({
  recordedAt: ago(1),
  process: 7,
  heldFor: null,
  expiresAt: null,
  decision: null,
  outcome: null,
  resolution: null,
  ...more,
});
const held = (more: Partial<RecordedCall>) =>
  call({ heldFor: 'over_threshold', expiresAt: ago(-60), recordedAt: ago(9_000), ...more });
const decided = (kind: string, seconds: number, process = 7) => ({ kind, decidedAt: ago(seconds), process });
const ended = (kind: string) => ({ kind, answeredAt: ago(5) });
const notExecuted = { outcome: 'not_executed' };

describe('the state of a call', () => {
  it.each([
    ['in_progress', 'sent a second ago by a process that lives', call({})],
    ['in_progress', 'as old as an answer may be', call({ recordedAt: ago(60) })],
    ['unknown', 'older', call({ recordedAt: ago(60.001) })],
    ['unknown', 'its process is gone', call({ process: 6 })],
    ['in_progress', 'from before processes had numbers', call({ process: null })],
    ['unknown', 'the same, older', call({ process: null, recordedAt: ago(61) })],
    [
      'succeeded',
      'an outcome came, though its process is gone',
      call({ process: 6, outcome: ended('succeeded') }),
    ],
    ['unknown', 'the outcome is that nobody knows', call({ outcome: ended('unknown') })],
    ['not_executed', 'and was settled', call({ outcome: ended('unknown'), resolution: notExecuted })],
    [
      'confirmed',
      'without an outcome, and was settled',
      call({ process: 6, resolution: { outcome: 'confirmed' } }),
    ],
    [
      'confirmed',
      'a settlement is younger than the answer',
      call({ outcome: ended('rejected'), resolution: { outcome: 'confirmed' } }),
    ],
    ['pending_approval', 'held, for however long', held({})],
    ['pending_approval', 'held by a process that is gone', held({ process: 6 })],
    ['expired', 'at the instant of its end', held({ expiresAt: NOW })],
    ['pending_approval', 'a moment before its end', held({ expiresAt: ago(-0.001) })],
    ['expired', 'held, until a moment ago', held({ expiresAt: ago(0.001) })],
    ['declined', 'rejected', held({ decision: decided('rejected', 1) })],
    [
      'declined',
      'rejected, and its time is up',
      held({ decision: decided('rejected', 1), expiresAt: ago(1) }),
    ],
    ['in_progress', 'approved a second ago', held({ decision: decided('approved', 1), process: 6 })],
    [
      'in_progress',
      'approved, and its time is up',
      held({ decision: decided('approved', 1), expiresAt: ago(1) }),
    ],
    ['unknown', 'approved by a process that is gone', held({ decision: decided('approved', 1, 6) })],
    ['unknown', 'approved long ago', held({ decision: decided('approved', 61) })],
    [
      'succeeded',
      'approved and paid',
      held({ decision: decided('approved', 61), outcome: ended('succeeded') }),
    ],
  ])('is %s: %s', (word, _why, recorded) => expect(stateOf(recorded, AT)).toBe(word));

  it('is in doubt since the end of waiting for its answer, or since its release', () => {
    expect(inDoubtSince(call({ outcome: ended('unknown') }), AT)).toEqual(ago(5));
    expect(inDoubtSince(call({ process: 6 }), AT)).toEqual(ago(1));
    expect(inDoubtSince(held({ decision: decided('approved', 2, 6) }), AT)).toEqual(ago(2));
    expect(inDoubtSince(call({ outcome: ended('unknown'), resolution: notExecuted }), AT)).toBeNull();
    expect(inDoubtSince(call({}), AT)).toBeNull();
  });

  it('frees the key of a rejected call only if the upstream rejected it at the door', () => {
    expect([401, 403, 429, 400, 422, null].filter((status) => freesKey('rejected', status))).toEqual([
      401, 403, 429,
    ]);
    expect([freesKey('not_sent', null), freesKey('unknown', 429), freesKey('declined', null)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
