import { magicOf, Recipient, RefusalTexts, magicStatuses } from '../behaviour/magic-recipients';
import { toUsd } from '../countries/countries';
import { Prisma } from '../generated/client';
import { Call, Routes } from '../http/call';
import { NOT_FOUND, Refusal } from '../http/envelope';
import { Fields, fieldsOf, readAmount, readEmail, readPhoneNumber, readText } from '../http/validation';
import { unknownCurrency } from '../info/info';
import {
  chiRefsOf,
  Item,
  newIssue,
  NewTransaction,
  NO_RECIPIENT,
  storeIssues,
  readMarks,
} from '../transactions/issue';
import { entryFor, moneyUnder, moveMoney } from '../transactions/money';
import { transactionRecord } from '../transactions/record';
import { changeStatus } from '../transactions/status';
import { post } from '../wallets/ledger';

export const collectionRoutes = {
  'POST /collections/mobile-money/collect': collect,
  'POST /collections/mobile-money/initiate': initiateCollection,
  'POST /collections/mobile-money/verify': verifyCollection,
} satisfies Routes;

/** POST /collections/mobile-money/collect: the payer pays at once. A magic payer has its fixed result. */
export async function collect(call: Call, body: unknown) {
  const collection = readCollection(body);
  return store(call, collection, outcomeOf(collection));
}

/** POST /collections/mobile-money/initiate: pending until verified. A `late` payer pays seconds later. */
export async function initiateCollection(call: Call, body: unknown) {
  const collection = readCollection(body);
  const outcome = outcomeOf(collection);
  return store(call, collection, outcome[0] === 'pending' ? outcome : ['pending']);
}

/** POST /collections/mobile-money/verify: completes a pending collection once, and answers with its state. */
export async function verifyCollection(call: Call, body: unknown) {
  const id = readText(fieldsOf(body).id, 'id');
  const own = { id, issuerId: call.account.id, type: 'payment' };
  const found = await call.database.$transaction(async (work) => {
    const before = await work.transaction.findUnique({ where: own });
    if (!before) return null;
    const to = outcomeOf(before).find((status) => status !== 'pending') ?? 'paid';
    const changed = await changeStatus(work, [id], { from: 'pending', to });
    await call.processed(work, chiRefsOf(changed));
    for (const payment of changed) {
      const money = moneyUnder(to, payment) ?? 'paid';
      await moveMoney(work, payment, { to: money, description: entryFor(payment, to), returnsFee: false });
    }
    return work.transaction.findUnique({ where: own });
  });
  return found ? transactionRecord(found, call.origin) : NOT_FOUND;
}

/** A transaction of type `payment`, which lists and histories include: value, payer and marks. */
type Collection = Item & { meta: Prisma.InputJsonObject };

/** Stores a payment with these statuses, and credits its value if the first is `paid`. */
async function store(call: Call, collection: Collection, becomes: readonly string[]) {
  const terms = { issuerId: call.account.id, type: 'payment', status: 'pending', wallet: 'momo' } as const;
  const issue = newIssue([{ ...collection, becomes }], terms);
  const [payment] = issue.transactions as [NewTransaction];
  await call.database.$transaction(async (work) => {
    await storeIssues(work, [issue], call.behaviour);
    await call.processed(work, [payment.chiRef]);
    if (payment.money === 'kept') return;
    await post(work, `collection ${issue.issueID}`, [
      { account: 'outside', usd: collection.valueInUSD.negated() },
      { account: { accountId: call.account.id, type: 'momo' }, usd: collection.valueInUSD },
    ]);
  });
  return transactionRecord(payment, call.origin);
}

const REFUSED: RefusalTexts = {
  insufficientFunds: "insufficient funds in the payer's mobile money account",
  transactionFailed: 'fail to collect mobile money',
};

/** Returns the statuses of a payer's collection. Throws a Refusal for a magic payer that refuses to pay. */
function outcomeOf(payer: Recipient): readonly string[] {
  const name = magicOf(payer);
  // Received money may be spent before its reversal, and only payouts have unknown status words.
  if (name === 'reversed' || name === 'unheardOf') return ['paid'];
  return magicStatuses(payer, REFUSED) ?? ['paid'];
}

function readCollection(body: unknown): Collection {
  const fields = fieldsOf(body);
  const currency = readText(fields.currency, 'currency');
  const amount = readAmount(fields.amount, 'amount');
  const valueInUSD = toUsd(amount, currency);
  if (!valueInUSD) throw unknownCurrency('currency');
  if (valueInUSD.isZero()) throw new Refusal('amount is worth less than 0.000001 USD');
  const payer = readPayer(fields);
  const fullname = readText(fields.fullname, 'fullname');
  const own = { amount: amount.toNumber(), currency, fullname, tx_ref: payer.reference };
  const marks = readMarks(body);
  return { ...marks, ...payer, valueInUSD, meta: { ...marks.meta, ...own } };
}

function readPayer(fields: Fields) {
  const email = readEmail(fields.email, 'email');
  return {
    ...NO_RECIPIENT,
    email,
    phoneNumber: readPhoneNumber(fields.phone_number, 'phone_number'),
    countryToSend: readText(fields.country, 'country'),
    reference: readText(fields.tx_ref, 'tx_ref'),
  };
}
