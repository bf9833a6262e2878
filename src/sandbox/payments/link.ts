export const PAYMENT_PATH = '/pay';

/** Where a batch can be looked at, on the sandbox's own address. */
export function paymentLink(origin: string, issueID: string): string {
  return `${origin}${PAYMENT_PATH}?issueID=${encodeURIComponent(issueID)}`;
}
