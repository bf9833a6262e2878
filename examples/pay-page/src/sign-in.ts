import type { PayoutProxy } from '@payout-proxy/sdk';

/** How visitors sign in. */
export interface SignIn {
  /** Pays for the visitor. */
  readonly client: PayoutProxy;
  /** Returns the ID of the visitor, or undefined if nobody is signed in. */
  visitor(): Promise<string | undefined>;
  /** Goes to the provider, which comes back to this page. */
  begin(): void | Promise<void>;
}
