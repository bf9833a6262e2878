import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { usualExpiry } from '../access/clients/limits/safe-defaults';
import { clock } from '../platform/database/clock';
import type { PermissionChange } from './database/change-on-database';
import { changedByOperator } from './operator';
import { withProxyOptions, keyHelp, ProxyOptions } from './proxy-client';

/** Options of the commands that change what clients may do. */
export interface DualControlOptions extends ProxyOptions {
  reason?: string;
  emergency?: boolean;
}

export const DUAL_CONTROL_HELP = `
With dual control (DUAL_CONTROL), a change that lets a client do more waits for a second person. The command
then calls the running proxy with a personal key of an administrator.
${keyHelp('admin')}
The first administrator of a new installation needs only the database: clients create --scopes admin
--person …. In an emergency, --emergency changes the database without a second person. Its record says so.`;

export function withDualControlOptions(command: Command): Command {
  return withProxyOptions(command, 'admin')
    .option('--reason <text>', 'reason for the record')
    .option('--emergency', 'change the database without a second person; needs --reason');
}

/** Makes a change on the database, or requests it from the proxy if it needs a second person. */
export async function makeChange(options: DualControlOptions, change: PermissionChange): Promise<void> {
  const { keyFile, url, reason, emergency = false } = options;
  const by = changedByOperator(reason);
  if (emergency && reason === undefined) throw new ClientError('--emergency requires --reason.');
  if (!emergency && (keyFile !== undefined || url !== undefined)) return change.throughProxy();
  const { changeOnDatabase } = await import('./database/change-on-database.js');
  await changeOnDatabase(change, by, emergency);
}

export const EXPIRES_OPTION = [
  '--expires <instant>',
  'expiry of the key in ISO 8601, such as 2027-01-01T00:00:00Z, or never (default: in a year)',
] as const;

/** Help text of --json for commands that issue a key. */
export const NEW_KEY_JSON =
  'print JSON: {"id","name","key"}, or {"status","change_id","expires_at"} if the change waits, with "key" ' +
  'for a key without an owner';

/**
 * Returns the expiry of a new key, by the database's clock. Undefined is never.
 * @throws ClientError if the option is not a future time.
 */
export function chosenExpiry(text: string | undefined): Date | undefined {
  if (text === 'never') return undefined;
  if (text === undefined) return usualExpiry();
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime()) || instant <= clock.now()) {
    throw new ClientError(
      '--expires must be a future time in ISO 8601, such as 2027-01-01T00:00:00Z, or never.',
    );
  }
  return instant;
}

/** Returns the expiry for a request to the proxy. Null is never. Undefined leaves the choice to the proxy. */
export function requestedExpiry(text: string | undefined): string | null | undefined {
  return text === 'never' ? null : text;
}
