import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import { FastifyRequest } from 'fastify';
import { catchError, Observable } from 'rxjs';
import { Problem } from '../../errors/problem';
import { PreviewService } from './preview.service';

/** Of a preview, the faults that validation finds are no refusal but its answer. */
@Injectable()
export class PreviewInterceptor implements NestInterceptor {
  constructor(private readonly previews: PreviewService) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { call, body } = context.switchToHttp().getRequest<FastifyRequest>();
    if (call.previewOf === undefined) return next.handle();
    return next.handle().pipe(
      catchError((error: unknown) => {
        if (!(error instanceof Problem) || error.code !== 'invalid_request') throw error;
        return this.previews.preview(call, body, error.faults);
      }),
    );
  }
}
