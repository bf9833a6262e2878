import { INestApplicationContext, Logger } from '@nestjs/common';
import { AT_START, ChangeAuthor, ChangeRecords } from '../../access/clients/changes';
import { TRANSACTION_LIMITS } from '../../access/clients/clients.service';
import { lockChanges } from '../../access/dual-control/pending-changes';
import { RecordedConfiguration } from '../../platform/config/recorded-configuration';
import { SecretReloadService } from '../../platform/config/secrets/secret-reload.service';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { codeOrNameOf } from '../../platform/errors/error-code';
import { asRecorded } from '../../platform/privacy/recorded';

/** Kinds of processes. Workers have their own configuration. */
type ProcessKind = 'proxy' | 'worker';

type RecordedValues = Record<string, string | null>;

/**
 * Records the settings that differ from those of the last recorded start of any instance. The first start
 * records all. Later, each secret that is replaced in its file is recorded, too.
 */
export async function recordConfiguration(
  app: INestApplicationContext,
  of: ProcessKind,
  configuration: RecordedConfiguration,
): Promise<void> {
  let current = configuration;
  let recording = record(app, of, current, AT_START);
  app.get(SecretReloadService, { strict: false }).onReload((name, secret) => {
    current = { ...current, [name]: secret.fingerprint };
    const changed = current;
    recording = recording.then(() => record(app, of, changed, { ...AT_START, via: of }));
  });
  await recording;
}

/** Records settings. A failure does not stop the process: the next start records them. */
async function record(
  app: INestApplicationContext,
  of: ProcessKind,
  configuration: RecordedConfiguration,
  by: ChangeAuthor,
): Promise<void> {
  const records = app.get(ChangeRecords, { strict: false });
  try {
    await app.get(SidePrisma, { strict: false }).$transaction(async (tx) => {
      await lockChanges(tx);
      const last = await lastRecorded(tx, of);
      const { before, after } = differences(last ?? {}, masked(configuration));
      if (Object.keys(after).length === 0) return;
      const states = {
        before: last && { process: of, configuration: before },
        after: { process: of, configuration: after },
      };
      await records.record(
        tx,
        [{ action: 'configuration_changed', client: null, keyId: null, ...states }],
        by,
      );
    }, TRANSACTION_LIMITS);
  } catch (error) {
    new Logger('Configuration').warn({ reason: codeOrNameOf(error) }, 'configuration not recorded');
  }
}

/** Returns the recorded settings. Null before the first record. */
async function lastRecorded(tx: Prisma.TransactionClient, of: ProcessKind): Promise<RecordedValues | null> {
  const rows = await tx.$queryRaw<{ name: string; value: string | null }[]>`
    SELECT DISTINCT ON (name) name, value
    FROM activity, jsonb_each_text(after::jsonb -> 'configuration') AS setting (name, value)
    WHERE action = 'configuration_changed' AND after::jsonb ->> 'process' = ${of}
    ORDER BY name, acted_at DESC, id DESC`;
  return rows.length === 0 ? null : Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Returns the settings that differ. A variable that one version does not know counts as unset. */
function differences(
  before: RecordedValues,
  after: RecordedValues,
): { before: RecordedValues; after: RecordedValues } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => (before[name] ?? null) !== (after[name] ?? null));
  const pick = (values: RecordedValues) =>
    Object.fromEntries(changed.map((name) => [name, values[name] ?? null]));
  return { before: pick(before), after: pick(after) };
}

/** Returns the settings as they are recorded, so that a masked setting does not count as changed. */
function masked(configuration: RecordedConfiguration): RecordedValues {
  return Object.fromEntries(Object.entries(configuration).map(([name, value]) => [name, asRecorded(value)]));
}
