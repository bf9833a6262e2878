export const REDEEM_PATH = '/redeem';

/** Returns the link to the page where a recipient redeems a credit. */
export function redeemLink(origin: string, chiRef: string): string {
  return `${origin}${REDEEM_PATH}?chiRef=${encodeURIComponent(chiRef)}`;
}

export const PAYMENT_PATH = '/pay';

/** Returns the link to the page where a batch is paid. */
export function paymentLink(origin: string, issueID: string): string {
  return `${origin}${PAYMENT_PATH}?issueID=${encodeURIComponent(issueID)}`;
}
