import { AdaptiveLimit } from './adaptive-limit';

/** Priority of a request. Payments and other writes precede reads. */
export type Priority = 'payment' | 'read';

/** The gate's interface for its places. */
interface PlaceKeeper {
  readonly admissions: AdaptiveLimit;
  readonly nowMs: () => number;
  letIn(): void;
  leave(place: Place): void;
}

/** A place of a request. Its holder must release it in every case. */
export class Place {
  private admissionBeganAt: number | undefined;
  private isReleased = false;

  constructor(
    private readonly gate: PlaceKeeper,
    readonly client: string,
    readonly priority: Priority,
  ) {
    this.admissionBeganAt = gate.admissions.begin();
  }

  /** Begins the step that waits for the database. Earlier steps say nothing about the database. */
  beginStep(): void {
    if (this.admissionBeganAt !== undefined) this.admissionBeganAt = this.gate.nowMs();
  }

  /** Ends the part of the request that waits for the database. @param hasFailed see `AdaptiveLimit.end`. */
  endAdmission(hasFailed?: boolean): void {
    if (this.admissionBeganAt === undefined) return;
    this.gate.admissions.end(this.admissionBeganAt, hasFailed);
    this.admissionBeganAt = undefined;
    this.gate.letIn();
  }

  /** Returns the place. A second call has no effect. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.endAdmission();
    this.gate.leave(this);
  }
}

/** Ends the admission of a place with a step that waits for the database. */
export async function measured<Answer>(place: Place | undefined, step: Promise<Answer>): Promise<Answer> {
  place?.beginStep();
  try {
    const answer = await step;
    place?.endAdmission(false);
    return answer;
  } catch (error) {
    place?.endAdmission(true);
    throw error;
  }
}
