import type { PayoutProxy } from '@payout-proxy/sdk';

/** The sign-in of visitors. */
export interface SignIn {
  /** Client for the visitor's payments. */
  readonly client: PayoutProxy;
  /** Returns the ID of the signed-in visitor, or undefined. */
  visitor(): Promise<string | undefined>;
  /** Opens the provider, which returns to this page. */
  begin(): void | Promise<void>;
  /** Signs the visitor out. Absent if the sign-in ends with the page. */
  end?(): Promise<void>;
}
