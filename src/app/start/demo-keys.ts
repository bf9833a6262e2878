import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClientsService } from '../../access/clients/clients.service';
import { DemoClientsService } from '../../access/clients/demo-clients.service';
import { Scope } from '../../operations/catalogue/scopes';
import { RunningConfig, StartError } from '../../platform/config/config';
import { writePrivateJson } from '../../platform/config/secrets/private-file';

/** One client for each kind of user. The admin can also read everything, so one sign-in is enough. */
const DEMO_CLIENTS: Record<string, Scope[]> = {
  app: ['pay', 'write', 'read', 'account'],
  auditor: ['audit', 'audit:pii'],
  reconciler: ['reconcile', 'audit'],
  approver: ['approve', 'audit'],
  admin: ['admin', 'audit', 'audit:pii', 'reconcile', 'approve'],
};

export function demoKeysFile(dataDir: string): string {
  return join(dataDir, 'demo-keys.json');
}

/** Creates the demo clients at the first start of a database, and writes their keys to a private file. */
export async function ensureDemoKeys(clients: ClientsService, dataDir: string): Promise<string> {
  const file = demoKeysFile(dataDir);
  const known = new Set((await clients.list()).map(({ name }) => name));
  const isComplete = Object.keys(DEMO_CLIENTS).every((name) => known.has(name));
  if (isComplete && existsSync(file)) return file; // a file without clients belongs to a deleted database
  const keys: Record<string, string> = {};
  for (const [name, scopes] of Object.entries(DEMO_CLIENTS)) {
    const { key } = known.has(name) ? await clients.issueKey(name) : await clients.create(name, scopes);
    keys[name] = key;
  }
  writePrivateJson(file, keys);
  return file;
}

type DemoUpstream = Pick<RunningConfig, 'dataDir' | 'upstreamBaseUrl' | 'upstreamApiKey'>;

/** Records the sandbox that the demo clients belong to. */
export async function bindDemoClients(demo: DemoClientsService, settings: DemoUpstream): Promise<void> {
  await demo.markAs(nameOf(settings), keysIn(settings.dataDir));
}

/**
 * Rejects a start with demo keys and a real upstream, where they would pay real money.
 * @throws StartError if the database has demo clients of another upstream with valid keys.
 */
export async function refuseDemoClients(demo: DemoClientsService, settings: DemoUpstream): Promise<void> {
  await demo.markUnbound(keysIn(settings.dataDir));
  const strangers = await demo.foreignDemoClients(nameOf(settings));
  if (strangers.length === 0) return;
  throw new StartError(
    `the database has demo clients of the sandbox (${strangers.join(', ')}), but UPSTREAM_BASE_URL ` +
      'names another service. Set DATA_DIR to a new folder, or revoke all keys of these clients (npm run ' +
      'cli -- clients list, keys revoke).',
  );
}

function nameOf({ upstreamBaseUrl, upstreamApiKey }: DemoUpstream) {
  return { url: upstreamBaseUrl, apiKey: upstreamApiKey.reveal() };
}

function keysIn(dataDir: string): string[] {
  const file = demoKeysFile(dataDir);
  if (!existsSync(file)) return [];
  return Object.values(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>);
}
