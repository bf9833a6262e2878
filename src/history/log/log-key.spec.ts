import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '../../platform/config/config';
import { Secret } from '../../platform/config/secret';
import { knownLogKeyOf, logKeyOf, signerFrom } from './log-key';
import { newSigningKey } from './note';

const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-log-key-'));
const file = join(dataDir, 'log-key.json');

afterEach(() => rmSync(file, { recursive: true, force: true }));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

describe("the log's key", () => {
  it('is made once, kept for its owner only, and leaves nothing else behind', () => {
    expect(knownLogKeyOf({ logSigningKey: undefined, dataDir })).toBeUndefined();
    const made = logKeyOf({ logSigningKey: undefined, dataDir });
    expect(signerFrom(made).name).toBe('payout-proxy');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual(['log-key.json']);
    expect(logKeyOf({ logSigningKey: undefined, dataDir }).reveal()).toBe(made.reveal());
    expect(knownLogKeyOf({ logSigningKey: undefined, dataDir })?.reveal()).toBe(made.reveal());
  });

  it('is the one that the operator gives, and then none is made', () => {
    const given = new Secret(newSigningKey('example.com/payouts'));
    expect(logKeyOf({ logSigningKey: given, dataDir })).toBe(given);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('that is damaged ends the start, in words that do not quote it', () => {
    const key = newSigningKey('log').replace(/\+[0-9a-f]{8}\+/, '+00000000+');
    const start = () => logKeyOf({ logSigningKey: new Secret(key), dataDir });
    expect(start).toThrow(StartError);
    expect(start).toThrow(/^LOG_SIGNING_KEY is invalid\. The signing key is damaged: [^/+]*$/);
    writeFileSync(file, '{"signingKey": "PRIVATE+');
    expect(() => logKeyOf({ logSigningKey: undefined, dataDir })).toThrow(/log-key\.json contains no signing key/);
  });

  it('that cannot be kept ends the start, and it is said what to set instead', () => {
    const blocked = join(dataDir, 'log-key.json', 'below');
    writeFileSync(file, '');
    chmodSync(file, 0o600);
    expect(() => logKeyOf({ logSigningKey: undefined, dataDir: blocked })).toThrow(/ENOTDIR.*Set LOG_SIGNING_KEY/);
  });
});
