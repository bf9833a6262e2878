import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EpochFile, LastEpoch } from './epoch-file';
import { RecentCommits } from './recent-commits';

const ID = '0199a1fc-4cd8-7a75-9daa-6e9463876b80';
const SEEN: LastEpoch = {
  instance: ID,
  epoch: 1,
  beat: '12',
  admitted: [ID],
  answered: [],
  approved: [],
  sealed_size: 3,
  system_identifier: '7500000000000000001',
  timeline: 1,
  seen_at: '2026-11-24T00:00:00.000Z',
};

describe('EpochFile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-epoch-file-'));
  const path = join(folder, 'data', 'epoch.json');
  const file = new EpochFile(path);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('reads its own writes, and returns undefined before the first', async () => {
    expect(file.read()).toBeUndefined();
    await file.write({ ...SEEN, beat: '11' });
    await file.write(SEEN);
    expect(file.read()).toEqual(SEEN);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['', 'instance, epoch, beat'],
    ['{"instance":', 'instance, epoch, beat'],
    ['null', 'instance, epoch, beat'],
    [JSON.stringify({ ...SEEN, instance: 'me' }), 'instance'],
    [JSON.stringify({ ...SEEN, beat: '-1' }), 'beat'],
    [JSON.stringify({ ...SEEN, admitted: ['a'] }), 'admitted'],
    [JSON.stringify({ ...SEEN, approved: undefined }), 'approved'],
    [JSON.stringify({ ...SEEN, sealed_size: '3' }), 'sealed_size'],
  ])('rejects %j and names the remedy', (text, members) => {
    writeFileSync(path, text);
    expect(() => file.read()).toThrow(`is damaged (${members}`);
    expect(() => file.read()).toThrow('delete the file and start again');
  });
});

describe('RecentCommits', () => {
  it('keeps the newest commits, however long no heartbeat is confirmed', () => {
    const commits = new RecentCommits();
    for (let number = 0; number < 10_000; number += 1) commits.add('admitted', String(number));
    const ids = commits.idsOf('admitted');
    expect(ids.at(-1)).toBe('9999');
    expect(ids.length).toBeGreaterThanOrEqual(500);
    expect(ids.length).toBeLessThan(1_000);
  });

  it('drops commits that a later heartbeat covers', () => {
    const commits = new RecentCommits();
    commits.add('answered', ID);
    const sentAt = performance.now();
    commits.forgetBefore(sentAt - 60_000);
    expect(commits.idsOf('answered')).toEqual([ID]);
    commits.forgetBefore(sentAt + 1);
    expect(commits.idsOf('answered')).toEqual([]);
  });
});
