import {
  applyDecorators,
  CallHandler,
  ExecutionContext,
  Injectable,
  NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { FastifyRequest } from 'fastify';
import { concatMap, Observable } from 'rxjs';

export const SHOWS = 'payout-proxy:shows';

/** What an answer shows of the history, as the record of its reader says it. */
export interface Shown {
  /** Null where it is not known when the answer begins. */
  rows: number | null;
  /** The one call that was asked for. */
  callId?: string;
  /** The calls on a page. */
  callIds?: string[];
  /** What else was asked for by its address: `{run_id}`. */
  about?: Record<string, string>;
  /** Whether it shows recipients, or whom somebody searched for, masked or not. */
  people: boolean;
}

/** How the calls that an answer shows are said. */
export type ShownBy<Answer = unknown> = (answer: Answer) => Shown;

/** Records who reads the history (src/history/access-log/readings.service.ts). */
export abstract class Readings {
  /**
   * Resolves once the reading is on record: only then may anything be shown.
   * @throws Problem `database_unavailable` where it cannot be recorded.
   */
  abstract record(request: FastifyRequest, shown: Shown): Promise<void>;
}

/** Records a reading before what was read leaves. */
@Injectable()
class ReadingsInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly readings: Readings,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const shownBy = this.reflector.get<ShownBy>(SHOWS, context.getHandler());
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return next.handle().pipe(
      concatMap(async (answer: unknown) => {
        await this.readings.record(request, shownBy(answer));
        return answer;
      }),
    );
  }
}

/**
 * Says that a route shows the history to somebody else than who made it: that it was read is recorded before the answer
 * leaves, and where it cannot be recorded, nothing is shown.
 * @param by `itself`: the handler sees to it.
 */
export const Shows = <Answer>(by: ShownBy<Answer> | 'itself') =>
  applyDecorators(SetMetadata(SHOWS, by), ...(by === 'itself' ? [] : [UseInterceptors(ReadingsInterceptor)]));

export const showsCall: ShownBy<{ id: string }> = ({ id }) => ({ rows: 1, callId: id, people: true });

/** @param rows calls, or payouts of them, of which several may be of one call. */
export function showsCalls(rows: { id: string }[]): Shown {
  return { rows: rows.length, callIds: [...new Set(rows.map(({ id }) => id))], people: rows.length > 0 };
}

/** Lists that name nobody. */
export const showsNobody = (rows: unknown[]): Shown => ({ rows: rows.length, people: false });
