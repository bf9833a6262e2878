import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const BUILT = join(__dirname, '..', '..', '..', 'dist', 'app', 'start', 'stop.js');
const ENVIRONMENT = { PATH: process.env.PATH, npm_lifecycle_event: 'start' };

/** A process that waits for its stop. */
const PROXY = `
  require(${JSON.stringify(BUILT)}).onStop(() => {
    console.log('stopped');
    process.exit();
  });
  setInterval(() => undefined, 1000);
  console.log('running');
`;
/** A process whose parent ends during its start. */
const LATE_PROXY = `
  const { onStop } = require(${JSON.stringify(BUILT)});
  const parent = process.ppid;
  const starting = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(starting);
    onStop(() => {
      console.log('stopped');
      process.exit();
    });
    setTimeout(() => process.exit(1), 10_000); // it was not noticed
  }, 10);
  console.log('running');
`;
const SHELL = ['-c', `"$NODE" -e "$PROXY"; true`]; // does not become the proxy, because something follows it

/** Starts a process that looks like npm, as `npm start` does, and runs a shell. */
const NPM = `require('node:child_process').spawn('/bin/sh', ${JSON.stringify(SHELL)}, { stdio: 'inherit' })`;

describe('a proxy that npm runs', () => {
  it.each([
    ['its shell', '/bin/sh', SHELL],
    ['the npm of its shell', process.execPath, ['-e', NPM]],
  ])('stops when %s is gone', async (_who, program, args) => {
    const env = { ...ENVIRONMENT, NODE: process.execPath, PROXY };
    const parent = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    parent.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(parent.stdout, 'data');
    parent.kill('SIGKILL');
    await once(parent, 'close'); // when the last of its children has closed its output
    expect(said).toBe('running\nstopped\n');
  });

  it('stops when its shell has died before it watches', async () => {
    const env = { ...ENVIRONMENT, NODE: process.execPath, PROXY: LATE_PROXY };
    const parent = spawn('/bin/sh', SHELL, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    parent.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(parent.stdout, 'data');
    parent.kill('SIGKILL');
    await once(parent, 'close');
    expect(said).toBe('running\nstopped\n');
  });

  it('stops when its terminal is closed', async () => {
    const proxy = spawn(process.execPath, ['-e', PROXY], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    proxy.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(proxy.stdout, 'data');
    proxy.kill('SIGHUP');
    await once(proxy, 'close');
    expect(said).toBe('running\nstopped\n');
  });
});
