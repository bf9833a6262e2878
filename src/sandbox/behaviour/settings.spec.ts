import { QUIRKS } from './behaviour';
import { readSettings } from './settings';

const good = { SANDBOX_DATABASE_URL: 'postgresql://u:p@localhost/sandbox', SANDBOX_API_KEY: 'key-1' };

describe('readSettings', () => {
  it('has a default for all but the database and the key', () => {
    const { behaviour, ...settings } = readSettings(good);
    expect(settings).toEqual({
      databaseUrl: good.SANDBOX_DATABASE_URL,
      port: 4010,
      apiKey: 'key-1',
      controlKey: 'sandbox-control',
      unitName: 'credit',
    });
    expect(behaviour).toMatchObject({
      quirks: QUIRKS,
      unpaidExpiresAfterMs: 604_800_000,
      events: { url: '' },
    });
    expect(behaviour?.feePercent.toFixed()).toBe('0');
    expect(readSettings({ ...good, SANDBOX_PORT: '', SANDBOX_QUIRKS: '', SANDBOX_EVENTS_URL: '' })).toEqual(
      readSettings(good),
    );
  });

  it('accepts every variable', () => {
    const { behaviour, ...settings } = readSettings({
      ...good,
      SANDBOX_PORT: '0',
      SANDBOX_CONTROL_KEY: 'control-1',
      SANDBOX_UNIT_NAME: 'coin',
      SANDBOX_QUIRKS: 'floatBalances, -errorNone,',
      SANDBOX_FEE_PERCENT: '1.25',
      SANDBOX_UNPAID_EXPIRES_AFTER_MS: '1000',
      SANDBOX_EVENTS_URL: 'http://127.0.0.1:4011/hook',
      SANDBOX_EVENTS_SECRET: 'whsec_c2VjcmV0',
    });
    expect(settings).toMatchObject({ port: 0, controlKey: 'control-1', unitName: 'coin' });
    expect(behaviour).toMatchObject({
      quirks: { ...QUIRKS, floatBalances: true, errorNone: false },
      unpaidExpiresAfterMs: 1_000,
      events: { url: 'http://127.0.0.1:4011/hook', secret: 'whsec_c2VjcmV0', copies: 1, reversed: false },
    });
    expect(behaviour?.feePercent.toFixed()).toBe('1.25');
  });

  it('names every invalid variable in one line and never a value', () => {
    const env = { SANDBOX_DATABASE_URL: 'mysql://secret', SANDBOX_PORT: '70000', SANDBOX_API_KEY: ' ' };
    expect(() => readSettings(env)).toThrow(
      /^sandbox cannot start: SANDBOX_DATABASE_URL [^\n]*SANDBOX_API_KEY[^\n]*SANDBOX_PORT[^\n]*$/,
    );
    expect(() => readSettings(env)).not.toThrow(/secret|70000/);
  });

  it.each<[name: string, ...values: string[]]>([
    ['SANDBOX_PORT', '-1', '4010x', '1e3', '3.5', '65536'],
    ['SANDBOX_CONTROL_KEY', 'short', 'with a blank', 'umläute-umläute', 'line-end-at-its-end\n'],
    ['SANDBOX_UNIT_NAME', 'Coin', 'c', '1coin', 'co-in', 'airtime', 'momos', 'payouts', 'x'.repeat(33)],
    ['SANDBOX_QUIRKS', 'unheardOf', 'floatBalances;errorNone', '--errorNone', 'constructor'],
    ['SANDBOX_FEE_PERCENT', '-1', '101', '1e1', 'many', ' 1'],
    ['SANDBOX_UNPAID_EXPIRES_AFTER_MS', '0', '1.5', '1d', '99999999999999'],
    ['SANDBOX_EVENTS_URL', 'localhost:4011', 'ftp://x', 'http://', 'http://[x'],
    ['SANDBOX_EVENTS_SECRET', ' ', ' x', 'line end\n'],
  ])('rejects an invalid %s', (name, ...values) => {
    for (const value of values) {
      expect(() => readSettings({ ...good, [name]: value })).toThrow(`sandbox cannot start: ${name} must `);
    }
  });
});
