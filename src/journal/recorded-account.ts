import { MAIN_ACCOUNT } from '../platform/config/upstream-accounts';

/** Returns an upstream account as records name it. Those of `main` name none. */
export function recordedAccount(account: string): string | null {
  return account === MAIN_ACCOUNT ? null : account;
}

/** Returns the upstream account that a record is about. */
export function accountNamed(recorded: string | null | undefined): string {
  return recorded ?? MAIN_ACCOUNT;
}
