import { takesAirtime } from '../countries/countries';
import { Work } from '../database';
import { Prisma, Transaction } from '../generated/client';
import { Call, Routes } from '../http/call';
import { Refusal } from '../http/envelope';
import { fieldsOf, readOptionalMeta, readPhoneNumber, readText } from '../http/validation';
import { entryFor, moveMoney } from '../transactions/money';
import { transactionRecord } from '../transactions/record';
import { changeStatus, NOT_DELETED } from '../transactions/status';

export const redeemRoutes = {
  'POST /redeem/airtime': redeemAirtime,
} satisfies Routes;

/** POST /redeem/airtime: redeems a paid credit of the account as airtime, once. */
export async function redeemAirtime(call: Call, body: unknown) {
  const fields = fieldsOf(body);
  const chiRef = readText(fields.chiRef, 'chiRef');
  const phoneNumber = readPhoneNumber(fields.phoneNumber, 'phoneNumber');
  const countryToSend = readText(fields.countryToSend, 'countryToSend');
  if (!takesAirtime(countryToSend))
    throw new Refusal('countryToSend must be a country of /info/airtime-countries');
  const meta = readOptionalMeta(fields.meta, 'meta');
  const redeemData = { type: 'airtime', phoneNumber, countryToSend, ...(meta && { meta }) };
  const redeemed = await call.database.$transaction(async (work) => {
    const credit = await redeem(work, { chiRef, issuerId: call.account.id }, redeemData);
    await call.processed(work, [chiRef]);
    return credit;
  });
  return transactionRecord(redeemed, call.origin);
}

/**
 * Redeems a paid credit as `redeemData`, once, even under concurrent requests.
 * @throws Refusal "ERROR-REDEEMED" the second time (docs/reference/upstream.md), or with another reason.
 */
export async function redeem(
  work: Work,
  credit: { chiRef: string; issuerId?: string },
  redeemData: Prisma.InputJsonObject,
): Promise<Transaction> {
  const shown = { ...credit, ...NOT_DELETED };
  const found = await work.transaction.findUnique({ where: shown });
  if (!found) throw new Refusal(`no transaction found for chiRef ${credit.chiRef}`);
  if (found.type !== 'credit') throw new Refusal(`a transaction of type ${found.type} cannot be redeemed`);

  const change = { from: 'paid', to: 'redeemed', redeemData };
  const [redeemed] = await changeStatus(work, [found.id], change);
  if (!redeemed) throw notRedeemable(await work.transaction.findUniqueOrThrow({ where: { id: found.id } }));
  await moveMoney(work, redeemed, {
    to: 'redeemed',
    description: entryFor(redeemed, 'redeemed'),
    returnsFee: false,
  });
  return redeemed;
}

function notRedeemable({ status, chiRef }: Transaction): Refusal {
  if (status === 'redeemed') return new Refusal('ERROR-REDEEMED');
  return new Refusal(`transaction with chiRef ${chiRef} is ${status}, only a paid one can be redeemed`);
}
