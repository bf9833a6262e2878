/** Guards of keys that an app's server mints for a phone or a page. */

const CALLERS = 'test/access/keys/ephemeral-callers.full.spec.ts';
const ENDS = 'test/access/keys/ephemeral-ends.full.spec.ts';

export const EPHEMERAL_KEYS = [
  {
    name: 'ephemeral-key-before-sending',
    guards: 'a payment with an ephemeral key that expired after its admission',
    edits: [['src/gateway/forwarding/exchange.service.ts', ' || hasEnded(call.caller));', ' || !hasEnded);']],
    noticedBy: ENDS,
    test: 'sends nothing if it expires between admission and sending',
  },
  {
    name: 'ephemeral-key-revocation',
    guards: 'an ephemeral key revoked on another instance, with a cached caller here',
    edits: [
      [
        'src/access/ephemeral/ephemeral-keys.service.ts',
        'UPDATE client SET name = name WHERE id = ${client.id}::uuid',
        'SELECT FROM client WHERE id = ${client.id}::uuid',
      ],
    ],
    noticedBy: ENDS,
    test: 'is refused by every instance from the first request after its revocation',
  },
  {
    name: 'ephemeral-key-recovery',
    guards: 'an ephemeral key issued before a recovery, which may lack its revocation',
    edits: [['src/access/callers/end-credentials.ts', 'AND now() < expires_at`', 'AND now() > expires_at`']],
    noticedBy: ENDS,
    test: 'is refused by every instance from the first request after its revocation',
  },
  {
    name: 'ephemeral-key-held',
    guards: 'a held call with a revoked ephemeral key',
    edits: [['src/gateway/waiting/requesters.ts', "AND ${STATE} <> 'revoked'", "AND ${STATE} <> ''"]],
    noticedBy: ENDS,
    test: 'lets its held calls be approved after its expiry, but not after its revocation',
  },
  {
    name: 'ephemeral-key-without-countries',
    guards: 'an ephemeral key with no country left, whose empty list means any',
    edits: [
      [
        'src/access/callers/key-callers.service.ts',
        "return both.length === 0 ? 'none' : both;",
        'return both;',
      ],
    ],
    noticedBy: CALLERS,
    test: 'loses the permissions that its client loses',
  },
  {
    name: 'ephemeral-key-routes',
    guards: 'routes of operators and sign-ins open to any scope',
    edits: [
      ['src/access/auth/route-access.ts', "caller.credential.kind === 'key' || isForApps(allowed)", 'true'],
    ],
    noticedBy: CALLERS,
    test: 'opens its operations and its own calls only',
  },
  {
    name: 'ephemeral-key-makes-keys',
    guards: 'ephemeral keys that create others and outlive themselves',
    edits: [
      [
        'src/access/auth/route-access.ts',
        "return caller?.credential.kind === 'key' && sessionToken === undefined;",
        'return caller !== undefined || sessionToken === undefined;',
      ],
    ],
    noticedBy: 'test/access/keys/ephemeral-keys.spec.ts',
    test: 'accepts only valid secret keys, not ephemeral keys, sessions or revoked keys',
  },
  {
    name: 'ephemeral-key-recipients',
    guards: "a payment to a recipient outside of an ephemeral key's list",
    edits: [['src/gateway/forwarding/ownership/own-limits.ts', 'others ? [others] : []', 'others ? [] : []']],
    noticedBy: CALLERS,
    test: 'pays only its own recipients, in any spelling',
  },
];
