import { Command } from 'commander';
import { ChangeAuthor } from '../access/clients/changes';
import { ClientError } from '../access/clients/client-error';
import { usualExpiry } from '../access/clients/limits/safe-defaults';
import { hadAdministrator, isDualControlRecorded } from '../access/dual-control/installation';
import { loadConfigOf } from '../platform/config/config';
import { clock } from '../platform/database/clock';
import { PrismaService } from '../platform/database/pools/prisma.service';
import { changedByOperator, ClientServices, clientServices, withPrisma } from './database/database';
import { callProxy, withProxyOptions, keyHelp, ProxyOptions, ProxyRequest } from './proxy-client';

/** Options of the commands that change what clients may do. */
export interface DualControlOptions extends ProxyOptions {
  reason?: string;
  emergency?: boolean;
}

interface PermissionChange {
  onDatabase: (services: ClientServices, by: ChangeAuthor) => Promise<void>;
  throughProxy: () => Promise<void>;
  /** Whether the change creates the first administrator of a new installation. */
  isFirstStep?: boolean;
}

export const DUAL_CONTROL_HELP = `
With dual control (DUAL_CONTROL), a change that lets a client do more waits for a second person. The command
then calls the running proxy with a personal key of an administrator.
${keyHelp('admin')}
The first administrator of a new installation needs only the database: clients create --scopes admin
--person …. In an emergency, --emergency changes the database without a second person. Its record says so.`;

const NEEDS_TWO =
  'Dual control is on, so a second person must approve this change. Call the running proxy with a personal ' +
  'key of an administrator: --key-file or PAYOUT_PROXY_KEY. In an emergency, add --emergency --reason …. ' +
  'Its record says so.';

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
  await withPrisma(async (prisma) => {
    const where = await routeOf(prisma, change, emergency);
    if (where === 'proxy') return change.throughProxy();
    const isEmergency = where === 'emergency';
    await change.onDatabase(clientServices(prisma), { ...by, isEmergency });
  });
}

/** The recorded setting counts too. A variable of the command alone never turns dual control off. */
async function routeOf(prisma: PrismaService, { isFirstStep = false }: PermissionChange, emergency: boolean) {
  const isOn = loadConfigOf('database').dualControl || (await isDualControlRecorded(prisma));
  if (!isOn) return 'database';
  if (emergency) return 'emergency';
  if (process.env.PAYOUT_PROXY_KEY) return 'proxy';
  if (isFirstStep && !(await hadAdministrator(prisma))) return 'database';
  throw new ClientError(NEEDS_TWO);
}

/** Requests a change of clients or the lift of a stop from the running proxy. */
export function callClientApi(
  options: ProxyOptions,
  question: Pick<ProxyRequest, 'path' | 'body' | 'method'>,
): Promise<object> {
  return callProxy(options, {
    ...question,
    demoKey: 'admin',
    afterFailure: 'The change may have been made. Check clients list and changes list before you continue.',
  });
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
