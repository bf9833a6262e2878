import { EXPIRIES } from '../../../src/expiry/expiries';
import { SETTINGS } from '../../../src/platform/config/config';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { TestProxy } from '../processes/proxy';

/** Removes expired rows, as the job `expire` does. @returns the number of removed rows by table. */
export async function removeExpired({ app }: Pick<TestProxy, 'app'>): Promise<Record<string, number>> {
  const prisma = app.get(PrismaService, { strict: false });
  const removed: Record<string, number> = {};
  for (const { table, remove } of EXPIRIES) {
    removed[table] = await remove(prisma, app.get(SETTINGS, { strict: false }));
  }
  return removed;
}
