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
import { FastifyReply, FastifyRequest } from 'fastify';
import { finalize, from, Observable, switchMap } from 'rxjs';
import { holderOf } from '../../access/auth/call';
import { disconnectSignal } from '../connections/caller-disconnected';
import { restsBetweenTurns, QuotaName } from './quotas';
import { QuotasService } from './quotas.service';

const QUOTA = 'payout-proxy:quota';

/** Lets a request wait for its turn before its handler begins. */
@Injectable()
class TurnInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly quotas: QuotasService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { call } = http.getRequest<FastifyRequest>();
    const quota = this.reflector.get<QuotaName>(QUOTA, context.getHandler());
    call.disconnected = disconnectSignal(http.getResponse<FastifyReply>());
    if (restsBetweenTurns(quota)) call.restedMs = 0;
    return from(this.quotas.takeTurn(quota, holderOf(call), call.disconnected)).pipe(
      switchMap((end) => next.handle().pipe(finalize(() => end(call.restedMs)))),
    );
  }
}

/** Lets a request have one of the slots of its key until its answer is complete. */
@Injectable()
class SlotInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly quotas: QuotasService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { call } = http.getRequest<FastifyRequest>();
    const { raw } = http.getResponse<FastifyReply>();
    const give = this.quotas.take(this.reflector.get<QuotaName>(QUOTA, context.getHandler()), holderOf(call));
    if (raw.closed) give();
    else raw.once('close', give);
    return next.handle();
  }
}

/** Declares that the streamed answers of a route count as a quota of their key. */
export const HoldsSlot = (quota: QuotaName) =>
  applyDecorators(SetMetadata(QUOTA, quota), UseInterceptors(SlotInterceptor));

/** Declares that the requests of a route take turns. `call.disconnected` cancels work without a caller. */
export const TakesTurn = (quota: QuotaName) =>
  applyDecorators(SetMetadata(QUOTA, quota), UseInterceptors(TurnInterceptor));
