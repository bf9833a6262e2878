import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { refusal } from '../../../../test/support/processes/refused-configuration';
import { faultOf, loadConfig, loadConfigOf } from '../config';
import { SECRET_NAMES } from './secret-files';

describe('the files of secrets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const fileWith = (content: string) => {
    const file = join(folder, `secret-${Math.random().toString(36).slice(2)}`);
    writeFileSync(file, content);
    return file;
  };

  it.each(['', '\n', '\r\n'])('replace a variable, without the line end %j', (end) => {
    const file = fileWith(`upstream-key${end}`);
    const config = loadConfig({ UPSTREAM_API_KEY_FILE: file });
    expect(config.upstreamApiKey?.reveal()).toBe('upstream-key');
    expect([...config.secretFiles]).toEqual([['UPSTREAM_API_KEY', file]]);
    expect(inspect(config, { depth: 5 }) + JSON.stringify(config)).not.toContain('upstream-key');
  });

  it.each(SECRET_NAMES)('can have %s, which is checked as in the environment', (name) => {
    const message = refusal({ [`${name}_FILE`]: fileWith('a b') });
    expect(message).toContain(`${name} must`);
    expect(message).not.toContain('a b');
  });

  it('are read by commands that need their secrets, and by no others', () => {
    const url = 'postgresql://owner@localhost/records';
    const env = { DATABASE_URL_FILE: fileWith(url), UPSTREAM_API_KEY_FILE: join(folder, 'missing') };
    expect(loadConfigOf('database', env).databaseUrl).toBe(url);
    expect(() => loadConfig(env)).toThrow(/UPSTREAM_API_KEY_FILE/);
  });

  it('fulfil what production requires', () => {
    const config = loadConfig({
      NODE_ENV: 'production',
      DATABASE_URL_FILE: fileWith('postgresql://proxy@localhost/records\n'),
      UPSTREAM_BASE_URL: 'https://api.example.com',
      UPSTREAM_API_KEY_FILE: fileWith('upstream-key\n'),
      PUBLIC_URL: 'https://payouts.example.com',
    });
    expect(config.databaseUrl).toBe('postgresql://proxy@localhost/records');
  });

  it('never reach the sandbox as variables of its own', () => {
    const { sandboxBehaviour, sandboxControlKey } = loadConfig({
      SANDBOX_CONTROL_KEY_FILE: fileWith('control-key'),
    });
    expect([sandboxBehaviour, sandboxControlKey.reveal()]).toEqual([{}, 'control-key']);
  });

  it('must not be set with their variables, and must exist, be small files, and have content', () => {
    expect(
      refusal({ UPSTREAM_API_KEY: 'upstream-key', UPSTREAM_API_KEY_FILE: fileWith('upstream-key') }),
    ).toContain('UPSTREAM_API_KEY and UPSTREAM_API_KEY_FILE must not both be set');
    const unusable: [string, string][] = [
      [join(folder, 'missing'), 'ENOENT'],
      [folder, 'it is not a regular file'],
      [fileWith('\n'), 'it is empty'],
      [fileWith('x'.repeat(65_537)), 'it is too large'],
    ];
    for (const [file, reason] of unusable) {
      const message = refusal({ LOG_SIGNING_KEY_FILE: file });
      expect(message).toBe(
        `invalid configuration: LOG_SIGNING_KEY_FILE must name a file with the value (${reason})`,
      );
    }
  });

  it('are checked again when they change, by the rules of production if it is', () => {
    expect(faultOf('UPSTREAM_API_KEY', 'another-key', true)).toBeUndefined();
    expect(faultOf('UPSTREAM_API_KEY', 'a b', true)).toMatch(/UPSTREAM_API_KEY must be 8 or more/);
    expect(faultOf('UPSTREAM_WEBHOOK_SECRET', 'only-12-byte', false)).toBeUndefined();
    expect(faultOf('UPSTREAM_WEBHOOK_SECRET', 'only-12-byte', true)).toMatch(/at least 24 bytes/);
  });
});
