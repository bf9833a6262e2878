import { inspect } from 'node:util';
import { PRODUCTION, refusal } from '../../../test/support/processes/refused-configuration';
import { loadConfig, loadConfigOf } from './config';

describe('loadConfig', () => {
  it('needs no variables', () => {
    expect(loadConfig({})).toMatchObject({
      startWorker: true,
      workerPort: 3001,
      metricsPort: 3_000,
      workerPortGiven: false,
      production: false,
      port: 3_000,
      host: '127.0.0.1',
      maxItems: 1_000,
      maxBodyBytes: 1_048_576,
      extraFieldsAllowed: [],
      databaseUrl: undefined,
      upstreamBaseUrl: undefined,
      upstreamApiKey: undefined,
      sandboxPortGiven: false,
    });
  });

  it("checks only a command's variables", () => {
    const bad = { NODE_ENV: 'production', UPSTREAM_TIMEOUT_MS: 'soon', UPSTREAM_BASE_URL: 'nowhere' };
    expect(loadConfigOf('client', { ...bad, PORT: '4000', DATABASE_URL: 'nonsense' })).toMatchObject({
      port: 4_000,
    });
    const { DATABASE_URL } = PRODUCTION;
    expect(loadConfigOf('database', { ...bad, DATABASE_URL })).toMatchObject({ databaseUrl: DATABASE_URL });
    expect(() => loadConfigOf('client', { PORT: 'x' })).toThrow(/PORT/);
    expect(() => loadConfigOf('database', bad)).toThrow(
      /^invalid configuration: DATABASE_URL is required with NODE_ENV=production$/,
    );
  });

  it('treats an empty variable as unset', () => {
    expect(loadConfig({ PORT: '', DATABASE_URL: '', UPSTREAM_API_KEY: '' })).toEqual(loadConfig({}));
  });

  it('reads comma-separated names of extra fields into a frozen set', () => {
    const { extraFieldsAllowed } = loadConfig({
      EXTRA_FIELDS_ALLOWED: 'subAccount, narration,,subAccount,x_1',
    });
    expect(extraFieldsAllowed).toEqual(['subAccount', 'narration', 'x_1']);
    expect(() => (extraFieldsAllowed as string[]).push('more')).toThrow(TypeError);
    expect(refusal({ EXTRA_FIELDS_ALLOWED: 'constructor' })).toMatch(
      /^invalid .*EXTRA_FIELDS_ALLOWED must be a comma-separated list of field names/,
    );
  });

  it('listens on every address in production, with the required variables', () => {
    const config = loadConfig(PRODUCTION);
    expect(config).toMatchObject({ production: true, host: '0.0.0.0', databaseUrl: PRODUCTION.DATABASE_URL });
    expect(config.upstreamBaseUrl).toBe('https://api.example.com/base');
    expect(config.upstreamApiKey?.reveal()).toBe('upstream-key');
  });

  it('is immutable', () => {
    const config = loadConfig({}) as { port: number };
    expect(() => (config.port = 1)).toThrow(TypeError);
  });

  it("passes the sandbox's own variables on without showing them", () => {
    const own = { SANDBOX_EVENTS_SECRET: 'events-secret', SANDBOX_QUIRKS: 'floatBalances' };
    const config = loadConfig({
      ...own,
      SANDBOX_PORT: '4011',
      SANDBOX_API_KEY: 'no',
      SANDBOX_FEE_PERCENT: '',
      OTHER: 'x',
    });
    expect(Object.entries(config.sandboxBehaviour).map(([name, value]) => [name, value.reveal()])).toEqual(
      Object.entries(own),
    );
    expect(inspect(config) + JSON.stringify(config)).not.toContain('events-secret');
  });

  it('accepts several log keys and retired keys', () => {
    const [one, other] = ['A', 'B'].map((letter) => `log+c74f20a3+${letter.repeat(44)}`);
    const LOG_SIGNING_KEY = `PRIVATE+KEY+${one}, PRIVATE+KEY+${other}`;
    const config = loadConfig({ LOG_SIGNING_KEY, LOG_RETIRED_KEYS: `${one}, ${other}` });
    expect(config.logSigningKey?.reveal()).toBe(LOG_SIGNING_KEY);
    expect(config.logRetiredKeys).toEqual([one, other]);
    expect(loadConfig({}).logRetiredKeys).toEqual([]);
  });

  it('shows no secret when it is printed', () => {
    const LOG_SIGNING_KEY = `PRIVATE+KEY+log+c74f20a3+${'A'.repeat(44)}`;
    const config = loadConfig({ ...PRODUCTION, LOG_SIGNING_KEY });
    expect(config.logSigningKey?.reveal()).toBe(LOG_SIGNING_KEY);
    expect(inspect(config) + JSON.stringify(config)).not.toMatch(/upstream-key|AAAA/);
  });

  it.each<[name: string, ...values: string[]]>([
    ['NODE_ENV', 'Production', 'prod', 'staging'],
    ['PORT', '-1', '65536', '0x50', '80.5', 'http', ' 80'],
    ['METRICS_PORT', '-1', '65536', 'no'],
    ['LOG_LEVEL', 'loud', 'INFO'],
    ['DATABASE_URL', 'db', 'localhost/db', 'mysql://db/x', 'postgres://', 'https://db/x'],
    ['DATABASE_SEALER_URL', 'db', 'mysql://db/x'],
    ['DATABASE_POOL_SIZE', '1', '201', 'many'],
    [
      'LOG_SIGNING_KEY',
      'secret',
      `PRIVATE+KEY+log+c74f20a3+${'A'.repeat(43)}`,
      `log+c74f20a3+${'A'.repeat(44)}`,
    ],
    [
      'LOG_RETIRED_KEYS',
      'secret',
      `PRIVATE+KEY+log+c74f20a3+${'A'.repeat(44)}`,
      `log+c74f20a3+${'A'.repeat(44)},x`,
    ],
    ['UPSTREAM_TIMEOUT_MS', '99', '600001', '30s'],
    ['UPSTREAM_CONNECT_TIMEOUT_MS', '49', '60001'],
    ['UPSTREAM_CONNECTIONS', '0', '1025'],
    ['UPSTREAM_MAX_RESPONSE_BYTES', '1023', '1e6', '67108865'],
    ['MAX_ITEMS', '0', '10001', '1_000'],
    ['CONSOLE_IDLE_MINUTES', '0', '721', 'half an hour'],
    ['PROVIDER_KEYS_MAX_AGE_SECONDS', '59', '86401', 'an hour'],
    ['MAX_BODY_BYTES', '1023', '16777217', '1MiB'],
    ['EXTRA_FIELDS_ALLOWED', '1st', '_meta', 'sub-account', 'a b', 'ключ', `narration,${'x'.repeat(65)}`],
    [
      'EXTRA_FIELDS_ALLOWED',
      'narration,toString',
      'valueOf',
      'hasOwnProperty',
      '__proto__',
      '__defineGetter__',
    ],
    ['SANDBOX_PORT', '-1', '65536'],
    ['SANDBOX_CONTROL_KEY', 'short', 'with a blank'],
  ])('names %s without quoting its bad value', (name, ...values) => {
    for (const value of values) {
      const message = refusal({ [name]: value });
      expect(message).toMatch(/^invalid configuration: [^\n]*$/);
      expect(message).toContain(name);
      if (value.length > 3)
        expect(message.replaceAll(/must be one of the following values: [^;]*/g, '')).not.toContain(value);
    }
  });

  it.each([
    'api.example.com',
    'ftp://api.example.com',
    'https://user:pass@api.example.com',
    'https://api.example.com?key=1',
    'https://api.example.com/#x',
    'https://',
    'file:///etc/passwd',
  ])('rejects a UPSTREAM_BASE_URL that is invalid or has ignored parts: %s', (url) => {
    const message = refusal({ UPSTREAM_BASE_URL: url, UPSTREAM_API_KEY: 'upstream-key' });
    expect(message).toContain('UPSTREAM_BASE_URL');
    expect(message).not.toContain(url);
  });

  it.each([
    'http://127.0.0.1:4010',
    'http://my_upstream:4010',
    'http://[::1]:4010',
    'https://api.example.com/v0',
  ])('accepts the UPSTREAM_BASE_URL %s', (url) =>
    expect(loadConfig({ UPSTREAM_BASE_URL: url, UPSTREAM_API_KEY: 'upstream-key' }).upstreamBaseUrl).toBe(
      url,
    ),
  );

  it.each(['upstream-key\n', 'upstream\tkey', 'upstream key', 'upstream-kéy', 'short'])(
    'rejects a UPSTREAM_API_KEY that headers cannot have, without quoting it: %j',
    (key) => {
      const message = refusal({ UPSTREAM_API_KEY: key });
      expect(message).toMatch(/UPSTREAM_API_KEY must be 8 or more printable ASCII characters/);
      expect(message).not.toContain(key.trim().split(/\s/)[0]);
    },
  );

  it('requires a key with an upstream, and a database with its owner', () => {
    expect(refusal({ UPSTREAM_BASE_URL: 'http://localhost' })).toContain('UPSTREAM_API_KEY is required');
    expect(refusal({ DATABASE_OWNER_URL: 'postgres://owner@localhost/x' })).toContain(
      'DATABASE_URL is required',
    );
    expect(refusal({ DATABASE_SEALER_URL: 'postgres://sealer@localhost/x' })).toContain(
      'DATABASE_URL is required',
    );
  });

  it("keeps the witness's copy of the checkpoints in DATA_DIR by default", () => {
    expect(loadConfig({ DATA_DIR: '/data' }).checkpointFile).toBe('/data/checkpoints');
    expect(loadConfig({ CHECKPOINT_FILE: '/witness/notes' }).checkpointFile).toBe('/witness/notes');
  });

  it('names every bad variable at once, on one line', () => {
    const message = refusal({ PORT: 'x', MAX_ITEMS: 'y', NODE_ENV: 'production' });
    for (const name of ['PORT', 'MAX_ITEMS', 'DATABASE_URL', 'UPSTREAM_BASE_URL', 'UPSTREAM_API_KEY']) {
      expect(message).toContain(name);
    }
    expect(message).not.toContain('\n');
  });
});
