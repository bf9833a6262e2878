import { INestApplicationContext } from '@nestjs/common';
import { Client } from 'pg';
import { RunningConfig } from '../../../src/platform/config/config';
import { Sandbox } from '../../../src/sandbox/app';
import { DEFAULT_CONTROL_KEY } from '../../../src/sandbox/behaviour/settings';
import type { RunRecord } from '../http/api';
import supertest, { TypedApiRequest } from '../http/supertest';
import { airtime, eventually } from '../payments/paying';
import { startProxyWithSandbox, TestProxy, UPSTREAM_KEY } from '../processes/proxy';
import { askSandbox, SandboxRequest } from '../sandbox/sandbox-answers';

/** A proxy in front of a sandbox, a paying client and a reconciler. */
export interface ReconciliationScene {
  proxy: TestProxy;
  /** Executes the runs, and resolves calls in doubt on request. */
  worker: INestApplicationContext;
  sandbox: Sandbox;
  app: string;
  reconciler: string;
  /** Pays airtime through the proxy, as the app does. */
  pay(phoneNumber: string): TypedApiRequest<'post', '/api/v0.1/payouts/airtime'>;
  /** Sends a request with the upstream's own key, bypassing the proxy. */
  past<const Path extends string>(path: Path, body: object): SandboxRequest<'post', `/api/v0.1${Path}`>;
  /** Changes the behaviour of the sandbox. */
  behave(settings: object): Promise<void>;
  /** Requests a fault of the sandbox. */
  fault(fault: object): Promise<void>;
  /** Applies the sandbox's status changes of the next seconds now. */
  hurry(): Promise<void>;
  close(): Promise<void>;
}

export async function startReconciling(settings: Partial<RunningConfig> = {}): Promise<ReconciliationScene> {
  const proxy = await startProxyWithSandbox({ checkCoverage: false, ...settings });
  const worker = await proxy.startWorker();
  const { sandbox } = proxy;
  const app = (await proxy.client('app', 'pay', 'write', 'read', 'account')).key;
  const reconciler = (await proxy.client('reconciler', 'reconcile')).key;
  const control = (method: 'patch' | 'post', path: string) =>
    askSandbox(sandbox.url)[method](`/_sandbox${path}`).set('X-Sandbox-Control-Key', DEFAULT_CONTROL_KEY);
  return {
    proxy,
    worker,
    sandbox,
    app,
    reconciler,
    pay: (phoneNumber) => proxy.post(app, '/payouts/airtime', airtime(phoneNumber)),
    past: (path, body) =>
      askSandbox(sandbox.url).post(`/api/v0.1${path}`).set('X-API-Key', UPSTREAM_KEY).send(body),
    behave: async (changes) => {
      await control('patch', '/settings').send(changes).expect(200);
    },
    fault: async (fault) => {
      await control('post', '/faults').send(fault).expect(201);
    },
    hurry: () => hurry(proxy.database.sandboxUrl),
    close: () => proxy.close(),
  };
}

async function hurry(sandboxUrl: string): Promise<void> {
  const client = new Client({ connectionString: sandboxUrl });
  await client.connect();
  try {
    await client.query("UPDATE due_changes SET due_at = now() - interval '1 second'");
    await eventually(async () => (await client.query('SELECT FROM due_changes LIMIT 1')).rowCount === 0);
  } finally {
    await client.end();
  }
}

/** Returns a period from an hour ago until now. */
export function untilNow(): { from: string; to: string } {
  return { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };
}

/** Address and key for requests about runs. */
export interface ProxyAccess {
  url: string;
  key: string;
}

export function askForRun(
  { url, key }: ProxyAccess,
  request: object,
): TypedApiRequest<'post', '/v1/reconciliation/runs'> {
  return supertest(url).post('/v1/reconciliation/runs').set('X-API-Key', key).send(request);
}

export async function readRun({ url, key }: ProxyAccess, id: string): Promise<RunRecord> {
  const { body } = await supertest(url)
    .get(`/v1/reconciliation/runs/${id}`)
    .set('X-API-Key', key)
    .expect(200);
  return body;
}

/** Waits until a run has ended. */
export async function ended(access: ProxyAccess, id: string): Promise<RunRecord> {
  let run!: RunRecord;
  await eventually(async () => (run = await readRun(access, id)).state === 'ended');
  return run;
}

/** Starts a run and waits for its end. */
export async function reconcile(access: ProxyAccess, request: object): Promise<RunRecord> {
  const { body } = await askForRun(access, request).expect(202);
  return ended(access, body.id);
}
