import { PRODUCTION, refusal } from '../../../../test/support/processes/refused-configuration';
import { loadConfig, loadConfigOf } from '../config';

describe('the configuration in production', () => {
  it.each(['DATABASE_URL', 'UPSTREAM_BASE_URL', 'UPSTREAM_API_KEY', 'PUBLIC_URL'] as const)(
    'requires %s in production',
    (name) => {
      expect(refusal({ ...PRODUCTION, [name]: '' })).toContain(
        `${name} is required with NODE_ENV=production`,
      );
    },
  );

  it.each([
    'http://api.example.com',
    'http://10.0.0.5:4010',
    'http://localhost.example.com',
    'http://[2001:db8::1]',
  ])('rejects an upstream without TLS in production: %s', (url) => {
    const message = refusal({ ...PRODUCTION, UPSTREAM_BASE_URL: url });
    expect(message).toContain('UPSTREAM_BASE_URL must begin with https://');
    expect(message).not.toContain(url);
  });

  it.each(['http://localhost:4010', 'http://127.0.0.9', 'http://[::1]:4010', 'https://api.example.com'])(
    'accepts an upstream with TLS, or on the same machine, in production: %s',
    (url) => expect(loadConfig({ ...PRODUCTION, UPSTREAM_BASE_URL: url }).upstreamBaseUrl).toBe(url),
  );

  it.each([
    'postgresql://proxy@db.example.com/records',
    'postgresql://proxy@10.0.0.5,127.0.0.1/records',
    'postgresql://proxy@[2001:db8::1]/records?sslmode=disable',
    'postgresql://proxy@db.example.com/records?sslmode=prefer',
    'postgresql://proxy@db.example.com/records?sslmode=no-verify',
    'postgresql://proxy@db.example.com/records?sslmode=verify-full&sslmode=disable',
    'postgresql://proxy@db.example.com/records?sslmode=require&uselibpqcompat=true',
    'postgresql://proxy@/records?host=db.example.com',
    'postgresql://proxy@localhost/records?host=db.example.com',
  ])('rejects a database on another machine without verified TLS in production: %s', (url) => {
    for (const name of [
      'DATABASE_URL',
      'DATABASE_OWNER_URL',
      'DATABASE_SEALER_URL',
      'DATABASE_REPLICA_URL',
    ]) {
      const message = refusal({ ...PRODUCTION, [name]: url });
      expect(message).toContain(`${name} must have sslmode=verify-full`);
      expect(message).not.toContain(url);
      const allowed = { ...PRODUCTION, [name]: url, DATABASE_ALLOW_UNSAFE: 'no_tls' };
      expect(loadConfig(allowed).databaseAllowUnsafe).toEqual(['no_tls']);
    }
    expect(() => loadConfigOf('database', { ...PRODUCTION, DATABASE_URL: url })).toThrow(/sslmode/);
    expect(loadConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
  });

  it.each([
    'postgresql://proxy@db.example.com/records?sslmode=verify-full&sslrootcert=/etc/ca.pem',
    'postgresql://proxy@a.example.com,b.example.com/records?sslmode=require',
    'postgresql://proxy@db.example.com/records?ssl=true',
    'postgresql://proxy@db.example.com/records?sslmode=verify-full&uselibpqcompat=true',
    'postgresql://proxy@127.0.0.1,localhost,[::1]/records',
    'postgresql://proxy@/records?host=/var/run/postgresql',
    'postgresql://proxy@%2Fvar%2Frun%2Fpostgresql/records',
  ])('accepts a database with verified TLS, or on the same machine, in production: %s', (url) =>
    expect(loadConfig({ ...PRODUCTION, DATABASE_URL: url }).databaseUrl).toBe(url),
  );

  it('requires 30 quiet seconds after a rejection in production', () => {
    const RESOLVER_REJECTED_QUIET_SECONDS = '29';
    expect(refusal({ ...PRODUCTION, RESOLVER_REJECTED_QUIET_SECONDS })).toContain(
      'RESOLVER_REJECTED_QUIET_SECONDS must be at least 30',
    );
    expect(loadConfig({ ...PRODUCTION, RESOLVER_REJECTED_QUIET_SECONDS: '30' })).toMatchObject({
      resolverRejectedQuietSeconds: 30,
    });
    expect(loadConfig({ RESOLVER_REJECTED_QUIET_SECONDS }).resolverRejectedQuietSeconds).toBe(29);
  });

  it.each([`whsec_${Buffer.alloc(23, 1).toString('base64')}`, 'x'.repeat(23), 'whsec_c2VjcmV0'])(
    'rejects a webhook secret of less than 24 bytes in production: %s',
    (secret) => {
      const message = refusal({ ...PRODUCTION, UPSTREAM_WEBHOOK_SECRET: secret });
      expect(message).toContain('UPSTREAM_WEBHOOK_SECRET must have at least 24 bytes');
      expect(message).not.toContain(secret);
      expect(loadConfig({ UPSTREAM_WEBHOOK_SECRET: secret }).upstreamWebhookSecret?.reveal()).toBe(secret);
    },
  );

  it.each(['whsec_ab-_cdef', 'whsec_abcde', 'whsec_YQ=', 'whsec_YR==', 'whsec_whsec_YWFh'])(
    'rejects a webhook secret with anything but base64 after whsec_: %s',
    (secret) => {
      for (const name of [
        'UPSTREAM_WEBHOOK_SECRET',
        'SCREENING_SECRET',
        'UPSTREAM_ACCOUNT_KENYA_WEBHOOK_SECRET',
      ]) {
        const message = refusal({ UPSTREAM_ACCOUNTS: 'kenya', [name]: secret });
        expect(message).toContain(`${name} must have base64 after whsec_`);
        expect(message).not.toContain(secret);
      }
    },
  );

  it.each([`whsec_${Buffer.alloc(24, 1).toString('base64')}`, 'x'.repeat(24)])(
    'accepts a webhook secret of 24 bytes in production: %s',
    (secret) =>
      expect(
        loadConfig({ ...PRODUCTION, UPSTREAM_WEBHOOK_SECRET: secret }).upstreamWebhookSecret?.reveal(),
      ).toBe(secret),
  );

  it('rejects a disabled duplicate guard in production', () => {
    expect(refusal({ ...PRODUCTION, DUPLICATE_GUARD: 'false' })).toContain(
      'DUPLICATE_GUARD=false is not allowed',
    );
    expect(loadConfig({ DUPLICATE_GUARD: 'false' }).duplicateGuard).toBe(false);
    expect(loadConfig(PRODUCTION).duplicateGuard).toBe(true);
  });

  it('requires a secret for the screening service, and in production https:// and 24 bytes', () => {
    const [SCREENING_URL, SCREENING_SECRET] = ['http://screening.example/check', 'only-12-byte'];
    expect(refusal({ SCREENING_URL })).toContain('SCREENING_SECRET is required with SCREENING_URL');
    expect(loadConfig({ SCREENING_URL, SCREENING_SECRET }).screeningUrl).toBe(SCREENING_URL);
    const message = refusal({ ...PRODUCTION, SCREENING_URL, SCREENING_SECRET });
    expect(message).toContain('SCREENING_URL must begin with https://');
    expect(message).toContain('SCREENING_SECRET must have at least 24 bytes');
    const local = { SCREENING_URL: 'http://127.0.0.1:4000', SCREENING_SECRET: 'x'.repeat(24) };
    const { screeningSecret, screeningTimeoutMs } = loadConfig({ ...PRODUCTION, ...local });
    expect([screeningSecret?.reveal(), screeningTimeoutMs]).toEqual(['x'.repeat(24), 2_000]);
  });
});
