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
  it('is generated once and readable only by its owner, and leaves nothing else behind', () => {
    expect(knownLogKeyOf({ logSigningKey: undefined, dataDir })).toBeUndefined();
    const made = logKeyOf({ logSigningKey: undefined, dataDir });
    expect(signerFrom(made).name).toBe('payout-proxy');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual(['log-key.json']);
    expect(logKeyOf({ logSigningKey: undefined, dataDir }).reveal()).toBe(made.reveal());
    expect(knownLogKeyOf({ logSigningKey: undefined, dataDir })?.reveal()).toBe(made.reveal());
  });

  it('is the configured one, and then none is generated', () => {
    const given = new Secret(newSigningKey('example.com/payouts'));
    expect(logKeyOf({ logSigningKey: given, dataDir })).toBe(given);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('prevents the start if it is damaged, with a message that does not quote it', () => {
    const key = newSigningKey('log').replace(/\+[0-9a-f]{8}\+/, '+00000000+');
    const start = () => logKeyOf({ logSigningKey: new Secret(key), dataDir });
    expect(start).toThrow(StartError);
    expect(start).toThrow(/^LOG_SIGNING_KEY is invalid\. The signing key is damaged: [^/+]*$/);
    writeFileSync(file, '{"signingKey": "PRIVATE+');
    expect(() => logKeyOf({ logSigningKey: undefined, dataDir })).toThrow(/log-key\.json contains no signing key/);
  });

  it('prevents the start if it cannot be stored, with advice on what to set', () => {
    const blocked = join(dataDir, 'log-key.json', 'below');
    writeFileSync(file, '');
    chmodSync(file, 0o600);
    expect(() => logKeyOf({ logSigningKey: undefined, dataDir: blocked })).toThrow(/ENOTDIR.*Set LOG_SIGNING_KEY/);
  });
});
