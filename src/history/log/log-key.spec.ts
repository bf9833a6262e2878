import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '../../platform/config/config';
import { Secret } from '../../platform/config/secrets/secret';
import { knownLogKeyOf, logKeyOf, logRingOf } from './log-key';
import { newSigningKey, signerOf } from './note';

const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-log-key-'));
const file = join(dataDir, 'log-key.json');

afterEach(() => rmSync(file, { recursive: true, force: true }));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

describe("the log's key", () => {
  it('is generated once, is readable only by its owner, and leaves no other file', () => {
    expect(knownLogKeyOf({ logSigningKey: undefined, dataDir })).toBeUndefined();
    const made = logKeyOf({ logSigningKey: undefined, dataDir });
    expect(logRingOf({ logSigningKey: made }).name).toBe('payout-proxy');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual(['log-key.json']);
    expect(logKeyOf({ logSigningKey: undefined, dataDir }).reveal()).toBe(made.reveal());
    expect(knownLogKeyOf({ logSigningKey: undefined, dataDir })?.reveal()).toBe(made.reveal());
  });

  it('uses the configured key instead of generating one', () => {
    const given = new Secret(newSigningKey('example.com/payouts'));
    expect(logKeyOf({ logSigningKey: given, dataDir })).toBe(given);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('may be one of several keys, newest first, also in its file', () => {
    const keys = [newSigningKey('log'), newSigningKey('log'), newSigningKey('log')];
    const [first, second, third] = keys.map((key) => signerOf(key).verifierKey);
    writeFileSync(file, JSON.stringify({ signingKey: keys.slice(0, 2).join('\n') }));
    const logSigningKey = logKeyOf({ logSigningKey: undefined, dataDir });
    const ring = logRingOf({ logSigningKey, logRetiredKeys: [third as string] });
    expect([ring.current, ring.all].map((some) => some.map(({ verifierKey }) => verifierKey))).toEqual([
      [first, second],
      [first, second, third],
    ]);
  });

  it('prevents the start if retired keys are of another log, listed twice, or damaged', () => {
    const [one, other, renamed] = [newSigningKey('log'), newSigningKey('log'), newSigningKey('another')];
    const start = (keys: string[], logRetiredKeys: string[] = []) =>
      logKeyOf({ logSigningKey: new Secret(keys.join()), logRetiredKeys, dataDir });
    const publicOf = (key: string) => signerOf(key).verifierKey;
    expect(() => start([one, renamed])).toThrow(
      /^LOG_SIGNING_KEY is invalid\. All keys of a log must have its name/,
    );
    expect(() => start([one], [publicOf(renamed)])).toThrow(
      /must have its name, but one is named log and one another/,
    );
    expect(() => start([one, one])).toThrow(/is listed twice/);
    expect(() => start([one], [publicOf(one)])).toThrow(/is listed twice/);
    expect(() => start([one], [publicOf(other).slice(0, -4)])).toThrow(/^LOG_RETIRED_KEYS is invalid\. /);
  });

  it('prevents the start if it is damaged, without quoting it', () => {
    const key = newSigningKey('log').replace(/\+[0-9a-f]{8}\+/, '+00000000+');
    const start = () => logKeyOf({ logSigningKey: new Secret(key), dataDir });
    expect(start).toThrow(StartError);
    expect(start).toThrow(/^LOG_SIGNING_KEY is invalid\. The signing key is damaged: [^/+]*$/);
    writeFileSync(file, '{"signingKey": "PRIVATE+');
    expect(() => logKeyOf({ logSigningKey: undefined, dataDir })).toThrow(
      /log-key\.json contains no signing key/,
    );
  });

  it('prevents the start if it cannot be stored, and names the setting to change', () => {
    const blocked = join(dataDir, 'log-key.json', 'below');
    writeFileSync(file, '');
    chmodSync(file, 0o600);
    expect(() => logKeyOf({ logSigningKey: undefined, dataDir: blocked })).toThrow(
      /ENOTDIR.*Set LOG_SIGNING_KEY/,
    );
  });
});
