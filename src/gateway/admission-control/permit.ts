import { AdaptiveLimit } from './adaptive-limit';

/** Priority of a request. Payments and other writes precede reads. */
export type Priority = 'payment' | 'read';

/** The shedder's interface for its permits. */
interface PermitIssuer {
  readonly admissions: AdaptiveLimit;
  readonly nowMs: () => number;
  admitWaiting(): void;
  leave(permit: Permit): void;
}

/** A permit of a request. Its holder must release it in every case. */
export class Permit {
  private admissionBeganAt: number | undefined;
  private isReleased = false;

  constructor(
    private readonly shedder: PermitIssuer,
    readonly client: string,
    readonly priority: Priority,
  ) {
    this.admissionBeganAt = shedder.admissions.begin();
  }

  /** Begins the step that waits for the database. Earlier steps do not measure the database. */
  beginStep(): void {
    if (this.admissionBeganAt !== undefined) this.admissionBeganAt = this.shedder.nowMs();
  }

  /** Ends the part of the request that waits for the database. @param hasFailed see `AdaptiveLimit.end`. */
  endAdmission(hasFailed?: boolean): void {
    if (this.admissionBeganAt === undefined) return;
    this.shedder.admissions.end(this.admissionBeganAt, hasFailed);
    this.admissionBeganAt = undefined;
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
