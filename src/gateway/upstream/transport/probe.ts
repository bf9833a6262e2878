/** The smallest amount seen (docs/reference/upstream.md, trap 3). The link is never paid. */
const PROBE_USD = 0.1;

/** The body of `POST /payouts/initiate-credit` for an unpaid link. */
export function unpaidLinkFor(email: string): object {
  return { credits: [{ valueInUSD: PROBE_USD, email, twitter: '' }] };
}

/** The body of `POST /account/delete-unpaid-transaction`. */
export function deletionOf(upstreamRef: string): object {
  return { chiRef: upstreamRef };
}
