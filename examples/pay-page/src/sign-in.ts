import type { PayoutProxy } from '@payout-proxy/sdk';

/** How visitors sign in. */
export interface SignIn {
  /** Pays for the visitor. */
  readonly client: PayoutProxy;
  /** Returns the ID of the visitor, or undefined if nobody is signed in. */
  visitor(): Promise<string | undefined>;
  /** Goes to the provider, which comes back to this page. */
  begin(): void | Promise<void>;
  /** Signs the visitor out. Left out if that happens with the end of the page. */
  end?(): Promise<void>;
}
