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
import { goneSignal } from '../connections/gone';
import { restsBetweenTurns, ShareName } from './quotas';
import { SharesService } from './quotas.service';

const SHARE = 'payout-proxy:share';

/** Lets a request wait for its turn before its handler begins. */
@Injectable()
class TurnInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly shares: SharesService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { call } = http.getRequest<FastifyRequest>();
    const share = this.reflector.get<ShareName>(SHARE, context.getHandler());
    call.gone = goneSignal(http.getResponse<FastifyReply>());
    if (restsBetweenTurns(share)) call.restedMs = 0;
    return from(this.shares.takeTurn(share, holderOf(call), call.gone)).pipe(
      switchMap((end) => next.handle().pipe(finalize(() => end(call.restedMs)))),
    );
  }
}

/** Lets a request have one of the places of its key until its answer is complete. */
@Injectable()
class PlaceInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly shares: SharesService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { call } = http.getRequest<FastifyRequest>();
    const { raw } = http.getResponse<FastifyReply>();
    const give = this.shares.take(this.reflector.get<ShareName>(SHARE, context.getHandler()), holderOf(call));
    if (raw.closed) give();
    else raw.once('close', give);
    return next.handle();
  }
}

/** Declares that the streamed answers of a route count as a share of their key. */
export const HoldsPlace = (share: ShareName) =>
  applyDecorators(SetMetadata(SHARE, share), UseInterceptors(PlaceInterceptor));

/** Declares that the requests of a route take turns. `call.gone` cancels work whose caller has hung up. */
export const TakesTurn = (share: ShareName) =>
  applyDecorators(SetMetadata(SHARE, share), UseInterceptors(TurnInterceptor));
