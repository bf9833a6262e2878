import { OperationName, rowOf } from '../../operations/catalogue/catalogue';
import { Problem } from '../../platform/errors/problem';
import { isObject } from '../../platform/json/is-object';
import { UpstreamAccount } from '../upstream/upstream-account';

type Account = Pick<UpstreamAccount, 'funds'>;

/**
 * Returns the input of a transfer with the account's wallet. Other inputs are unchanged.
 * @throws Problem `wallet_not_allowed` if it names another wallet.
 */
export function withWallet(
  account: Account,
  operation: OperationName,
  input: object | undefined,
): object | undefined {
  const field = walletFieldOf(operation);
  const { wallet } = account.funds;
  if (field === undefined || wallet === undefined) return input;
  requireOwnWallet(account, operation, input);
  return { ...input, [field]: wallet };
}

/**
 * Refuses an input that names a wallet other than the account's.
 * @param input the validated body, or one with faults.
 * @throws Problem `wallet_not_allowed`.
 */
export function requireOwnWallet(
  { funds: { wallet } }: Account,
  operation: OperationName,
  input: unknown,
): void {
  const field = walletFieldOf(operation);
  if (field === undefined || wallet === undefined || !isObject(input)) return;
  const named = input[field] ?? wallet;
  if (named === wallet) return;
  const detail = `must be ${wallet}, or left out`;
  throw new Problem('wallet_not_allowed', { faults: [{ pointer: `/${field}`, detail }] });
}

/** The field of a transfer that names its source wallet. */
function walletFieldOf(operation: OperationName): string | undefined {
  const row = rowOf(operation);
  return row.effect === 'read' || row.items === 'none' ? undefined : row.items.fields.wallet;
}
