import { createHash } from 'node:crypto';
import { lstatSync, rmSync, createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, rename, rm, copyFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ClientBase } from 'pg';
import { ClientError } from '../../access/clients/client-error';
import { Manifest, MANIFEST, newManifest } from '../../continuity/backup/manifest';
import { writeSnapshot } from '../../continuity/backup/snapshot';
import { keepLogKey, knownLogKeyOf, LOG_KEY_FILE, logKeyIn, logRingOf } from '../../history/log/log-key';
import { newestNote, signerAfter } from '../../history/log/log-key-check';
import { currentOf } from '../../history/log/note';
import { loadConfigOf, Config } from '../../platform/config/config';
import { makeFolder } from '../../platform/config/folder';
import { writePrivateJson } from '../../platform/config/secrets/private-file';
import { isUnavailable } from '../../platform/database/pools/unavailable';
import { withConnection } from '../../platform/database/servers/database-client';
import { print } from '../output';
import { Progress } from '../terminal';
import { withOwner } from './connection';

export interface BackupOptions {
  withoutTables?: boolean;
  json?: boolean;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function backUp(name: string, options: BackupOptions): Promise<void> {
  const folder = resolve(name); // without a slash at its end
  try {
    if (lstatSync(folder, { throwIfNoEntry: false })) throw folderExists(folder);
    makeFolder(dirname(folder), 0o700);
    const partial = await mkdtemp(`${folder}.partial-`); // each command has its own
    await removeIfInterrupted(partial, () => writeBackup(folder, partial, options));
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === 'rename' && (code === 'ENOTEMPTY' || code === 'ENOTDIR')) throw folderExists(folder);
    if (isUnavailable(error))
      throw new ClientError(
        `The database has ended the backup (${code ?? message}). There is no backup. Try again.`,
      );
    if (syscall === undefined) throw error;
    throw new ClientError(
      `${folder} cannot be written (${code}). There is no backup. Give a folder on another disk.`,
    );
  }
}

function folderExists(folder: string): ClientError {
  return new ClientError(`${folder} exists already. Give the name of a new folder.`);
}

/** Removes the folder, which has people's data and a secret key, after a failure or a signal. */
async function removeIfInterrupted(partial: string, work: () => Promise<void>): Promise<void> {
  const onSignal = (signal: NodeJS.Signals) => {
    rmSync(partial, { recursive: true, force: true, maxRetries: 3 });
    process.kill(process.pid, signal); // `once` has removed this listener, so the signal ends the process
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    await work();
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => undefined); // the disk may be full
    throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

async function writeBackup(folder: string, partial: string, options: BackupOptions): Promise<void> {
  const progress = new Progress('rows');
  await withOwner(async (ownerUrl) => {
    const files = await backUpFiles(partial, loadConfigOf('database'));
    const withTables = !options.withoutTables;
    const snapshot = await writeSnapshot(ownerUrl, partial, {
      withTables,
      onProgress: (rows, of) => progress.at(rows, of),
    });
    progress.end();
    const manifest = newManifest({ ...snapshot, files });
    writePrivateJson(join(partial, MANIFEST), manifest);
    const fault = await withConnection(ownerUrl, (client) => faultOfKey(partial, client));
    await rename(partial, folder);
    print(summaryOf(folder, manifest), options.json);
    if (fault !== undefined) process.stderr.write(`${fault}\n`);
  });
}

function summaryOf(folder: string, { taken_at, tables, epoch, sealed_size, files }: Manifest) {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return {
    folder,
    taken_at,
    tables: tables.length,
    rows,
    epoch,
    sealed_size,
    files: files.map(({ name }) => name),
  };
}

/** Name of CHECKPOINT_FILE in a backup. */
const CHECKPOINTS = 'checkpoints';

/** Copies the files to a backup. The checkpoints come first, so that the tables are never older. */
async function backUpFiles(folder: string, config: Config): Promise<Manifest['files']> {
  const names: string[] = [];
  const key = knownLogKeyOf(config);
  if (key) {
    keepLogKey(folder, key);
    names.push(LOG_KEY_FILE);
  }
  const { checkpointFile } = config;
  if (checkpointFile !== undefined && existsSync(checkpointFile)) {
    const options = { mode: 0o600, flush: true };
    const copying = pipeline(
      createReadStream(checkpointFile),
      createWriteStream(join(folder, CHECKPOINTS), options),
    );
    await copying.catch((error: NodeJS.ErrnoException) => {
      if (error.path !== checkpointFile && error.syscall !== 'read') throw error;
      throw new ClientError(`CHECKPOINT_FILE cannot be read (${error.code}). There is no backup.`);
    });
    names.push(CHECKPOINTS);
  }
  return Promise.all(names.map(async (name) => ({ name, sha256: await sha256Of(join(folder, name)) })));
}

/** Returns why the log's key of a backup cannot seal the restored log. Undefined if it can. */
async function faultOfKey(folder: string, db: ClientBase): Promise<string | undefined> {
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
 * @throws ClientError for a changed file, or if this proxy signs the log with another key.
 */
export async function checkFiles(folder: string, { files }: Manifest, config: Config): Promise<void> {
  for (const { name, sha256 } of files) {
    const found = await sha256Of(join(folder, name)).catch(() => undefined);
    if (found !== sha256)
      throw new ClientError(
        `${join(folder, name)} is missing or was changed. Take another copy of the backup.`,
      );
  }
  const [own, restored] = [knownLogKeyOf(config), logKeyIn(folder)];
  if (!own || !restored) return;
  if (currentOf(logRingOf({ logSigningKey: own }), logRingOf({ logSigningKey: restored }).current)) return;
  throw new ClientError(
    'This proxy signs the log with another key than the one in the backup. Set LOG_SIGNING_KEY to the key ' +
      `in ${join(folder, LOG_KEY_FILE)} (after the new key, if the key was changed since), or move ` +
      `DATA_DIR/${LOG_KEY_FILE} aside.`,
  );
}

/** Restores missing files. Existing ones are newer, and are evidence of the loss. */
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
