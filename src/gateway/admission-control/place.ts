import { AdaptiveLimit } from './adaptive-limit';

/** What a request is for. Payments and other writes come before reads. */
export type Priority = 'payment' | 'read';

/** The gate, as its places see it. */
interface PlaceKeeper {
  readonly admissions: AdaptiveLimit;
  readonly nowMs: () => number;
  letIn(): void;
  leave(place: Place): void;
}

/** A place of a request. Its holder releases it, whatever happens. */
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

  /** Begins the step that waits for the database. What came before tells nothing about the database. */
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

  /** Gives the place back. Calling it again does nothing. */
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
