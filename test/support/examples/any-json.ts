import fc from 'fast-check';

export const PERSON = { email: 'ada@example.com', phone: '+254712345678', id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' };

/** Names as services give them to fields. */
export const NAME = fc.oneof(
  fc.constantFrom(
    'chiRef',
    'email',
    'valueInUSD',
    '_seconds',
    '__proto__',
    'constructor',
    'toString',
    'line2',
  ),
  fc.stringMatching(/^[a-z_]{1,6}$/),
);
/** JSON as the upstream may send it, small enough that nothing is cut. */
export const JSON_VALUE = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, 0.1, '0.1', 'None', ''),
    fc.array(tie('any'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.oneof(NAME, fc.constantFrom(...Object.values(PERSON), '0', '')), tie('any')), {
        maxLength: 5,
      })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).any;

/** Distinct names of letters. */
export const distinctNames = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    `n${n}`.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? ''),
  );
