/** The guards of keys that an app's server gives to a phone or a page. See guards.mjs. */

const CALLERS = 'test/access/keys/ephemeral-callers.full.spec.ts';
const ENDS = 'test/access/keys/ephemeral-ends.full.spec.ts';

export const EPHEMERAL_KEYS = [
  {
    name: 'ephemeral-key-before-sending',
    guards: 'a payment whose ephemeral key expired after its admission',
    edits: [['src/gateway/forwarding/exchange.service.ts', ' || hasEnded(call.caller));', ' || !hasEnded);']],
    noticedBy: ENDS,
    test: 'sends nothing if it expires between admission and sending',
  },
  {
    name: 'ephemeral-key-revocation',
    guards: 'an ephemeral key that was revoked on another instance while its caller is remembered here',
    edits: [
      [
        'src/access/ephemeral/ephemeral-keys.service.ts',
        'UPDATE client SET name = name WHERE id = ${client.id}::uuid',
        'SELECT FROM client WHERE id = ${client.id}::uuid',
      ],
    ],
    noticedBy: ENDS,
    test: 'is refused by another instance that had cached it, from the first request after its revocation',
  },
  {
    name: 'ephemeral-key-recovery',
    guards: 'an ephemeral key from before a recovery of the database, which may lack its revocation',
    edits: [['src/access/callers/end-credentials.ts', 'AND now() < expires_at`', 'AND now() > expires_at`']],
    noticedBy: ENDS,
    test: 'is refused by another instance that had cached it, from the first request after its revocation',
  },
  {
    name: 'ephemeral-key-held',
    guards: 'a held call whose ephemeral key was revoked',
    edits: [['src/admin/approvals/requesters.ts', "AND ${STATE} <> 'revoked'", "AND ${STATE} <> ''"]],
    noticedBy: ENDS,
    test: 'lets its held calls be approved after its expiry, but not after its revocation',
  },
  {
    name: 'ephemeral-key-without-countries',
    guards: 'an ephemeral key of which no country is left, as an empty list means any',
    edits: [['src/access/callers/key-callers.service.ts', "return both.length === 0 ? 'none' : both;", 'return both;']],
    noticedBy: CALLERS,
    test: 'loses the permissions that its client loses',
  },
  {
    name: 'ephemeral-key-routes',
    guards: 'routes of operators and sign-ins that any scope opens',
    edits: [['src/access/auth/route-access.ts', "caller.credential.kind === 'key' || isForApps(allowed)", 'true']],
    noticedBy: CALLERS,
    test: 'opens its operations and its own calls only',
  },
  {
    name: 'ephemeral-key-makes-keys',
    guards: 'ephemeral keys that would make others and outlive themselves',
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
    guards: 'a payment to a recipient that an ephemeral key does not name',
    edits: [['src/gateway/forwarding/ownership/own-limits.ts', 'others ? [others] : []', 'others ? [] : []']],
    noticedBy: CALLERS,
    test: 'pays only its own recipients, in any spelling',
  },
];
