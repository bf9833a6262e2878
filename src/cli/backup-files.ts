import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ClientError } from '../access/clients/client-error';
import { keepLogKey, knownLogKeyOf, LOG_KEY_FILE, logKeyIn, signerFrom } from '../history/log/log-key';
import { Config } from '../platform/config/config';
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
    await pipeline(createReadStream(checkpointFile), createWriteStream(join(folder, CHECKPOINTS), options));
    names.push(CHECKPOINTS);
  }
  return Promise.all(names.map(async (name) => ({ name, sha256: await sha256Of(join(folder, name)) })));
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
  if (!own || !restored || signerFrom(own).verifierKey === signerFrom(restored).verifierKey) return;
  throw new ClientError(
    `This proxy signs the log with another key than the one in the backup. Set LOG_SIGNING_KEY to the key in ${join(folder, LOG_KEY_FILE)}, or move DATA_DIR/${LOG_KEY_FILE} aside.`,
  );
}

/** Restores the files that do not exist. Those that do are newer, and are evidence of what was lost. */
export async function restoreFiles(folder: string, config: Config): Promise<void> {
  const key = logKeyIn(folder);
  if (key && !knownLogKeyOf(config)) keepLogKey(config.dataDir, key);
  const [from, to] = [join(folder, CHECKPOINTS), config.checkpointFile];
  if (!existsSync(from) || to === undefined || existsSync(to)) return;
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
