import { Call } from '../call';
import { walletsOf } from '../wallets/list';

/** GET /sub-account/list. A sub-account's `uid` is its id, and is what a transfer names as `receiver`. */
export async function listSubAccounts({ account, database }: Call): Promise<object[]> {
  const subAccounts = await database.account.findMany({ where: { parentId: account.id }, orderBy: { id: 'asc' } });
  return Promise.all(
    subAccounts.map(async ({ id, name }) => ({
      id,
      name,
      uid: id,
      parent: account.id,
      subAccount: true,
      wallets: await walletsOf(database, id),
    })),
  );
}
