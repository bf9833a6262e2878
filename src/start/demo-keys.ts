import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ClientsService } from '../clients/clients.service';
import { Scope } from '../clients/scopes';
import { writePrivateJson } from '../config/private-file';

/** One client for each kind of user; the admin's key also shows everything, so that a newcomer signs in to the console once. */
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

/** Makes the demo clients at the first start of a database, and writes their keys once, readable by their owner only. */
export async function ensureDemoKeys(clients: ClientsService, dataDir: string): Promise<string> {
  const file = demoKeysFile(dataDir);
  const known = new Set((await clients.list()).map(({ name }) => name));
  const isComplete = Object.keys(DEMO_CLIENTS).every((name) => known.has(name));
  if (isComplete && existsSync(file)) return file; // a file without clients is of a database that is gone
  const keys: Record<string, string> = {};
  for (const [name, scopes] of Object.entries(DEMO_CLIENTS)) {
    const { key } = known.has(name) ? await clients.issueKey(name) : await clients.create(name, scopes);
    keys[name] = key;
  }
  writePrivateJson(file, keys);
  return file;
}
