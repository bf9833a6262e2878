import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { MetricsService } from '../../../http/metrics/metrics.service';
import { insertShape } from '../../../journal/outcomes/shapes';
import { SidePrisma } from '../../../platform/database/pools/side-prisma';
import { allows, covers, fingerprintOf, merge, Shape, shapeOf, valueIn } from '../../upstream/answers/shape';

/** Limit of recorded shapes per operation. Keeps a faulty upstream from filling the database. */
const MAX_SHAPES = 100;

/** Limit of waiting shapes. Dropped shapes return with their next answers. */
const MAX_WAITING = 100;

/** The known shapes of an operation's answers. */
interface KnownShapes {
  /** The shapes so far, by HTTP status. */
  byStatus: Map<number, Shape>;
  /** Whether `MAX_SHAPES` are recorded. */
  full: boolean;
}

/** An answer whose shape is new to this process. */
interface UnrecordedShape {
  operation: string;
  status: number;
  shape: Shape;
  callId: string;
}

/**
 * Watches the structure of the upstream's answers (src/gateway/upstream/answers/shape.ts). A new structure in
 * an operation's answers of one HTTP status is recorded, counted and logged once for all instances. A known
 * structure costs no query, and no answer waits for a query.
 */
@Injectable()
export class ShapeWatch implements OnApplicationShutdown {
  private readonly logger = new Logger('Shapes');
  private readonly known = new Map<string, KnownShapes>();
  private readonly waiting: UnrecordedShape[] = [];
  private working: Promise<void> | undefined;

  constructor(
    private readonly prisma: SidePrisma,
    private readonly metrics: MetricsService,
  ) {}

  /** Returns at once and never throws. Ignores a missing HTTP status, which means no answer. */
  watch(call: { id: string; operation: string }, status: number | null, body: Buffer | null): void {
    if (status === null) return;
    try {
      this.compare(call, status, valueIn(body));
    } catch (err) {
      // The money has moved and the outcome is recorded. A bug here must not become an error of the call.
      this.logger.error({ call_id: call.id, err }, 'shape of an upstream answer not determined');
    }
  }

  /** Waits for pending records. Call it after the last response. */
  async onApplicationShutdown(): Promise<void> {
    await this.working;
  }

  private compare(
    { id: callId, operation }: { id: string; operation: string },
    status: number,
    value: unknown,
  ): void {
    const known = this.knownOf(operation);
    const before = known.byStatus.get(status) ?? false;
    if (allows(before, value)) return;
    if (known.full) return this.metrics.unlistedShapes.inc({ operation });
    if (this.waiting.length >= MAX_WAITING) return;
    const shape = shapeOf(value);
    known.byStatus.set(status, merge(before, shape)); // the next answers of this shape cost nothing
    this.waiting.push({ operation, status, shape, callId });
    this.working ??= this.recordWaiting();
  }

  private knownOf(operation: string): KnownShapes {
    const known = this.known.get(operation) ?? { byStatus: new Map<number, Shape>(), full: false };
    this.known.set(operation, known);
    return known;
  }

  /** Records shapes one by one, to use at most one of the connections that payouts need. */
  private async recordWaiting(): Promise<void> {
    try {
      for (let next = this.waiting.shift(); next; next = this.waiting.shift()) await this.recordNew(next);
    } catch (err) {
      this.waiting.length = 0;
      this.known.clear(); // Their next answers are new again.
      this.logger.warn({ err }, 'shapes of upstream answers not recorded, will retry');
    }
    this.working = undefined;
  }

  private async recordNew(observed: UnrecordedShape): Promise<void> {
    const { operation, status, shape } = observed;
    // Other instances, or an earlier run, may have recorded them.
    const stored = await this.prisma.answerShape.findMany({ where: { operation } });
    const listed = byStatus(stored as { httpStatus: number; shape: Shape }[]);
    if (covers(listed.get(status) ?? false, shape)) return;
    // Concurrent instances may each add one more. The limit is approximate.
    if (stored.length < MAX_SHAPES) return this.record(observed);
    this.known.set(operation, { byStatus: listed, full: true });
    this.metrics.unlistedShapes.inc({ operation });
  }

  private async record({ operation, status, shape, callId }: UnrecordedShape): Promise<void> {
    const fingerprint = fingerprintOf(shape);
    const isNew = await insertShape(this.prisma, {
      operation,
      httpStatus: status,
      fingerprint,
      shape,
      callId,
    });
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
  for (const { httpStatus, shape } of stored)
    merged.set(httpStatus, merge(merged.get(httpStatus) ?? false, shape));
  return merged;
}
