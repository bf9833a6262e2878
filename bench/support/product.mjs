/** Starts the product as in production, on a new database, with a client that has every limit. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';
import { startNode } from './processes.mjs';

const ROOT = join(import.meta.dirname, '..', '..');

/** Node's options of `npm start`. The other contestants on Node get them too. */
export function nodeOptions(root = ROOT) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/** Limits that are never reached. Checking them takes time. */
export const CLIENT =
  '--name bench --scopes pay,write,read,audit,reconcile --daily-cap 999999999 --monthly-cap 999999999 ' +
  '--max-item 1000 --max-call 100000 --max-items 1000 --approval-over 100000 --countries Kenya';

/**
 * @param root its built checkout, which may be another one.
 * @param client the options of `clients create`, without which none is created. Its key is the `apiKey`.
 * @param logFile for its logs, which are part of its work.
 */
export async function startProduct({
  databaseUrl,
  upstreamUrl,
  dataDir,
  logFile,
  root = ROOT,
  processes = 1,
  client = CLIENT,
  env = {},
  args = [],
}) {
  const environment = {
    DATABASE_URL: databaseUrl,
    UPSTREAM_BASE_URL: upstreamUrl,
    UPSTREAM_API_KEY: 'bench-upstream-key',
    DATA_DIR: dataDir,
    PORT: '0',
    DRAIN_MS: '0',
    DUAL_CONTROL: 'false', // clients are created with a command
    UPSTREAM_CONNECTIONS: '128',
    ...env,
  };
  const running = [];
  const workerUrls = [];
  for (let count = 0; count < processes; count += 1) {
    const workerPort = await freePort();
    workerUrls.push(`http://127.0.0.1:${workerPort}`);
    const own = { ...environment, DATA_DIR: ownDataDir(dataDir, count), WORKER_PORT: String(workerPort) };
    const options = {
      env: own,
      args: [...nodeOptions(root), ...args],
      cwd: root,
      found: /Proxy\s+(http:\S+)/,
      logFile,
    };
    running.push(await startNode(join(root, 'dist', 'main.js'), options));
  }
  return {
    urls: running.map(({ url }) => url),
    workerUrls,
    pids: running.map(({ pid }) => pid),
    hasWorker: true, // Its descendants. A checkout from before there were workers has none.
    apiKey: client ? makeClient(root, environment, client) : undefined,
    stop: () => Promise.all(running.map(({ stop }) => stop())),
  };
}

/** Returns the DATA_DIR of a process. Each has its own, with the log key of the first. */
function ownDataDir(dataDir, count) {
  if (count === 0) return dataDir;
  const own = `${dataDir}-${count}`;
  mkdirSync(own, { recursive: true });
  copyFileSync(join(dataDir, 'log-key.json'), join(own, 'log-key.json'));
  return own;
}

function makeClient(root, environment, client) {
  const command = [join(root, 'dist', 'cli', 'main.js'), 'clients', 'create', ...client.split(' '), '--json'];
  const said = execFileSync(process.execPath, command, {
    cwd: root,
    env: { ...process.env, ...environment },
  });
  return JSON.parse(said.toString()).key;
}
