import type { FastifyInstance } from 'fastify';
import { check, flag, integer, isObject, number, oneOf, Rule, trimmedText } from '../http/rules';
import type { Service } from '../service';
import { WALLET_TYPES } from '../wallets/ledger';
import { TransactionChange, changeNow, addEntry, chargeFee, EXTRA_ENTRIES, ExtraEntry } from './changes';
import { ControlRequestError, readNumber, readOrRefuse } from './control-errors';
import { transactionHistory, trueTransactions, trueWallets } from './true-state';

const MAX_LIMIT = 1_000_000;
const MAX_USD = 1_000_000_000;
const SMALLEST_USD = 0.000001;

const statusWord: Rule = {
  // Postgres cannot store the excluded characters. No reader sees a deleted transaction.
  holds: (word) =>
    trimmedText.holds(word) && /^[^\0\p{Surrogate}]{1,50}$/u.test(word as string) && word !== 'deleted',
  must: 'a word of up to 50 characters other than deleted',
};
const CHANGE_RULES: Record<string, Rule> = {
  status: statusWord,
  money: oneOf('kept', 'paid'),
  returnsFee: flag,
};
const ENTRY_RULES: Record<string, Rule> = {
  type: oneOf(...Object.keys(EXTRA_ENTRIES)),
  valueInUSD: number(SMALLEST_USD, MAX_USD),
  account: trimmedText,
  wallet: oneOf(...WALLET_TYPES),
  description: trimmedText,
};
const FEE_RULES: Record<string, Rule> = {
  type: oneOf('fee'),
  valueInUSD: number(SMALLEST_USD, MAX_USD),
  chiRef: trimmedText,
};

/** Adds the routes that read and change the true state of transactions and wallets. */
export function truthRoutes(control: FastifyInstance, service: Service): void {
  const { database, behaviour, lock } = service;
  control.get('/transactions', ({ query, protocol, host }) => {
    const { issueID, limit } = query as Record<string, string | undefined>;
    const take = readOrRefuse((wrong) => ({
      limit: readNumber(limit, 'limit', integer(1, MAX_LIMIT), wrong),
    }));
    return trueTransactions(database, { issueID, ...take }, `${protocol}://${host}`);
  });
  control.get<{ Params: { id: string } }>('/transactions/:id', ({ params: { id }, protocol, host }) =>
    transaction(id, `${protocol}://${host}`),
  );
  control.patch<{ Params: { id: string } }>(
    '/transactions/:id',
    async ({ params: { id }, body, protocol, host }) => {
      const change = readOrRefuse((wrong) => readChange(body, wrong));
      if (!(await lock.pass(() => changeNow(database, behaviour, id, change)))) throw unknown(id);
      return transaction(id, `${protocol}://${host}`);
    },
  );
  control.get('/wallets', ({ query }) => trueWallets(database, (query as { account?: string }).account));
  control.post('/entries', async ({ body }, reply) => {
    const entry = readOrRefuse((wrong) => readEntry(body, wrong));
    const add = () =>
      'chiRef' in entry ? chargeFee(database, entry.chiRef, entry.valueInUSD) : addEntry(database, entry);
    return reply.status(201).send(await lock.pass(add));
  });

  const transaction = async (id: string, origin: string) => {
    const found = await transactionHistory(database, id, origin);
    if (!found) throw unknown(id);
    return found;
  };
}

function unknown(id: string): ControlRequestError {
  return new ControlRequestError([`no transaction has the id or chiRef ${id}`], 404);
}

function readChange(body: unknown, faults: string[]): TransactionChange | undefined {
  if (!isObject(body) || (body.status === undefined && body.money === undefined)) {
    faults.push('the body must be an object with status, money, or both');
    return undefined;
  }
  check(body, CHANGE_RULES, faults);
  return body;
}

/** Reads an entry with its wallet, or a fee with its transaction. */
function readEntry(
  body: unknown,
  faults: string[],
): ExtraEntry | { chiRef: string; valueInUSD: number } | undefined {
  if (!isObject(body)) {
    faults.push('the body must be an object');
    return undefined;
  }
  const rules = 'chiRef' in body ? FEE_RULES : ENTRY_RULES;
  const required = 'chiRef' in body ? ['type', 'valueInUSD'] : ['type', 'valueInUSD', 'account', 'wallet'];
  check({ ...Object.fromEntries(required.map((name) => [name, undefined])), ...body }, rules, faults);
  return body as unknown as ExtraEntry;
}
