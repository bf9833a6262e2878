/** Guards of sign-ins. */

const PROVIDER = 'src/credentials/openid/openid-provider.ts';
const SESSIONS = 'src/access/sessions/sessions.service.ts';
const SERVED = 'src/credentials/sign-in/serve-console-sign-in.ts';
const STEP_UP = 'src/access/auth/step-up.ts';
const LOGOUT_TOKEN = 'src/credentials/openid/provider-tokens.ts';
const LOGOUTS = 'test/access/page-sessions/logout-tokens.spec.ts';
const ATTACKS = 'test/access/page-sessions/sign-in-attacks.spec.ts';

export const SIGN_INS = [
  {
    name: 'sign-in-state',
    guards: 'a sign-in started in another browser',
    edits: [
      [
        PROVIDER,
        'expectedState: stateOf(transaction)',
        "expectedState: callback.searchParams.get('state') ?? stateOf(transaction)",
      ],
    ],
    noticedBy: ATTACKS,
    test: 'cannot use a callback with another state',
  },
  {
    name: 'sign-in-nonce',
    guards: 'an ID token made for another sign-in',
    edits: [[PROVIDER, '    expectedNonce: nonceOf(transaction),\n', '']],
    noticedBy: ATTACKS,
    test: 'signs in if all claims are valid', // without it, the library accepts no token with a nonce
  },
  {
    name: 'id-token-signature',
    guards: 'an ID token not signed by the provider',
    edits: [[PROVIDER, '    await verifyWith(keys, idToken, (key) => compactVerify(idToken, key));\n', '']],
    noticedBy: ATTACKS,
    test: 'signed with another key is refused',
  },
  {
    name: 'duplicate-key-ids-sign-in',
    guards: 'sign-ins and sign-outs that fail because a provider publishes two keys with one `kid`',
    edits: [
      ['src/credentials/openid/provider-tokens.ts', 'fitting.map(verify)', 'fitting.slice(0, 1).map(verify)'],
    ],
    noticedBy: LOGOUTS,
    test: 'signed with a second key of the same ID ends sessions, and with an unknown key does not',
  },
  {
    name: 'step-up-strength',
    guards: 'a step-up without proof from the provider',
    edits: [[PROVIDER, "    if (!isStrong) throw new SignInFailure('too_weak');\n", '']],
    noticedBy: 'test/access/page-sessions/step-up.spec.ts',
    test: 'rejects a password alone',
  },
  {
    name: 'planted-session',
    guards: 'a session planted before the sign-in',
    edits: [
      [
        SERVED,
        '  if (transaction.replaces !== undefined) await ' +
          'sessions.replace(transaction.replaces).catch(noDatabase);\n',
        '',
      ],
    ],
    noticedBy: ATTACKS,
    test: 'cannot fix a session that the victim then signs in to',
  },
  {
    name: 'redirect-after-sign-in',
    guards: 'an open redirect after the sign-in',
    edits: [['src/credentials/sign-in/return-to.ts', 'return isOurs ? ', 'return asked ? asked : isOurs ? ']],
    noticedBy: 'test/access/page-sessions/sign-in.spec.ts',
    test: 'never returns to',
  },
  {
    name: 'session-of-another-provider',
    guards: 'a session of a replaced provider',
    edits: [
      [
        SESSIONS,
        "WHEN 'sign_in' THEN k.issuer = $3 ELSE",
        "WHEN 'sign_in' THEN k.issuer <> coalesce($3, '') OR TRUE ELSE",
      ],
    ],
    noticedBy: 'test/access/page-sessions/sign-in.spec.ts',
    test: 'ends its sessions when people can no longer sign in the same way',
  },
  {
    name: 'step-up-age',
    guards: "an approval in an approver's unattended browser",
    edits: [[STEP_UP, 'ageSeconds <= maxAgeSeconds', 'ageSeconds >= 0']],
    noticedBy: 'test/access/page-sessions/step-up.spec.ts',
    test: 'expires, and is required again',
  },
  {
    name: 'keys-and-step-up',
    guards: 'an approval by a key, which proves nothing about a person',
    edits: [[STEP_UP, 'if (signIn === undefined) return false;', 'if (signIn === undefined) return true;']],
    noticedBy: 'test/access/page-sessions/step-up.spec.ts',
    test: 'cannot be done with a key',
  },
  {
    name: 'logout-token-replay',
    guards: 'sessions ended by a replayed logout token',
    edits: [
      [
        'src/access/sessions/provider-sign-outs.service.ts',
        'if (!(await useToken(tx, token))) return false;',
        'await useToken(tx, token);',
      ],
    ],
    noticedBy: LOGOUTS,
    test: 'ends sessions once, and is rejected when replayed',
  },
  {
    name: 'logout-token-type',
    guards: 'an access token sent as a logout token',
    edits: [
      [LOGOUT_TOKEN, "if (!TYPES.test(protectedHeader.typ ?? 'JWT'))", "if (protectedHeader.typ === 'none')"],
    ],
    noticedBy: LOGOUTS,
    test: 'that is an access token ends no session',
  },
  {
    name: 'logout-token-of-another-party',
    guards: 'sessions ended by the sign-out from another client',
    edits: [[LOGOUT_TOKEN, '.filter((id) => azp === undefined || id === azp)', '']],
    noticedBy: LOGOUTS,
    test: 'of another authorized party ends no session',
  },
  {
    name: 'logout-token-age',
    guards: 'sessions that began after the logout token was made',
    edits: [[LOGOUT_TOKEN, '    maxTokenAge: MAX_AGE_SECONDS,\n', '']],
    noticedBy: LOGOUTS,
    test: 'from the future ends no session',
  },
  {
    name: 'sign-out-at-a-provider-of-ours',
    guards: 'a sign-out redirected by a planted cookie',
    edits: [
      [
        'src/credentials/sign-in/sign-out.ts',
        'if (client === undefined) return',
        'if (returnTo !== undefined) return String(returnTo);\n  if (client === undefined) return',
      ],
    ],
    noticedBy: ATTACKS,
    test: 'cannot redirect away from the provider with a planted sign-out cookie',
  },
  {
    name: 'name-of-the-provider',
    guards: 'limits and revocations bypassed by another name of the provider',
    edits: [[PROVIDER, 'if (metadata.issuer === issuer) ', 'if (metadata.issuer) ']],
    noticedBy: 'test/access/page-sessions/page-session-id-tokens.full.spec.ts',
    test: 'is refused if its issuer is configured differently',
  },
  {
    name: 'operator-as-requester',
    guards: 'an approval by an operator of their own request on a page',
    edits: [
      [
        'prisma/migrations/20261124000000_init/migration.sql',
        "SELECT coalesce(of_subject, of_name), 'sign_in', TRUE, identity_sha256(their_issuer, their_subject)",
        "SELECT coalesce(of_subject, of_name), 'sign_in', TRUE, identity_sha256(their_issuer, their_name)",
      ],
    ],
    noticedBy: 'test/approvals/approvals-persons.full.spec.ts',
    test: 'is required after a request in a page session or with a token, also without the name',
  },
];
