/** Guards of access tokens and their proofs of possession. */

const TOKENS = 'src/access/tokens/tokens.service.spec.ts';
const STRICT_JSON = 'src/platform/json/strict-json.ts';
const KEYS = 'src/access/tokens/provider-keys.spec.ts';
const REVOKED = 'test/access/keys/tokens-revoked.spec.ts';
const DPOP = 'test/access/keys/dpop.spec.ts';

export const ACCESS_TOKENS = [
  {
    name: 'token-type',
    guards: 'ID tokens and other tokens of the same provider',
    edits: [
      [
        'src/access/tokens/access-token.ts',
        'return typeof typ === ',
        'return typ === undefined || typeof typ === ',
      ],
    ],
    noticedBy: TOKENS,
    test: 'rejects forged tokens',
  },
  {
    name: 'token-of-another-party',
    guards: 'a token issued by the provider to another app',
    edits: [['src/access/tokens/access-token.ts', ' || azp !== clientId)', ')']],
    noticedBy: TOKENS,
    test: 'refuses a token of another authorized party',
  },
  {
    name: 'token-of-several-actors',
    guards: 'records without the first of several actors',
    edits: [['src/access/tokens/access-token.ts', 'if (act.act !== undefined)', 'if (act.act === null)']],
    noticedBy: TOKENS,
    test: 'with several actors',
  },
  {
    name: 'token-age',
    guards: 'an access token valid for years',
    edits: [
      [
        'src/access/callers/token-callers.service.ts',
        'Math.min(expiresAt, issuedAt + maxAge)',
        'Math.max(expiresAt, maxAge - issuedAt)',
      ],
    ],
    noticedBy: 'test/access/keys/tokens.spec.ts',
    test: 'ends a day after issue, even if it expires in the year 4000',
  },
  {
    name: 'token-spelling',
    guards: 'tokens with an ambiguous spelling',
    edits: [[STRICT_JSON, 'membersOf(value) !== names', 'membersOf(value) < 0']],
    noticedBy: TOKENS,
    test: 'rejects forged tokens',
  },
  {
    name: 'screening-verdict',
    guards: 'a denied payment whose answer has a second verdict',
    edits: [['src/gateway/screening/screening.service.ts', 'readStrictJson(text) as', 'JSON.parse(text) as']],
    noticedBy: 'test/limits/screening.spec.ts',
    test: 'refuses with 503 if the service answers two verdicts',
  },
  {
    name: 'upstream-duplicate-members',
    guards: 'an answer that the app and the proxy read differently',
    edits: [
      [
        'src/gateway/upstream/answers/answer.ts',
        'return readExactJson(body)',
        "return JSON.parse(body.toString('utf8'))",
      ],
    ],
    noticedBy: 'src/gateway/upstream/answers/answer.spec.ts',
    test: 'because parsers differ on duplicate names',
  },
  {
    name: 'duplicate-key-ids',
    guards: 'rejected tokens of a provider with two keys of one name',
    edits: [
      [
        'src/access/tokens/provider-keys.ts',
        'JWKSMultipleMatchingKeys && header.kid !== undefined',
        'JWKSMultipleMatchingKeys && header.kid === null',
      ],
    ],
    noticedBy: TOKENS,
    test: 'tries each key with one ID',
  },
  {
    name: 'public-url',
    guards: 'a proof, a page or a sign-in for a host named by the caller',
    edits: [['src/access/auth/origins.ts', '=== origin);', '!== undefined);']],
    noticedBy: 'test/architecture/public-url.spec.ts',
  },
  {
    name: 'outermost-proxy',
    guards: 'a forwarded entry forged by the caller before those of the trusted proxies',
    edits: [
      [
        'src/access/auth/origins.ts',
        'return caller !== undefined && !isTrusted(caller);',
        'return caller === header;',
      ],
    ],
    noticedBy: 'src/access/auth/origins.spec.ts',
  },
  {
    name: 'token-source',
    guards: 'cached tokens of a provider that the client no longer accepts',
    edits: [['src/access/tokens/tokens.service.ts', 'if (known?.source === sourceText)', 'if (known)']],
    noticedBy: TOKENS,
    test: 'after a change of its provider',
  },
  {
    name: 'provider-keys-age',
    guards: 'keys of a provider that has been unreachable for too long',
    edits: [['src/access/tokens/provider-keys.ts', '!this.keys || this.ageMs > this.maxAgeMs', '!this.keys']],
    noticedBy: KEYS,
    test: 'up to the maximum age',
  },
  {
    name: 'provider-keys-flood',
    guards: 'a flood of key requests to a provider, caused by forged tokens',
    edits: [['src/access/tokens/provider-keys.ts', '< COOL_DOWN_MS', '< 0']],
    noticedBy: KEYS,
    test: 'does not flood',
  },
  {
    name: 'person-of-another-client',
    guards: 'a revocation by ID that affects people of other clients',
    edits: [
      [
        'src/access/people/person-revocations.service.ts',
        'WHERE id = ${id}::uuid AND client_id = ${clientId}::uuid FOR UPDATE',
        'WHERE id = ${id}::uuid FOR UPDATE',
      ],
    ],
    noticedBy: REVOKED,
    test: 'by person ID takes effect at once, for the client of the person only',
  },
  {
    name: 'token-of-revoked-person',
    guards: 'tokens issued before a revocation of their person',
    edits: [
      ['src/access/callers/token-callers.service.ts', 'if (predates(row.revokedAt, ', 'if (predates(null, '],
    ],
    noticedBy: REVOKED,
    test: 'affects one person at once on every instance',
  },
  {
    name: 'token-from-before-a-recovery',
    guards: 'tokens issued before a recovery of the database, which may lack their revocation',
    edits: [
      [
        'src/access/callers/token-callers.service.ts',
        'if (predates(row.recoveredAt, ',
        'if (predates(null, ',
      ],
    ],
    noticedBy: REVOKED,
    test: 'covers all tokens from before a recovery, because revocations may be lost',
  },
  {
    name: 'person-revocation-everywhere',
    guards: 'a revoked person whose caller is cached on another instance',
    edits: [
      [
        'src/access/people/person-revocations.service.ts',
        'UPDATE client SET name = name WHERE id = ${id}::uuid',
        'SELECT FROM client WHERE id = ${id}::uuid',
      ],
    ],
    noticedBy: REVOKED,
    test: 'affects one person at once on every instance',
  },
  {
    name: 'separate-provider-keys',
    guards: "a revoked key that one person replaces through the client's other provider",
    edits: [
      [
        'src/access/clients/key-rows.ts',
        'KINDS.filter((provider) => hasChanged(provider, before, after))',
        'KINDS.filter(() => KINDS.some((one) => hasChanged(one, before, after)))',
      ],
    ],
    noticedBy: 'test/access/page-sessions/page-providers.full.spec.ts',
    test: 'lets no single person replace a revoked key',
  },
  {
    name: 'bound-token-as-bearer',
    guards: 'stolen key-bound tokens, sent as bearer tokens',
    edits: [
      [
        'src/access/auth/authenticate.ts',
        "if (scheme === 'Bearer')",
        "if (scheme !== 'Bearer' && scheme !== 'DPoP')",
      ],
    ],
    noticedBy: DPOP,
    test: 'is rejected as a bearer token',
  },
  {
    name: 'proof-replay',
    guards: 'proofs already used on another instance',
    edits: [['src/access/tokens/used-proofs.service.ts', 'if (!isFirst)', 'if (!isFirst && !proof)']],
    noticedBy: DPOP,
    test: 'rejects a replayed proof, concurrently and on another instance',
  },
  {
    name: 'token-starts-no-session',
    guards: "a session with all scopes of the client, started with one person's token",
    edits: [
      ['src/access/auth/route-access.ts', "caller.credential.kind === 'key' || isForApps(allowed)", 'true'],
    ],
    noticedBy: 'test/access/keys/tokens.spec.ts',
    test: 'starts no console session, which would grant all scopes of the client',
  },
];
