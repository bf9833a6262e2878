import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { KeyRing, ringOf, newSigningKey, Signer, signerOf, splitNotes } from '../../../src/history/log/note';
import { CheckpointFile } from '../../../src/history/log/sealing/checkpoint-file';
import { Sealing } from '../../../src/history/log/sealing/sealing';
import { signRecord } from '../../../src/history/log/signed-records';
import { Report, verifyLog } from '../../../src/history/log/verify/verify';
import { createTestDatabase, TestDatabase } from '../databases/test-database';
import { addStops, sealAll, sealerClient } from '../records/sealing';

/** A log during a key rotation. */
export interface KeyRotation {
  database: TestDatabase;
  /** Keys of the log, and a stranger's key under its name. */
  keys: Record<'old' | 'new' | 'stranger', Signer>;
  /** Keys of an instance before, during and after the rotation. */
  rings: Record<'before' | 'during' | 'after', KeyRing<Signer>>;
  /** Adds records and seals them with the keys of a ring. */
  seal(ring: KeyRing<Signer>, count?: number): Promise<void>;
  /** Creates a sealer with its own connection and checkpoint file. */
  sealer(ring: KeyRing<Signer>): Promise<{ sealing: Sealing; client: Client }>;
  /** Verifies the log with a key ring, and with the checkpoint file as witness. */
  verify(ring: KeyRing): Promise<Report>;
  /** Adds a signed empty erasure. */
  erase(by: Signer): Promise<void>;
  notes(): Promise<string[]>;
  close(): Promise<void>;
}

export async function keyRotation(): Promise<KeyRotation> {
  const database = await createTestDatabase();
  const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-log-keys-'));
  const file = join(dir, 'checkpoints');
  const clients: Client[] = [];
  const keys = { old: newKey(), new: newKey(), stranger: newKey() };
  const rings = {
    before: ringOf([keys.old]),
    during: ringOf([keys.new, keys.old]),
    after: ringOf([keys.new], [keys.old]),
  };
  const reader = new Client({ connectionString: database.ownerUrl });
  await reader.connect();
  const sealer = async (ring: KeyRing<Signer>) => {
    const client = await sealerClient(database);
    clients.push(client);
    return { sealing: new Sealing(ring, await CheckpointFile.open(file, ring)), client };
  };
  return {
    database,
    keys,
    rings,
    sealer,
    seal: async (ring, count = 3) => {
      await addStops(database, count);
      const { sealing, client } = await sealer(ring);
      await sealAll(sealing, client);
    },
    verify: async (ring) => {
      await reader.query('BEGIN');
      try {
        const notes = splitNotes(readFileSync(file, 'utf8'));
        return await verifyLog([reader], {
          ring,
          notes: notes.map((note) => ({ note, source: 'the witness' })),
        });
      } finally {
        await reader.query('ROLLBACK');
      }
    },
    erase: async (by) => {
      const row = {
        id: uuidv7(),
        kind: 'email' as const,
        reason: 'x',
        actor: null,
        places: [],
        erased_at: new Date(),
      };
      await database.query(
        `INSERT INTO erasure (id, kind, reason, places, erased_at, signature)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [row.id, row.kind, row.reason, [], row.erased_at, signRecord(by, 'erasure', row)],
      );
    },
    notes: async () => {
      const rows = await database.query<{ note: string }>('SELECT note FROM checkpoint ORDER BY size');
      return rows.map(({ note }) => note);
    },
    close: async () => {
      await Promise.all([reader, ...clients].map((client) => client.end()));
      await database.close();
      rmSync(dir, { recursive: true });
    },
  };
}

const newKey = () => signerOf(newSigningKey('test'));
