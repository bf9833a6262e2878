import { AdaptiveLimit, AdmissionStep } from './adaptive-limit';

/** The priorities of requests, in the order of their turns. Other writes are payments, too. */
export const PRIORITIES = ['payment', 'read'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** A request for a permit. */
export interface PermitRequest {
  client: string;
  priority: Priority;
  /** Longest wait, in ms. */
  patienceMs: number;
  /** Room that it takes in the queue. Most requests take 1, and those with long bodies more. */
  room: number;
  /** Whether its caller has disconnected. */
  isGone: () => boolean;
}

/** The shedder's interface for its permits. */
interface PermitIssuer {
  readonly admissions: AdaptiveLimit;
  admitWaiting(): void;
  leave(permit: Permit): void;
}

/** A permit of a request. Its holder must release it in every case. */
export class Permit {
  private admission: AdmissionStep | undefined;
  private isReleased = false;

  /**
   * @param takenAt in ms.
   * @param hasWaited whether its request had to wait for it.
   * @param isOfQueue whether it is for a queued call, which is admitted already.
   */
  constructor(
    private readonly shedder: PermitIssuer,
    readonly client: string,
    readonly priority: Priority,
    readonly takenAt: number,
    readonly hasWaited: boolean,
    readonly isOfQueue = false,
  ) {
    if (!isOfQueue) this.admission = shedder.admissions.begin();
  }

  /** Begins the step that waits for the database. */
  beginStep(): void {
    if (this.admission) this.shedder.admissions.ask(this.admission);
  }

  /** Ends the part of the request that waits for the database. @param hasFailed see `AdaptiveLimit.end`. */
  endAdmission(hasFailed?: boolean): void {
    if (!this.admission) return;
    this.shedder.admissions.end(this.admission, hasFailed);
    this.admission = undefined;
    this.shedder.admitWaiting();
  }

  /** Returns the permit. A second call has no effect. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.endAdmission();
    this.shedder.leave(this);
  }
}

/** Ends the admission of a permit with a step that waits for the database. */
export async function measured<Answer>(permit: Permit | undefined, step: Promise<Answer>): Promise<Answer> {
  permit?.beginStep();
  try {
    const answer = await step;
    permit?.endAdmission(false);
    return answer;
  } catch (error) {
    permit?.endAdmission(true);
    throw error;
  }
}
