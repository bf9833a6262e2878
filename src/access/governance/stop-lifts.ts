import { Prisma } from '../../platform/database/generated/client';
import { ChangeAuthor } from '../clients/changes';

/** The lift of a stop, as it is stored until a second person decides about it. */
export interface StopLiftDocument {
  id: string;
  /** What the stop stops, and why, for the second person. */
  stops: string;
  /** Lifts it although the upstream's list of a lost time was not read. */
  unreconciled: boolean;
}

/** Lifts stops. The owner of stops implements it, because it is above the governance of changes. */
export abstract class StopLifts {
  /**
   * Lifts a stop in the transaction of the decision.
   * @returns false if no active stop has this ID.
   * @throws Problem `recovery_required`
   */
  abstract liftIn(tx: Prisma.TransactionClient, lift: StopLiftDocument, by: ChangeAuthor): Promise<boolean>;
}
