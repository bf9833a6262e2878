import { ChangeAuthor } from '../../access/clients/changes';
import { ClientError } from '../../access/clients/client-error';
import { hadAdministrator, isDualControlRecorded } from '../../access/dual-control/installation';
import { loadConfigOf } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { Services, withServices } from './services';

export interface PermissionChange {
  onDatabase: (services: Services, by: ChangeAuthor) => Promise<void>;
  throughProxy: () => Promise<void>;
  /** Whether the change creates the first administrator of a new installation. */
  isFirstStep?: boolean;
}

const NEEDS_TWO =
  'Dual control is on, so a second person must approve this change. Call the running proxy with a personal ' +
  'key of an administrator: --key-file or PAYOUT_PROXY_KEY. In an emergency, add --emergency --reason …. ' +
  'Its record says so.';

/** Makes a change on the database, unless it needs a second person. Then the proxy gets the request. */
export async function changeOnDatabase(
  change: PermissionChange,
  by: ChangeAuthor,
  emergency: boolean,
): Promise<void> {
  await withServices(async (services) => {
    const where = await routeOf(services.prisma, change, emergency);
    if (where === 'proxy') return change.throughProxy();
    await change.onDatabase(services, { ...by, isEmergency: where === 'emergency' });
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
