import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { insertShape } from '../../../journal/outcomes/shapes';
import { SidePrisma } from '../../../platform/database/pools/side-prisma';
import { MetricsService } from '../../../http/metrics/metrics.service';
import { allows, covers, fingerprintOf, merge, Shape, shapeOf, valueIn } from '../../upstream/answers/shape';

/** The most recorded shapes of an operation. Nobody reads more, and a faulty upstream must not fill the database. */
const MAX_SHAPES = 100;

/** The most waiting shapes. Further ones are dropped, and their next answers bring them back. */
const MAX_WAITING = 100;

/** The known shapes of an operation's answers. */
interface KnownShapes {
  /** The shapes so far, by HTTP status. */
  byStatus: Map<number, Shape>;
  /** Whether `MAX_SHAPES` are recorded. */
  full: boolean;
}

/** An answer with a shape that is new, as far as this process knows. */
interface NewSight {
  operation: string;
  status: number;
  shape: Shape;
  callId: string;
}

/**
 * Watches the structure of the upstream's answers (src/gateway/upstream/answers/shape.ts). Anything new in an operation's
 * answers of one HTTP status is recorded, counted and logged once, however many instances see it. An answer without
 * anything new costs no query, and no answer waits for one.
 */
@Injectable()
export class ShapeWatch implements OnApplicationShutdown {
  private readonly logger = new Logger('Shapes');
  private readonly known = new Map<string, KnownShapes>();
  private readonly waiting: NewSight[] = [];
  private working: Promise<void> | undefined;

  constructor(
    private readonly prisma: SidePrisma,
    private readonly metrics: MetricsService,
  ) {}

  /** Returns at once and never throws. Without an HTTP status there was no answer, and nothing is recorded. */
  watch(call: { id: string; operation: string }, status: number | null, body: Buffer | null): void {
    if (status === null) return;
    try {
      this.compare(call, status, valueIn(body));
    } catch (err) {
      // The money has moved and the outcome is recorded. A mistake in this code must not turn that into an error.
      this.logger.error({ call_id: call.id, err }, 'shape of an upstream answer not determined');
    }
  }

  /** Waits for the shapes that are being recorded. Call it once the last request is answered. */
  async onApplicationShutdown(): Promise<void> {
    await this.working;
  }

  private compare({ id: callId, operation }: { id: string; operation: string }, status: number, value: unknown): void {
    const known = this.knownOf(operation);
    const before = known.byStatus.get(status) ?? false;
    if (allows(before, value)) return;
    if (known.full) return this.metrics.unlistedShapes.inc({ operation });
    if (this.waiting.length >= MAX_WAITING) return;
    const shape = shapeOf(value);
    known.byStatus.set(status, merge(before, shape)); // the next answers of this shape cost nothing
    this.waiting.push({ operation, status, shape, callId });
    this.working ??= this.learnAll();
  }

  private knownOf(operation: string): KnownShapes {
    const known = this.known.get(operation) ?? { byStatus: new Map<number, Shape>(), full: false };
    this.known.set(operation, known);
    return known;
  }

  /** Records shapes one after the other, so that they use at most one of the connections that payouts need. */
  private async learnAll(): Promise<void> {
    try {
      for (let sight = this.waiting.shift(); sight; sight = this.waiting.shift()) await this.learn(sight);
    } catch (err) {
      this.waiting.length = 0;
      this.known.clear(); // Their next answers are new again.
      this.logger.warn({ err }, 'shapes of upstream answers not recorded, will retry');
    }
    this.working = undefined;
  }

  private async learn(sight: NewSight): Promise<void> {
    const { operation, status, shape } = sight;
    // Other instances, or this one before its last start, may have recorded them.
    const stored = await this.prisma.answerShape.findMany({ where: { operation } });
    const listed = byStatus(stored as { httpStatus: number; shape: Shape }[]);
    if (covers(listed.get(status) ?? false, shape)) return;
    // Instances that record at the same time may each add one more. The limit is not exact.
    if (stored.length < MAX_SHAPES) return this.record(sight);
    this.known.set(operation, { byStatus: listed, full: true });
    this.metrics.unlistedShapes.inc({ operation });
  }

  private async record({ operation, status, shape, callId }: NewSight): Promise<void> {
    const fingerprint = fingerprintOf(shape);
    const isNew = await insertShape(this.prisma, { operation, httpStatus: status, fingerprint, shape, callId });
    if (!isNew) return; // Another instance was faster and has counted it.
    this.metrics.newShapes.inc({ operation });
    this.logger.warn(
      { operation, status, fingerprint: fingerprint.toString('hex'), call_id: callId },
      'upstream answer has a new shape',
    );
  }
}

function byStatus(stored: { httpStatus: number; shape: Shape }[]): Map<number, Shape> {
  const merged = new Map<number, Shape>();
  for (const { httpStatus, shape } of stored) merged.set(httpStatus, merge(merged.get(httpStatus) ?? false, shape));
  return merged;
}
