import { loadConfig } from './config';

const KEYS = { UPSTREAM_API_KEY: 'the-key-of-nobody', UPSTREAM_WEBHOOK_SECRET: 'whsec-of-at-least-24-bytes' };
const UPSTREAM = { UPSTREAM_BASE_URL: 'https://pay.example', ...KEYS };

describe('recordedConfiguration', () => {
  it('contains the settings that govern payments, with their defaults', () => {
    const given = {
      ...UPSTREAM,
      UPSTREAM_TIMEOUTS: 'POST /payouts/airtime=60000,lookup=3000',
      EXTRA_FIELDS_ALLOWED: 'narration, branch',
      MAX_ITEMS: '7',
    };
    const { recorded } = loadConfig(given);
    expect(recorded).toMatchObject({
      NODE_ENV: 'development',
      UPSTREAM_BASE_URL: 'https://pay.example',
      UPSTREAM_TIMEOUT_MS: '30000',
      UPSTREAM_TIMEOUTS: 'POST /payouts/airtime=60000,lookup=3000',
      EXTRA_FIELDS_ALLOWED: 'narration,branch',
      MAX_ITEMS: '7',
      DUPLICATE_GUARD: 'true',
      DATABASE_ALLOW_UNSAFE: '',
    });
    for (const unset of ['SCREENING_URL', 'RESOLVER_PROBE_EMAIL']) expect(recorded).not.toHaveProperty(unset);
  });

  it('omits foreign variables, which may be secrets', () => {
    const others = { PATH: '/bin', AWS_SECRET_ACCESS_KEY: 'x', SANDBOX_EVENTS_SECRET: 'x', constructor: 'x' };
    expect(loadConfig({ ...UPSTREAM, ...others }).recorded).toEqual(loadConfig(UPSTREAM).recorded);
  });

  it('is independent of the host', () => {
    const elsewhere = {
      PORT: '1',
      HOST: '::',
      DATA_DIR: '/elsewhere',
      LOG_LEVEL: 'error',
      START_WORKER: 'false',
    };
    expect(loadConfig({ ...UPSTREAM, ...elsewhere }).recorded).toEqual(loadConfig(UPSTREAM).recorded);
  });

  it('contains a fingerprint in place of each secret', () => {
    const [before, after] = ['one', 'two'].map((word) => {
      const keys = { UPSTREAM_API_KEY: `upstream-key-${word}`, SCREENING_SECRET: `screening-secret-${word}` };
      const database = { DATABASE_URL: `postgresql://user:password-${word}@db/records` };
      return loadConfig({ ...UPSTREAM, ...keys, ...database }).recorded;
    });
    expect(JSON.stringify([before, after])).not.toMatch(/(key|secret|password)-(one|two)|whsec/);
    expect(before?.UPSTREAM_WEBHOOK_SECRET).toMatch(/^SHA-256 [0-9a-f]{8}…$/);
    expect(before?.UPSTREAM_WEBHOOK_SECRET).toBe(after?.UPSTREAM_WEBHOOK_SECRET);
    for (const name of ['UPSTREAM_API_KEY', 'SCREENING_SECRET'])
      expect(before?.[name]).not.toBe(after?.[name]);
  });
});
