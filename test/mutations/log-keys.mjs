/** Guards of a rotation of the log's key. */

const TRUST = 'src/history/log/verify/key-trust.ts';
const KEYS = 'test/history/log/log-keys.full.spec.ts';

export const LOG_KEYS = [
  {
    name: 'dropped-key',
    guards: 'a new key of the log that no earlier key introduced',
    edits: [
      [
        'src/history/log/sealing/head-check.ts',
        'if (!currentOf(ring, head.signers)) {',
        'if (head.size < 0) {',
      ],
    ],
    noticedBy: KEYS,
    test: 'is refused by the sealer and at the start until both keys have signed a checkpoint',
  },
  {
    name: 'retired-key',
    guards: 'checkpoints signed by a stolen old key',
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
    guards: "an old key's signature added to a note of the new key",
    edits: [[TRUST, 'if (head.keys.length === 0 && signers.length > 1) {', 'if (head.size < 0) {']],
    noticedBy: KEYS,
    test: 'cannot be reused as a second signature next to the new key',
  },
  {
    name: 'unsigned-name',
    guards: 'a key named in a text without its signature',
    edits: [[TRUST, 'if (!head.keys.every((key) => all.includes(key))) throw', 'if (head.size < 0) throw']],
    noticedBy: KEYS,
    test: 'is rejected without the signature of a key that its text names',
  },
  {
    name: 'retired-excuse',
    guards: 'erasures signed by a stolen old key',
    edits: [[TRUST, 'return left === undefined || (', 'return left !== -1 || (']],
    noticedBy: KEYS,
    test: 'cannot excuse deletions after the change',
  },
];
