/** The guards of a change of the log's key. See guards.mjs. */

const TRUST = 'src/history/log/verify/key-trust.ts';
const KEYS = 'test/history/log/log-keys.full.spec.ts';

export const LOG_KEYS = [
  {
    name: 'dropped-key',
    guards: 'the log from a new key that no earlier key has introduced',
    edits: [['src/history/log/sealing/head-check.ts', 'if (!currentOf(ring, head.signers)) {', 'if (head.size < 0) {']],
    noticedBy: KEYS,
    test: 'is refused, by the sealer and at the start, before a checkpoint was signed by both keys',
  },
  {
    name: 'retired-key',
    guards: 'the log from checkpoints of a stolen old key',
    edits: [
      [
        TRUST,
        'if (!signers.some((key) => this.trusted.has(key))) {',
        'if (!signers.some((key) => this.known.has(key))) {',
      ],
    ],
    noticedBy: KEYS,
    test: 'cannot sign a checkpoint after the change',
  },
  {
    name: 'added-signature',
    guards: 'the log from an old key whose signature is added to a note of the new one',
    edits: [[TRUST, 'if (head.keys.length === 0 && signers.length > 1) {', 'if (head.size < 0) {']],
    noticedBy: KEYS,
    test: 'cannot return by a signature beside that of the new key',
  },
  {
    name: 'unsigned-name',
    guards: 'the log from a key that a text names and that did not sign it',
    edits: [[TRUST, 'if (!head.keys.every((key) => all.includes(key))) throw', 'if (head.size < 0) throw']],
    noticedBy: KEYS,
    test: 'is rejected if one of the keys that its text names did not sign it',
  },
  {
    name: 'retired-excuse',
    guards: 'the history from erasures that a stolen old key signs',
    edits: [[TRUST, 'return left === undefined || (', 'return left !== -1 || (']],
    noticedBy: KEYS,
    test: 'cannot excuse deletions after the change',
  },
];
