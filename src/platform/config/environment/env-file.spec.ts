import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { loadConfig, loadConfigOf } from '../config';
import { readEnvFile } from './env-file';

const folder = mkdtempSync(join(tmpdir(), 'env-file-'));
const file = join(folder, '.env');

/** Writes the file and reads it. */
function reading(text: string) {
  writeFileSync(file, text);
  return readEnvFile(file);
}

describe('the file .env', () => {
  const before = process.cwd();
  beforeAll(() => process.chdir(folder));
  afterAll(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });

  it.each([
    'UPSTREAM_API_KEY=abcdefgh12#34',
    'UPSTREAM_API_KEY=abcdefgh12 # the key of the test account',
    'UPSTREAM_API_KEY=#abcdefgh12',
    'UPSTREAM_API_KEY=abcdefgh$12',
    'UPSTREAM_API_KEY=abcdefgh\\12',
    "UPSTREAM_API_KEY=abcdefgh'12",
    'UPSTREAM_API_KEY="abcdefgh12',
    "UPSTREAM_API_KEY='abcdefgh12",
    'UPSTREAM_API_KEY="abcdefgh12"34',
    'UPSTREAM_API_KEY="abcdefgh12" # the key',
    'UPSTREAM_API_KEY="abcdefgh$12"',
    'UPSTREAM_API_KEY="abcdefgh\\n12"',
    'UPSTREAM_API_KEY="abcdefgh`12"',
    'UPSTREAM_API_KEY=`abcdefgh12`',
    '  export UPSTREAM_API_KEY = abcdefgh12#34',
    'UPSTREAM_ACCOUNTS=kenya\nUPSTREAM_ACCOUNT_KENYA_API_KEY=abcdefgh12#34',
    'UPSTREAM_API_KEY_FILE=/run/secrets/abcdefgh#12',
    'SANDBOX_EVENTS_SECRET=abcdefgh12#34',
  ])('is refused with a value that other programs read in another way: %s', (text) => {
    expect([...reading(text).faults.values()]).toEqual([
      expect.stringMatching(/^(UPSTREAM|SANDBOX)_[A-Z_]+ in .env can be read in two ways\. /),
    ]);
    expect(() => loadConfig()).toThrow(/in \.env can be read in two ways/);
    expect(() => loadConfig()).not.toThrow(/abcdefgh/);
  });

  it.each([
    'UPSTREAM_API_KEY=abcdefgh12=/+34',
    "UPSTREAM_API_KEY='abcdefgh12#34$5\\\"'",
    'UPSTREAM_API_KEY="abcdefgh12#34\'"',
    'UPSTREAM_API_KEY =  abcdefgh12  ',
    'UPSTREAM_API_KEY=abcdefgh12\r\nPORT=3000\r\n',
    '\uFEFFUPSTREAM_API_KEY=abcdefgh12',
    "# it's mine\nUPSTREAM_API_KEY=abcdefgh12",
    'RECONCILIATION_SCHEDULE=15 2 * * *\nUPSTREAM_TIMEOUTS=POST /payouts/airtime=60000',
    "LOG_SIGNING_KEY='one\ntwo#'\nPORT=3000",
    'POSTGRES_PASSWORD=of#another$program',
  ])('is read with a value that has one meaning: %j', (text) => {
    const { values, faults } = reading(text);
    expect([...faults.values()]).toEqual([]);
    expect(values).toEqual(parseEnv(text.replace('\uFEFF', '')));
  });

  it('is refused with a variable that is set twice', () => {
    expect([...reading('PORT=3000\nHOST=::1\nPORT=3001').faults.values()]).toEqual([
      'PORT is set twice in .env',
    ]);
  });

  it('is read as far as a command needs it, and as far as the environment does not override it', () => {
    reading('UPSTREAM_API_KEY=abcdefgh12#34\nPORT=3005');
    expect(loadConfigOf('client').port).toBe(3005);
    process.env.UPSTREAM_API_KEY = 'abcdefgh12#34';
    expect(loadConfig().upstreamApiKey?.reveal()).toBe('abcdefgh12#34');
  });

  it('is optional', () => {
    rmSync(file);
    expect(readEnvFile(file).values).toEqual({});
  });
});

describe('a variable', () => {
  it.each([
    ['UPSTREAM_API_KEY', '"abcdefgh12"'],
    ['UPSTREAM_API_KEY', "'abcdefgh12'"],
    ['HOST', "'127.0.0.1'"],
    ['DATA_DIR', ' .data'],
    ['CHECKPOINT_FILE', '/data/notes\r'],
    ['UPSTREAM_ACCOUNT_KENYA_API_KEY', '"abcdefgh12"'],
  ])('is refused with the quotes or blanks that docker run --env-file keeps: %s', (name, value) => {
    const load = () => loadConfig({ [name]: value });
    expect(load).toThrow(`${name} must have no quotes and no blanks around its value`);
    expect(load).not.toThrow(/abcdefgh/);
  });

  it('is not checked if it belongs to another program', () => {
    expect(loadConfig({ OTHER: '"quoted"', PS1: '$ ' }).port).toBe(3_000);
  });
});
