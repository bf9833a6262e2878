import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { refusal } from '../../../../test/support/processes/refused-configuration';
import { faultOf, loadConfig, loadConfigOf } from '../config';
import { accountsOf } from './upstream-accounts';

const MAIN = { UPSTREAM_BASE_URL: 'https://pay.example', UPSTREAM_API_KEY: 'key-of-main' };
const KENYA = { UPSTREAM_ACCOUNTS: 'kenya-east', UPSTREAM_ACCOUNT_KENYA_EAST_API_KEY: 'key-of-kenya' };

const accounts = (env: NodeJS.ProcessEnv) => {
  const config = loadConfig(env);
  const { upstreamBaseUrl = '', upstreamApiKey } = config;
  return accountsOf({ ...config, upstreamBaseUrl, upstreamApiKey: upstreamApiKey! });
};

describe('upstream accounts', () => {
  it('default to main', () => {
    expect(accounts(MAIN)).toMatchObject([
      { name: 'main', baseUrl: 'https://pay.example', subAccount: undefined },
    ]);
  });

  it('have variables of their own, and the base address of main unless they name one', () => {
    const more = {
      UPSTREAM_ACCOUNTS: 'kenya-east, uganda',
      UPSTREAM_ACCOUNT_KENYA_EAST_SUB_ACCOUNT: 'sub-1',
      UPSTREAM_ACCOUNT_KENYA_EAST_WALLET: 'airtime',
      UPSTREAM_ACCOUNT_KENYA_EAST_FEES:
        'POST /payouts/airtime=<10:0.20, <100:1%, 2%, POST /payouts/credit=3%',
      UPSTREAM_ACCOUNT_UGANDA_API_KEY: 'key-of-uganda',
      UPSTREAM_ACCOUNT_UGANDA_BASE_URL: 'https://other.example/',
      UPSTREAM_ACCOUNT_UGANDA_WEBHOOK_SECRET: 'secret-of-uganda',
    };
    const [main, kenya, uganda] = accounts({ ...MAIN, ...KENYA, ...more });
    expect(main).toMatchObject({ name: 'main', subAccount: undefined, wallet: undefined });
    expect(kenya).toMatchObject({
      name: 'kenya-east',
      baseUrl: 'https://pay.example',
      subAccount: 'sub-1',
      wallet: 'airtime',
      fees: new Map([
        ['POST /payouts/airtime', '<10:0.20,<100:1%,2%'],
        ['POST /payouts/credit', '3%'],
      ]),
    });
    expect(kenya?.apiKey.reveal()).toBe('key-of-kenya');
    expect(uganda).toMatchObject({ name: 'uganda', baseUrl: 'https://other.example' });
    expect(uganda?.webhookSecret?.reveal()).toBe('secret-of-uganda');
  });

  it.each([
    ['a name that no variable could have', { UPSTREAM_ACCOUNTS: 'Kenya' }, 'UPSTREAM_ACCOUNTS must'],
    [
      'a tier without an operation',
      { ...KENYA, UPSTREAM_ACCOUNT_KENYA_EAST_FEES: '<10:0.20' },
      'UPSTREAM_ACCOUNT_KENYA_EAST_FEES must',
    ],
    [
      'two rules of an operation',
      { ...KENYA, UPSTREAM_FEES: 'POST /payouts/airtime=1%,POST /payouts/airtime=2%' },
      'UPSTREAM_FEES must',
    ],
    ['main', { UPSTREAM_ACCOUNTS: 'main' }, 'UPSTREAM_ACCOUNTS must'],
    ['a name twice', { ...KENYA, UPSTREAM_ACCOUNTS: 'kenya-east,kenya-east' }, 'UPSTREAM_ACCOUNTS'],
    ['no key', { UPSTREAM_ACCOUNTS: 'uganda' }, 'UPSTREAM_ACCOUNT_UGANDA_API_KEY is required'],
    [
      'variables of an account that is not named',
      { UPSTREAM_ACCOUNT_UGANDA_API_KEY: 'x' },
      'UPSTREAM_ACCOUNT_UGANDA_API_KEY belongs to no account',
    ],
    [
      'a base address of another form',
      { ...KENYA, UPSTREAM_ACCOUNT_KENYA_EAST_BASE_URL: 'ftp://x' },
      'UPSTREAM_ACCOUNT_KENYA_EAST_BASE_URL must',
    ],
    [
      'the funds of main',
      { ...KENYA, UPSTREAM_ACCOUNT_KENYA_EAST_API_KEY: 'key-of-main' },
      'the upstream accounts main and kenya-east must differ',
    ],
    [
      'an address without encryption in production',
      {
        ...KENYA,
        NODE_ENV: 'production',
        DATABASE_URL: 'postgresql://localhost/x',
        UPSTREAM_ACCOUNT_KENYA_EAST_BASE_URL: 'http://pay.example',
      },
      'UPSTREAM_ACCOUNT_KENYA_EAST_BASE_URL must begin with https://',
    ],
    [
      'a short secret of events in production',
      {
        ...KENYA,
        NODE_ENV: 'production',
        DATABASE_URL: 'postgresql://localhost/x',
        UPSTREAM_ACCOUNT_KENYA_EAST_WEBHOOK_SECRET: 'short',
      },
      'UPSTREAM_ACCOUNT_KENYA_EAST_WEBHOOK_SECRET must have at least 24 bytes',
    ],
  ])('must not have %s', (_what, env, fault) => {
    const message = refusal({ ...MAIN, ...env });
    expect(message).toContain(fault);
    expect(message).not.toContain('key-of-main');
  });

  it('may differ only in their sub-account', () => {
    const env = {
      UPSTREAM_ACCOUNT_KENYA_EAST_API_KEY: 'key-of-main',
      UPSTREAM_ACCOUNT_KENYA_EAST_SUB_ACCOUNT: 'sub-1',
    };
    expect(accounts({ ...MAIN, ...KENYA, ...env })).toHaveLength(2);
  });

  it('are on record with fingerprints in place of their secrets', () => {
    const { recorded } = loadConfig({ ...MAIN, ...KENYA, UPSTREAM_ACCOUNT_KENYA_EAST_SUB_ACCOUNT: 'sub-1' });
    expect(recorded).toMatchObject({
      UPSTREAM_ACCOUNTS: 'kenya-east',
      UPSTREAM_ACCOUNT_KENYA_EAST_SUB_ACCOUNT: 'sub-1',
      UPSTREAM_ACCOUNT_KENYA_EAST_API_KEY: expect.stringMatching(/^SHA-256 [0-9a-f]{8}…$/),
    });
  });

  it('show no secrets in a printed configuration', () => {
    const config = loadConfig({ ...MAIN, ...KENYA });
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain('key-of-kenya');
  });

  it('may have their secrets in files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-accounts-'));
    const file = join(folder, 'key');
    writeFileSync(file, 'key-in-a-file\n');
    const env = { UPSTREAM_ACCOUNTS: 'kenya', UPSTREAM_ACCOUNT_KENYA_API_KEY_FILE: file };
    expect(accounts({ ...MAIN, ...env })[1]?.apiKey.reveal()).toBe('key-in-a-file');
    expect([...loadConfig({ ...MAIN, ...env }).secretFiles]).toEqual([
      ['UPSTREAM_ACCOUNT_KENYA_API_KEY', file],
    ]);
    rmSync(folder, { recursive: true });
  });

  it('have the rules of main for values that replace a secret', () => {
    expect(faultOf('UPSTREAM_ACCOUNT_KENYA_API_KEY', 'a b', false)).toContain(
      'UPSTREAM_ACCOUNT_KENYA_API_KEY must',
    );
    expect(faultOf('UPSTREAM_ACCOUNT_KENYA_API_KEY', 'a-sound-key', false)).toBeUndefined();
    expect(faultOf('UPSTREAM_ACCOUNT_KENYA_WEBHOOK_SECRET', 'short', true)).toContain(
      'UPSTREAM_ACCOUNT_KENYA_WEBHOOK_SECRET must have at least 24 bytes',
    );
  });

  it('are optional for commands that send nothing', () => {
    expect(loadConfigOf('database', { UPSTREAM_ACCOUNTS: 'kenya' }).namedAccounts).toEqual([]);
  });
});
