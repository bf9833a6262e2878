/**
 * The contestants. Each runs for the whole benchmark, on a database of its own if it needs one, and idles
 * while others are measured.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { startIdentityProvider } from './support/identity-provider.mjs';
import { startNode } from './support/processes.mjs';
import { CLIENT, nodeOptions, startProduct } from './support/product.mjs';

export const PRODUCT = 'payout-proxy';

const BASELINES = join(import.meta.dirname, 'baselines');
const baseline = (name) => (dependencies) => startBaseline(name, dependencies);
const product = (options) => (dependencies) => startProduct({ ...dependencies, ...options });

/** In the order of the tables. Each start function gets {databaseUrl, upstreamUrl, dataDir, logFile}. */
const CONTESTANTS = {
  direct: ({ upstreamUrl }) => ({ urls: [upstreamUrl], pids: [], apiKey: 'none', stop: () => undefined }),
  nginx: baseline('nginx'),
  'fastify-http-proxy': baseline('fastify-http-proxy'),
  'http-proxy-middleware': baseline('http-proxy-middleware'),
  floor: baseline('floor'),
  plain: baseline('plain'),
  [PRODUCT]: product({}),
  [`${PRODUCT}-relaxed`]: product({ env: { OUTCOMES: 'relaxed' } }),
  [`${PRODUCT}-tokens`]: withTokens,
  [`${PRODUCT}-two-processes`]: product({ processes: 2 }),
};

/** The contestants of the short benchmark. */
export const ESSENTIAL = ['direct', 'fastify-http-proxy', 'http-proxy-middleware', 'floor', 'plain', PRODUCT];

/** Returns the contestants that can run here. nginx does not come with npm. */
export function contestants() {
  const hasNginx = spawnSync('nginx', ['-v']).status === 0;
  return Object.keys(CONTESTANTS).filter((name) => name !== 'nginx' || hasNginx);
}

/** @param name of CONTESTANTS, or the folder of another built checkout of the product. */
export function start(name, dependencies) {
  const starting = CONTESTANTS[name] ?? product({ root: name });
  return starting(dependencies);
}

async function startBaseline(name, { databaseUrl, upstreamUrl }) {
  const apiKey = 'pp_bench_key';
  const env = {
    UPSTREAM_URL: upstreamUrl,
    UPSTREAM_API_KEY: 'bench-upstream-key',
    API_KEY: apiKey,
    DATABASE_URL: databaseUrl,
  };
  const { url, pid, stop } = await startNode(join(BASELINES, `${name}.mjs`), { env, args: nodeOptions() });
  return { urls: [url], pids: [pid], apiKey, stop };
}

/** More people than any row has connections. Each connection is the app of one. */
const PEOPLE = 256;

/** Starts the product with the same client and limits, whose apps send access tokens. */
async function withTokens(dependencies) {
  const provider = await startIdentityProvider(PEOPLE);
  const running = await startProduct({ ...dependencies, client: `${CLIENT} ${provider.options}` });
  const stop = async () => {
    await running.stop();
    provider.stop();
  };
  return { ...running, tokens: provider.tokens, stop };
}
