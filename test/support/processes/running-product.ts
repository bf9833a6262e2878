import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../payments/paying';
import { isGone, Product, readJson, withDescendants } from './process';

export const READY = /payout-proxy is ready\s+(http\S+)/;

/** The processes of a ready start. */
interface RunningProduct {
  url: string;
  sandbox: string;
  postgres: number;
  /** The proxy, its worker, its sandbox and its Postgres. */
  processes: number[];
}

/** Waits until a start is ready, and returns its processes. */
export async function runningProduct(product: Product, dataDir: string): Promise<RunningProduct> {
  const [, url = ''] = await product.said(READY);
  const sandbox = readJson(dataDir, 'sandbox.json').url;
  expect(await Promise.all([answers(url), answers(sandbox)])).toEqual([true, true]);
  return { url, sandbox, postgres: postgresIn(dataDir), processes: withDescendants(product.pid) };
}

export async function expectStopped({ url, sandbox, postgres, processes }: RunningProduct): Promise<void> {
  await eventually(() => [postgres, ...processes].every(isGone));
  await eventually(async () => !(await answers(sandbox)));
  expect(await answers(url)).toBe(false);
}

/** Returns the process ID of the embedded Postgres. */
export function postgresIn(dataDir: string): number {
  const cluster = join(realpathSync(`${dataDir}/postgres`), 'cluster');
  return Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** Returns whether a server answers at an address. */
export const answers = (url: string) => fetch(url).then(Boolean, () => false);
