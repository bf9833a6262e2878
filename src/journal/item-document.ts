import { Item } from '../operations/item';
import { commitment } from '../platform/privacy/commitment';

export type ItemCommitments = ReturnType<typeof itemDocument>;

/** Returns a payout as the record of its request has it. Commitments are SHA-256(salt || value). */
export function itemDocument(item: Item, salt: Buffer | undefined) {
  const committed = (value: string | null) => (salt ? commitment(salt, value)?.toString('hex') : undefined);
  return {
    amount_usd: item.amountUsd?.toFixed(),
    country: item.country ?? undefined,
    email_commitment: committed(item.email),
    handle_commitment: committed(item.handle),
    handle_ignored: item.handleIgnored || undefined, // an email and a handle were given, so that the email is used
    network_code: item.networkCode ?? undefined,
    phone_commitment: committed(item.phone),
    receiver: item.receiver ?? undefined,
    recipient_field: item.recipientField ?? undefined,
    reference: item.reference ?? undefined,
    upstream_ref: item.upstreamRef ?? undefined,
    wallet: item.wallet ?? undefined,
  };
}
