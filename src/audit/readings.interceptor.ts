import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { FastifyRequest } from 'fastify';
import { concatMap, Observable } from 'rxjs';
import { ShownBy, SHOWS } from '../auth/shows';
import { ReadingsService } from './readings.service';

/** Records who reads the history, before what they read leaves. */
@Injectable()
export class ReadingsInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly readings: ReadingsService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const shownBy = this.reflector.get<ShownBy | 'itself' | undefined>(SHOWS, context.getHandler());
    if (shownBy === undefined || shownBy === 'itself') return next.handle();
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return next.handle().pipe(
      concatMap(async (answer: unknown) => {
        await this.readings.record(request, shownBy(answer));
        return answer;
      }),
    );
  }
}
