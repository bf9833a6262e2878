import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { KIND_NAMES } from '../../../src/history/log/kinds';
import { KeyRing, ringOf, newSigningKey, Signer, signerOf, splitNotes } from '../../../src/history/log/note';
import { timeOfId } from '../../../src/history/log/verify/fault';
import { Report, verifyLog } from '../../../src/history/log/verify/verify';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { createTestDatabase, TestDatabase } from '../databases/test-database';
import { FakeUpstream } from '../network/fake-upstream';
import { eventually } from '../payments/paying';
import { startProxy, TestProxy } from '../processes/proxy';

/** The sealed history of a proxy. Calls are oldest first. */
export interface SealedScene {
  database: TestDatabase;
  client: Client;
  signer: Signer;
  ring: KeyRing<Signer>;
  dir: string;
  checkpointFile: string;
  calls: string[];
  /** Calls of the second half, sealed after a checkpoint that covers the first. */
  later: string[];
  /** Restarts the proxy during the work. Seals everything afterwards. */
  withProxy(
    work: (proxy: TestProxy, key: (...scopes: ('audit' | 'audit:pii')[]) => Promise<string>) => Promise<void>,
  ): Promise<void>;
  /** Verifies the history after a change by the owner of the database, and then restores it. */
  verifyAfter(...changes: (string | [sql: string, values: unknown[]])[]): Promise<Report>;
  /** The age at which the search index must have a record. Undefined for the default. */
  indexDelaySeconds: number | undefined;
  close(): Promise<void>;
}

export async function makeSealedScene(): Promise<SealedScene> {
  const [database, upstream] = [await createTestDatabase(), await FakeUpstream.start()];
  const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-verify-'));
  const [key, checkpointFile] = [newSigningKey('test'), join(dir, 'checkpoints')];
  const signer = signerOf(key);
  const ring = ringOf([signer]);
  const client = new Client({ connectionString: database.ownerUrl });
  client.on('error', () => undefined);
  await client.connect();
  let people = 0;

  const withProxy: SealedScene['withProxy'] = async (work) => {
    const settings = { upstreamBaseUrl: upstream.url, logSigningKey: new Secret(key), checkpointFile };
    const proxy = await startProxy(settings, database);
    await proxy.startWorker();
    await work(proxy, async (...scopes) => (await proxy.client(`c${(people += 1)}`, ...scopes)).key);
    await eventually(() => isSealed(database));
    await proxy.close();
  };
  const make = async (count: number) => {
    const ids: string[] = [];
    await withProxy(async (proxy, newKey) => {
      const { key: app } = await proxy.client(`app${(people += 1)}`, 'pay', 'write', 'read', 'account');
      for (let each = 0; each < count; each += 1) {
        const credits = [
          { email: `ada${each}@example.com`, twitter: '@Ada', valueInUSD: 2.5 },
          { email: 'bob@example.com', valueInUSD: 1.25 },
        ];
        ids.push(
          (await proxy.post(app, '/payouts/credit', { credits }).expect(200)).headers['x-call-id'] as string,
        );
      }
      await proxy.post(app, '/payouts/credit', { credits: [{ valueInUSD: -1 }] }).expect(400);
      await proxy.get(app, '/api/v0.1/info/assets');
      await proxy
        .get(await newKey('audit', 'audit:pii'), '/v1/audit/calls?recipient=ada1%40example.com')
        .expect(200);
      await database.query(`WITH stopped AS (
        INSERT INTO stop (id, reason) VALUES (uuid_floor(clock_timestamp()), 'a test') RETURNING id
      ) INSERT INTO stop_lift (stop_id) SELECT id FROM stopped`);
    });
    return ids;
  };
  const calls = await make(4);
  const later = await make(4);
  const scene: SealedScene = {
    indexDelaySeconds: undefined,
    database,
    client,
    signer,
    ring,
    dir,
    checkpointFile,
    calls,
    later,
    withProxy,
    verifyAfter: async (...changes) => {
      await client.query('BEGIN; SET LOCAL session_replication_role = replica');
      try {
        for (const change of changes)
          await (typeof change === 'string' ? client.query(change) : client.query(...change));
        const notes = splitNotes(readFileSync(checkpointFile, 'utf8'));
        const named = notes.map((note, place) => ({ note, source: `note ${place + 1}` }));
        const { indexDelaySeconds } = scene;
        return await verifyLog([client], { ring, notes: named, indexDelaySeconds });
      } finally {
        await client.query('ROLLBACK');
      }
    },
    close: async () => {
      await client.end();
      await upstream.stop();
      await database.close();
      rmSync(dir, { recursive: true });
    },
  };
  return scene;
}

export async function isSealed(database: TestDatabase): Promise<boolean> {
  const records = KIND_NAMES.map((name) => `(SELECT count(*) FROM ${name})`).join(' + ');
  const [row] = await database.query(`SELECT ${records} = (SELECT count(*) FROM audit.leaves) AS sealed`);
  return row?.sealed as boolean;
}

/** Returns the time of a call's receipt, from its ID. */
export const receivedAt = (id: string) => new Date(timeOfId(id)).toISOString();

/** Returns another ID of the same time. */
export function anotherId(id: string): string {
  return `${id.slice(0, -4)}${id.endsWith('0000') ? '0001' : '0000'}`;
}

/** Returns the index of a record's leaf. */
export async function leafOf({ database }: SealedScene, kind: string, id: string): Promise<number> {
  const sql = 'SELECT index::integer AS index FROM leaves_of($2) WHERE kind = $1';
  const [row] = await database.query<{ index: number }>(sql, [kind, id]);
  return row?.index ?? -1;
}
