/** Guards of page sessions. */

const AUTHENTICATE = 'src/access/auth/authenticate.ts';
const SESSIONS = 'src/access/sessions/page-sessions.service.ts';
const SERVED = 'src/credentials/sign-in/serve-page-sign-in.ts';
const ATTACKS = 'test/access/page-sessions/page-session-attacks.full.spec.ts';
const ENDS = 'test/access/page-sessions/page-session-ends.full.spec.ts';
const SCHEMA = 'prisma/migrations/20261124000000_init/migration.sql';

export const PAGE_SESSIONS = [
  {
    name: 'csrf-of-pages',
    guards: 'a sign-out requested by a neighboring page',
    edits: [
      [AUTHENTICATE, "  if (!isRead && !hasCsrfToken(request, token)) throw new Problem('csrf');\n", ''],
    ],
    noticedBy: ATTACKS,
    test: 'cannot pay or read with the cookie alone',
  },
  {
    name: 'cookie-of-another-client',
    guards: 'a session requested under the name of another client',
    edits: [[AUTHENTICATE, 'caller?.clientName !== client', 'caller === undefined']],
    noticedBy: ATTACKS,
    test: 'cannot use the cookie secret as another credential, or another secret as the cookie',
  },
  {
    name: 'page-redirect-after-sign-in',
    guards: "a cookie that redirects to an attacker's page after the sign-in",
    edits: [
      [
        SERVED,
        'pageReturnTo(transaction.returnTo, pages.caller.limits.origins)',
        'pages.caller.limits.origins && transaction.returnTo',
      ],
    ],
    noticedBy: ATTACKS,
    test: 'cannot redirect away from the page after the sign-in',
  },
  {
    name: 'planted-page-session',
    guards: 'a page session planted before the sign-in',
    edits: [
      [
        SERVED,
        '  if (transaction.replaces !== undefined) await ' +
          'pageSessions.replace(transaction.replaces).catch(noDatabase);\n',
        '',
      ],
    ],
    noticedBy: ATTACKS,
    test: 'cannot fix a session that the victim then signs in to',
  },
  {
    name: 'credentials-of-origins',
    guards: 'cookies of pages whose client has no page sessions',
    edits: [['src/access/auth/origins.ts', 'credentials: allowed.cookies', 'credentials: true']],
    noticedBy: ATTACKS,
    test: 'cannot read responses from another origin, even one that another client allows',
  },
  {
    name: 'sessions-of-removed-origins',
    guards: 'sessions that survive the removal of their origin, once it is added again',
    edits: [
      ['src/access/clients/client-writes.ts', '    await endSessionsOfRemovedOrigins(tx, after);\n', ''],
    ],
    noticedBy: ENDS,
    test: 'ends for good when its origin is removed, and sessions of other origins continue',
  },
  {
    name: 'sessions-without-their-origin',
    guards: 'sessions on an origin that their client no longer has',
    edits: [[SESSIONS, ' AND s.origin = ANY (c.origins)', '']],
    noticedBy: ENDS,
    test: 'ends when its client no longer has its origin',
  },
  {
    name: 'scopes-of-page-sessions',
    guards: 'a page visitor with the scopes of operators',
    edits: [[SESSIONS, 'new Set(END_USER_SCOPES.filter((scope) => scopes.has(scope)))', 'scopes']],
    noticedBy: 'test/access/page-sessions/page-sessions.spec.ts',
    test: 'has no operator scope, regardless of its client',
  },
  {
    name: 'sessions-of-revoked-persons',
    guards: 'the sessions of a person with revoked credentials',
    edits: [[SESSIONS, 'AND (p.revoked_at IS NULL OR p.revoked_at < s.created_at)', '']],
    noticedBy: ENDS,
    test: 'ends when its person is revoked, and other sessions continue',
  },
  {
    name: 'sessions-of-erased-persons',
    guards: 'sessions that restore the name of an erased person',
    edits: [
      [
        'src/history/retention/persons.ts',
        "  await db.query('DELETE FROM page_session WHERE person_id = ANY ($1::uuid[])', [erased]);\n",
        '',
      ],
    ],
    noticedBy: ENDS,
    test: 'ends when its person is erased, and leaves no row',
  },
  {
    name: 'secret-of-the-issuer',
    guards: "the client's secret sent to a new provider",
    edits: [
      [
        'src/platform/config/secrets/page-secrets.ts',
        'own(secrets && read(secrets.reveal()), issuer)',
        'Object.values((secrets && read(secrets.reveal())) ?? { [issuer]: {} })[0]',
      ],
    ],
    noticedBy: 'src/platform/config/secrets/page-secrets.spec.ts',
    test: 'is sent to no other issuer',
  },
  {
    name: 'keys-of-page-visitors',
    guards: 'an idempotency key shared by two visitors of a page after a recovery',
    edits: [[SCHEMA, 'strpos(record, \'"actor_source":"session"\') > 0', 'FALSE']],
    noticedBy: 'test/access/page-sessions/page-sessions.spec.ts',
    test: 'has its own idempotency keys, in the database too',
  },
];
