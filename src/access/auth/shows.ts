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

/** Describes what a response shows of the history, for the record of its reader. */
export interface Shown {
  /** Null if the number is not known when the response begins. */
  rows: number | null;
  /** The one call that was requested. */
  callId?: string;
  /** The calls on a page. */
  callIds?: string[];
  /** Other parameters of the URL, such as `{run_id}`. */
  about?: Record<string, string>;
  /** Whether it shows recipients or searched people, masked or not. */
  people: boolean;
  /** Whether the reader named people who are compared with the recipients. A search by recipient needs no mention. */
  compares?: boolean;
}

/** Returns the calls that a response shows. */
type ShownBy<Answer = unknown> = (answer: Answer) => Shown;

/** Records who reads the history. See src/history/access-log/readings.service.ts. */
export abstract class Readings {
  /**
   * Resolves once the reading is recorded. Nothing may be shown earlier.
   * @throws Problem `database_unavailable` if it cannot be recorded.
   */
  abstract record(request: FastifyRequest, shown: Shown): Promise<void>;
}

/** Records each reading before the response leaves. */
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
 * Declares that a route shows the history to somebody other than the caller of the calls. The reading is recorded
 * before the response leaves. If it cannot be recorded, nothing is shown.
 * @param by `itself` if the handler records the reading.
 */
export const Shows = <Answer>(by: ShownBy<Answer> | 'itself') =>
  applyDecorators(SetMetadata(SHOWS, by), ...(by === 'itself' ? [] : [UseInterceptors(ReadingsInterceptor)]));

export const showsCall: ShownBy<{ id: string }> = ({ id }) => ({ rows: 1, callId: id, people: true });

/** @param rows calls, or payouts of them. Several payouts may belong to one call. */
export function showsCalls(rows: { id: string }[]): Shown {
  return { rows: rows.length, callIds: [...new Set(rows.map(({ id }) => id))], people: rows.length > 0 };
}

/** For lists that name nobody. */
export const showsNobody = (rows: unknown[]): Shown => ({ rows: rows.length, people: false });
