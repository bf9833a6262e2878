export const PAYMENT_PATH = '/pay';

/** Returns the link to the page of a batch, on the sandbox's own address. */
export function paymentLink(origin: string, issueID: string): string {
  return `${origin}${PAYMENT_PATH}?issueID=${encodeURIComponent(issueID)}`;
}
