import { payoutIdOf } from '../../operations/catalogue/payout-id';
import { Prisma } from '../../platform/database/generated/client';
import { ChangeAuthor } from '../clients/changes';

/** The stored form of a pending settlement that gives an amount or a key back. */
export interface SettlementDocument {
  call_id: string;
  outcome: string;
  /** IDs of the payouts. Undefined for all that the outcome applies to. */
  payouts?: string[];
  /** ID of the settlement to correct, or of the call. Undefined for payouts in doubt. */
  supersedes?: string;
  /** The newest settlement at the request, or the call. Another one supersedes the request. */
  version: string;
  /** Amount that counts less on caps, in US dollars. */
  amount_usd: string;
}

/** The stored form of a pending attribution of a transaction of the book to a payout. */
export interface AttributionDocument {
  call_id: string;
  position: number;
  transaction_id: string;
  /** The transaction of the payout at the request. Null without one. */
  own_id: string | null;
  /** The payout of the transaction at the request. Null without one. */
  owner: { call_id: string; position: number } | null;
  upstream_ref: string | null;
  upstream_id: string | null;
  status: string | null;
  /** Amount of the payout, in US dollars. Null if unknown. */
  amount_usd: string | null;
  /** Amount of the transaction, in US dollars. Null if unknown. */
  listed_usd: string | null;
}

/** Returns an attribution for its record. */
export function recordedAttribution(attribution: AttributionDocument): object {
  const { call_id, position, own_id, owner, ...shown } = attribution;
  return {
    payout_id: payoutIdOf(call_id, position),
    ...shown,
    ...(own_id !== null && { superseded_transaction_id: own_id }),
    ...(owner && { superseded_payout_id: payoutIdOf(owner.call_id, owner.position) }),
  };
}

/** The requester of a change, who is the author of the settlement. */
export interface ChangeRequester {
  clientId: string;
  keyId: string;
  actor: string;
  reason: string;
}

/** Settles payouts by hand. Implemented by the owner of settlements, which is above this area. */
export abstract class PayoutSettlements {
  /**
   * Settles payouts in the transaction of the decision.
   * @returns false if the call was settled since the request.
   * @throws Problem if this instance must not settle.
   */
  abstract settleIn(
    tx: Prisma.TransactionClient,
    settlement: SettlementDocument,
    by: ChangeRequester,
  ): Promise<boolean>;
}

/** Attributes transactions by hand. Implemented by the owner of the book, which is above this area. */
export abstract class TransactionAttributions {
  /**
   * Attributes a transaction in the transaction of the decision.
   * @param approved the author of the act.
   * @returns false if the payout or the transaction has changed since the request.
   * @throws Problem if this instance must not settle.
   */
  abstract attributeIn(
    tx: Prisma.TransactionClient,
    attribution: AttributionDocument,
    by: ChangeRequester,
    approved: ChangeAuthor,
  ): Promise<boolean>;
}
