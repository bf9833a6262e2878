import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ClientBase } from 'pg';
import { pipeline } from 'node:stream/promises';
import { ClientError } from '../access/clients/client-error';
import { currentOf } from '../history/log/note';
import { keepLogKey, knownLogKeyOf, LOG_KEY_FILE, logKeyIn, logRingOf } from '../history/log/log-key';
import { newestNote, signerAfter } from '../history/log/log-key-check';
import { Config } from '../platform/config/config';
import { makeFolder } from '../platform/config/folder';
import { Manifest } from '../platform/database/backup/manifest';

/** The name of CHECKPOINT_FILE in a backup. The other file beside the tables is the log's key. */
const CHECKPOINTS = 'checkpoints';

/** Copies the files to a backup. The checkpoints come first, so that the tables are never older. */
export async function backUpFiles(folder: string, config: Config): Promise<Manifest['files']> {
  const names: string[] = [];
  const key = knownLogKeyOf(config);
  if (key) {
    keepLogKey(folder, key);
    names.push(LOG_KEY_FILE);
  }
  const { checkpointFile } = config;
  if (checkpointFile !== undefined && existsSync(checkpointFile)) {
    const options = { mode: 0o600, flush: true };
    const copying = pipeline(createReadStream(checkpointFile), createWriteStream(join(folder, CHECKPOINTS), options));
    await copying.catch((error: NodeJS.ErrnoException) => {
      if (error.path !== checkpointFile && error.syscall !== 'read') throw error;
      throw new ClientError(`CHECKPOINT_FILE cannot be read (${error.code}). There is no backup.`);
    });
    names.push(CHECKPOINTS);
  }
  return Promise.all(names.map(async (name) => ({ name, sha256: await sha256Of(join(folder, name)) })));
}

/**
 * Says what is wrong with the log's key of a backup, which cannot seal the restored log.
 * @returns undefined if nothing is.
 */
export async function faultOfKey(folder: string, db: ClientBase): Promise<string | undefined> {
  const key = logKeyIn(folder);
  const note = await newestNote(db);
  if (note === undefined || (key && signerAfter(note, logRingOf({ logSigningKey: key })))) return undefined;
  const give = "Give this command the proxy's LOG_SIGNING_KEY or DATA_DIR, or keep the key elsewhere.";
  return key
    ? `The key in the backup is not the one that signed the newest checkpoint. ${give}`
    : `The backup has no key of the log. ${give}`;
}

/**
 * Checks the files of a backup, before anything is restored.
 * @throws ClientError if one was changed, or if this proxy signs the log with another key.
 */
export async function checkFiles(folder: string, { files }: Manifest, config: Config): Promise<void> {
  for (const { name, sha256 } of files) {
    const found = await sha256Of(join(folder, name)).catch(() => undefined);
    if (found !== sha256)
      throw new ClientError(`${join(folder, name)} is missing or was changed. Take another copy of the backup.`);
  }
  const [own, restored] = [knownLogKeyOf(config), logKeyIn(folder)];
  if (!own || !restored) return;
  if (currentOf(logRingOf({ logSigningKey: own }), logRingOf({ logSigningKey: restored }).current)) return;
  throw new ClientError(
    `This proxy signs the log with another key than the one in the backup. Set LOG_SIGNING_KEY to the key in ${join(folder, LOG_KEY_FILE)} (if the key was changed since, list it after the new one), or move DATA_DIR/${LOG_KEY_FILE} aside.`,
  );
}

/** Restores the files that do not exist. Those that do are newer, and are evidence of what was lost. */
export async function restoreFiles(folder: string, config: Config): Promise<void> {
  const key = logKeyIn(folder);
  if (key && !knownLogKeyOf(config)) keepLogKey(config.dataDir, key);
  const [from, to] = [join(folder, CHECKPOINTS), config.checkpointFile];
  if (!existsSync(from) || to === undefined || existsSync(to)) return;
  makeFolder(dirname(to));
  await copyFile(from, to);
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
