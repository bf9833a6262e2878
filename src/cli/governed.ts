import { Command } from 'commander';
import { ChangeAuthor } from '../access/clients/changes';
import { ClientError } from '../access/clients/client-error';
import { usualExpiry } from '../access/clients/limits/safe-defaults';
import { hadAdministrator, isDualControlRecorded } from '../access/dual-control/installation';
import { loadConfigOf } from '../platform/config/config';
import { clock } from '../platform/database/clock';
import { PrismaService } from '../platform/database/pools/prisma.service';
import { ask, askingProxy, keyHelp, ProxyOptions, Question } from './asking-proxy';
import { changedByOperator, ClientServices, clientServices, withPrisma } from './database/database';

/** Options of the commands that change what clients may do. */
export interface GovernedOptions extends ProxyOptions {
  reason?: string;
  emergency?: boolean;
}

interface GovernedChange {
  onDatabase: (services: ClientServices, by: ChangeAuthor) => Promise<void>;
  throughProxy: () => Promise<void>;
  /** Whether a new installation needs it: its first administrator, who has a name. */
  isFirstStep?: boolean;
}

export const GOVERNED_HELP = `
With dual control (DUAL_CONTROL), a change that lets a client do more waits for a second person. The
command then calls the running
proxy with a personal key of an administrator. ${keyHelp('admin')}
On the database alone, it creates the first administrator of a new installation: clients create
--scopes admin --person …. In an emergency, --emergency changes the database without a second
person, which is recorded as such.`;

const NEEDS_TWO =
  'Dual control is on, so this needs a person and the agreement of a second one. Call the running proxy ' +
  'with a personal key of an administrator: --key-file or PAYOUT_PROXY_KEY. In an emergency, add ' +
  '--emergency --reason …, which is recorded as such.';

export function governed(command: Command): Command {
  return askingProxy(command, 'admin')
    .option('--reason <text>', 'reason, which is recorded')
    .option(
      '--emergency',
      'change the database without the second person that dual control requires; needs --reason',
    );
}

/** Makes a change on the database, or asks the proxy for it if it needs two persons. */
export async function makeChange(options: GovernedOptions, change: GovernedChange): Promise<void> {
  const { keyFile, url, reason, emergency = false } = options;
  const by = changedByOperator(reason);
  if (emergency && reason === undefined)
    throw new ClientError('--emergency requires --reason, which is recorded.');
  if (!emergency && (keyFile !== undefined || url !== undefined)) return change.throughProxy();
  await withPrisma(async (prisma) => {
    const where = await placeOf(prisma, change, emergency);
    if (where === 'proxy') return change.throughProxy();
    const isEmergency = where === 'emergency';
    await change.onDatabase(clientServices(prisma), { ...by, isEmergency });
  });
}

/** The recorded setting counts too, so that a variable of the command alone never turns dual control off. */
async function placeOf(prisma: PrismaService, { isFirstStep = false }: GovernedChange, emergency: boolean) {
  const isOn = loadConfigOf('database').dualControl || (await isDualControlRecorded(prisma));
  if (!isOn) return 'database';
  if (emergency) return 'emergency';
  if (process.env.PAYOUT_PROXY_KEY) return 'proxy';
  if (isFirstStep && !(await hadAdministrator(prisma))) return 'database';
  throw new ClientError(NEEDS_TWO);
}

/** Asks the running proxy to change clients, or to lift a stop. */
export function askClients(
  options: ProxyOptions,
  question: Pick<Question, 'path' | 'body' | 'method'>,
): Promise<object> {
  return ask(options, {
    ...question,
    demoKey: 'admin',
    afterFailure: 'The change may have been made. Check clients list and changes list before you continue.',
  });
}

export const EXPIRES_OPTION = [
  '--expires <instant>',
  'expiry of the key in ISO 8601, such as 2027-01-01T00:00:00Z, or never (default: in a year)',
] as const;

/**
 * Returns when a new key expires, by the database's clock. Undefined is never.
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

/** Returns the expiry to ask the proxy for. Null is never, and undefined leaves the choice to the proxy. */
export function askedExpiry(text: string | undefined): string | null | undefined {
  return text === 'never' ? null : text;
}
