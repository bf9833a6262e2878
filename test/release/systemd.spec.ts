import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const UNITS = ['payout-proxy.service', 'payout-proxy-worker.service'];
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const unit = (name: string) => read(join('deploy', 'systemd', name));

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

describe.each(UNITS)('the unit %s', (name) => {
  it.each([
    'User=payout-proxy',
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    'ProtectSystem=strict',
    'ProtectHome=yes',
    'PrivateTmp=yes',
    'PrivateDevices=yes',
    'RestrictNamespaces=yes',
    'SystemCallFilter=@system-service',
    'UMask=0077',
    'StateDirectoryMode=0700',
    'Restart=on-failure',
  ])('has %s', (line) => {
    expect(unit(name).split('\n')).toContain(line);
  });

  it('has no secret, and reads the settings from a file', () => {
    expect(unit(name)).toMatch(/^EnvironmentFile=\/etc\/payout-proxy\/env$/m);
    expect(unit(name)).not.toMatch(/KEY|SECRET|PASSWORD|DATABASE_URL/);
  });

  it('is accepted by an installed systemd', () => {
    // A container may lack it; the lines above are tested anyway.
    if (!existsSync('/usr/bin/systemd-analyze')) return;
    const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-units-'));
    const { username } = userInfo(); // verify requires an existing user and program
    const here = unit(name)
      .replace(/^(User|Group)=.*$/gm, `$1=${username}`)
      .replace('/usr/bin/node', process.execPath);
    writeFileSync(join(folder, name), here);
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, name)], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe('the units', () => {
  it('start the commands of npm start and npm run worker start', () => {
    const [start, worker] = UNITS.map((name) => /^ExecStart=\/usr\/bin\/(.*)$/m.exec(unit(name))?.[1]);
    expect([start, worker]).toEqual([scripts.start, scripts.worker]);
  });

  it('leave the worker to its own unit', () => {
    expect(unit('payout-proxy.service')).toMatch(/^Environment=.* START_WORKER=false$/m);
  });

  it('share all other restrictions', () => {
    const guards = UNITS.map((name) => unit(name).split('# Nothing of the machine')[1]);
    expect(guards[0]).toBe(guards[1]);
  });
});
