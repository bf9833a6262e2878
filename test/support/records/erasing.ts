import { auditCommands } from '../../../src/cli/audit/audit';
import { newSigningKey } from '../../../src/history/log/note';
import { RunningConfig } from '../../../src/platform/config/config';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { TestDatabase } from '../databases/test-database';
import { eventually, startPaying } from '../payments/paying';
import { cliOf } from '../processes/cli';
import { removeDataDir } from '../processes/data-dir';
import { newDataDir } from '../processes/process';
import { asText, linesOf } from './export-files';

/** Result of `audit erase --json`. */
interface ErasureOutput {
  id: string | null;
  places: string[];
  open: string[];
  kept: string[];
}

const HAS_UNSEALED = `
  SELECT EXISTS (
    SELECT FROM intent WHERE NOT EXISTS (SELECT FROM leaves_of(intent.id) l WHERE l.kind = 'intent')
    UNION ALL
    SELECT FROM refusal WHERE NOT EXISTS (SELECT FROM leaves_of(refusal.id) l WHERE l.kind = 'refusal')
  ) AS found`;

/** A proxy with payments and a log key, and the operator's commands. */
export type Erasing = Awaited<ReturnType<typeof startErasing>>;

/** Sets the environment of the commands until `close`. */
export async function startErasing(settings: Partial<RunningConfig> = {}) {
  const logKey = newSigningKey('test');
  const paying = await startPaying({ logSigningKey: new Secret(logKey), ...settings });
  const { database } = paying.proxy;
  const { url, ownerUrl } = database;
  const dataDir = newDataDir(); // not that of a product that was started in this folder, with its checkpoints
  Object.assign(process.env, {
    DATABASE_URL: url,
    DATABASE_OWNER_URL: ownerUrl,
    LOG_SIGNING_KEY: logKey,
    DATA_DIR: dataDir,
  });
  const audit = cliOf(auditCommands);
  const query: TestDatabase['query'] = (sql, parameters) => database.query(sql, parameters);
  const sealed = () =>
    eventually(async () => (await query<{ found: boolean }>(HAS_UNSEALED))[0]?.found === false);
  return {
    ...paying,
    logKey,
    audit,
    query,
    /** Resolves once all calls are sealed. */
    sealed,
    erase: async (...args: string[]) => {
      const { stdout, exitCode } = await audit('erase', '--json', ...args);
      return { ...(JSON.parse(stdout) as ErasureOutput), exitCode };
    },
    verify: async () => {
      await sealed();
      return JSON.parse((await audit('verify', '--json')).stdout) as { ok: boolean; fault: unknown };
    },
    /** Exports all calls. */
    exported: async <Row extends object>() => {
      const request = paying.proxy.get(paying.auditor, '/v1/audit/export?format=ndjson');
      return linesOf((await request.buffer(true).parse(asText).expect(200)).body) as Row[];
    },
    close: async () => {
      delete process.env.LOG_SIGNING_KEY;
      delete process.env.DATA_DIR;
      removeDataDir(dataDir);
      await paying.close();
    },
  };
}
