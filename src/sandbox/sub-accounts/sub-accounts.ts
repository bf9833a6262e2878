import { randomUUID } from 'node:crypto';
import Decimal from 'decimal.js';
import { Account } from '../generated/client';
import { Call, Routes } from '../http/call';
import { NOT_FOUND, Refusal } from '../http/envelope';
import { fieldsOf, readEmail, readOptionalMeta, readOptionalText, readText } from '../http/validation';
import { openWallets } from '../wallets/ledger';
import { walletsOf } from '../wallets/list';

export const subAccountRoutes = {
  'GET /sub-account/list': listSubAccounts,
  'POST /sub-account/create': createSubAccount,
  'GET /sub-account/get': readSubAccount,
} satisfies Routes;

/** GET /sub-account/list, oldest first. */
async function listSubAccounts(call: Call) {
  const { account, database } = call;
  const subAccounts = await database.account.findMany({
    where: { parentId: account.id },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return Promise.all(
    subAccounts.map(async (subAccount) => ({
      ...subAccountRecord(subAccount),
      wallets: await walletsOf(call, subAccount.id),
    })),
  );
}

/** GET /sub-account/get?id= */
async function readSubAccount(call: Call, query: unknown) {
  const { account, database } = call;
  const id = readText(fieldsOf(query).id, 'id');
  const subAccount = await database.account.findUnique({ where: { id, parentId: account.id } });
  if (!subAccount) return NOT_FOUND;
  return { ...subAccountRecord(subAccount), wallets: await walletsOf(call, id) };
}

/** POST /sub-account/create, with empty wallets. Equal requests create two sub-accounts, as upstream. */
export async function createSubAccount(call: Call, body: unknown) {
  const { account, database } = call;
  if (account.parentId !== null)
    throw new Refusal(`Account with id ${account.id} is a sub-account and can have none`);
  const fields = fieldsOf(body);
  const email = readEmail(fields.email, 'email');
  const meta = readOptionalMeta(fields.meta, 'meta');
  const data = {
    id: randomUUID(),
    parentId: account.id,
    name: readText(fields.name, 'name'),
    email,
    firstName: readOptionalText(fields.firstName, 'firstName'),
    lastName: readOptionalText(fields.lastName, 'lastName'),
    phoneNumber: readOptionalText(fields.phoneNumber, 'phoneNumber'),
    ...(meta && { meta }),
  };
  return database.$transaction(async (work) => {
    const subAccount = await work.account.create({ data });
    await openWallets(work, subAccount.id, new Decimal(0));
    await call.processed(work, []);
    return subAccountRecord(subAccount);
  });
}

/** Returns the record in docs/reference/upstream.md. Its `uid` is the `receiver` of a transfer. */
function subAccountRecord({ id, name, parentId, createdAt, meta }: Account) {
  return {
    id,
    name,
    uid: id,
    parent: parentId,
    subAccount: true,
    approved: true,
    verified: true,
    createdDate: createdAt.toISOString(),
    meta: meta ?? {},
  };
}
