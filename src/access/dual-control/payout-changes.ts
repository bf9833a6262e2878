import { Prisma } from '../../platform/database/generated/client';

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
