import { Client } from 'pg';
import { ClientError } from '../../access/clients/client-error';
import { isPersonId } from '../../access/clients/sign-ins';
import { knownLogKeyOf, logRingOf } from '../../history/log/log-key';
import { newestNote, signerAfter } from '../../history/log/log-key-check';
import { KeyRing, Signer } from '../../history/log/note';
import { RemovalRequest } from '../../history/retention/erasures';
import { loadConfigOf, StartError } from '../../platform/config/config';
import { DATABASE_MS } from '../../platform/database/clock';
import { ServerClient } from '../../platform/database/servers/server-client';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { compareClock, withOwner } from '../database/connection';
import { changedByOperator } from '../operator';

/** Options of the commands that delete from the history. */
export interface RetentionOptions {
  reason: string;
  actor?: string;
  yes?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

/**
 * Runs work with the rights of the database's owner, because the proxy may not delete. The record names the
 * person in --actor, or else the user of the operating system.
 */
export async function withRetention(
  { reason, actor }: Pick<RetentionOptions, 'reason' | 'actor'>,
  work: (db: Client, wish: RemovalRequest) => Promise<void>,
): Promise<void> {
  const operator = changedByOperator(reason);
  if (actor !== undefined && !isPersonId(actor)) {
    throw new ClientError(
      '--actor must be 1 to 128 letters, digits and the characters _ . : = / -. Identify the person by an ' +
        'ID, not by a phone number.',
    );
  }
  await withOwner(async (ownerUrl) => {
    const ring = logRing();
    const db = new ServerClient({ connectionString: ownerUrl });
    await db.connect();
    try {
      await compareClock(
        async () => (await db.query<{ ms: number }, []>(DATABASE_MS)).rows as [{ ms: number }],
      );
      const signer = await ownSigner(db, ring);
      await work(db, { reason: proseAsRecorded(reason), actor: actor ?? operator.actor, signer, ring });
    } finally {
      await db.end();
    }
  });
}

function logRing(): KeyRing<Signer> {
  const config = loadConfigOf('database');
  const logSigningKey = knownLogKeyOf(config);
  if (!logSigningKey) {
    throw new StartError(
      'Deletions must be signed with the key of the log. Set LOG_SIGNING_KEY to the value of the proxy, or ' +
        'DATA_DIR to the directory with its own key.',
    );
  }
  return logRingOf({ ...config, logSigningKey });
}

/** Requires the key of the log. Deletions with another signature would look like tampering. */
async function ownSigner(db: Client, ring: KeyRing<Signer>): Promise<Signer> {
  const signer = signerAfter(await newestNote(db), ring);
  if (signer) return signer;
  throw new StartError(
    'LOG_SIGNING_KEY is not the key that signed the latest checkpoint of this database. Nothing was changed.',
  );
}
