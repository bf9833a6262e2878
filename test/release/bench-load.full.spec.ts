import { ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, Server } from 'node:http';
import { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const BENCH = join(__dirname, '..', '..', 'bench');

/** The result of a round of bench/load/client.mjs. */
interface Result {
  requests: number;
  seconds: number;
  failures: [string, number][];
  medianMs: number;
  p99Ms: number;
}

describe('the load generator of the benchmark', () => {
  let server: Server;
  let load: ChildProcess;
  let url: string;
  /** Duration of a stall that begins with the next request. */
  let stallMs = 0;
  let stalledUntil = 0;
  const keys = new Set<string | string[] | undefined>();

  beforeAll(async () => {
    server = createServer((request, response) => {
      keys.add(request.headers['x-api-key']);
      request.resume().on('end', () => {
        if (stallMs > 0) stalledUntil = performance.now() + stallMs;
        stallMs = 0;
        setTimeout(() => response.end('{}'), Math.max(0, stalledUntil - performance.now()));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    load = fork(join(BENCH, 'load', 'client.mjs'));
  });
  afterAll(() => {
    load.kill();
    server.close();
  });

  const run = async (round: object): Promise<Result> => {
    load.send({ urls: [url], apiKey: 'key', operation: 'airtime', connections: 4, ...round });
    const [result] = (await once(load, 'message')) as [Result];
    return result;
  };

  it('measures latency from the scheduled time, so a stall counts for all delayed requests', async () => {
    stallMs = 600;
    const { requests, seconds, failures, medianMs, p99Ms } = await run({ rate: 200, seconds: 1 });
    expect([requests, failures]).toEqual([200, []]);
    expect(seconds).toBeGreaterThan(0.99);
    // 120 requests are due during the stall. Four of them are sent.
    expect(p99Ms).toBeGreaterThan(550);
    expect(medianMs).toBeGreaterThan(50);
  });

  it('sends a fixed number of requests in a closed loop', async () => {
    const { requests, failures } = await run({ requests: 50 });
    expect([requests, failures]).toEqual([50, []]);
  });

  it('spreads requests over routes, each with its own key', async () => {
    const routes = ['one', 'two', 'three'].map((apiKey) => ({ url, apiKey }));
    const { requests, failures } = await run({ requests: 200, routes, apiKey: undefined });
    expect([requests, failures]).toEqual([200, []]);
    expect([...keys].sort()).toEqual(['key', 'one', 'three', 'two']);
  });
});

describe('the costs measured by the benchmark', () => {
  it('include descendants that have ended', () => {
    const measured = execFileSync(process.execPath, [
      '--input-type=module',
      '--eval',
      `import { spawnSync } from 'node:child_process';
       import * as measured from '${pathToFileURL(join(BENCH, 'support', 'processes.mjs')).href}';
       const { busySeconds, cpuSecondsOf, cpuSecondsOfFamily, waitSecondsOf } = measured;
       const { pid } = process;
       const figures = () => [cpuSecondsOf(pid), cpuSecondsOfFamily(pid), busySeconds(), waitSecondsOf(pid)];
       const before = figures();
       spawnSync(process.execPath, ['--eval', 'while (process.cpuUsage().user < 500_000);']);
       console.log(JSON.stringify(figures().map((figure, place) => figure - before[place])));`,
    ]);
    const [own = NaN, family = NaN, busy = NaN, waited = NaN] = JSON.parse(measured.toString()) as number[];
    expect(own).toBeLessThan(0.4);
    expect(family).toBeGreaterThan(0.4);
    expect(busy).toBeGreaterThan(0.4);
    expect(waited).toBeGreaterThanOrEqual(0);
  });
});
