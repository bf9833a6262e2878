import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { map, Observable } from 'rxjs';
import { Reply } from './reply';

/** Puts a Reply on the wire as it is: Nest would answer with a status and a serialisation of its own. */
@Injectable()
export class ReplyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      map((result: unknown) => {
        if (!(result instanceof Reply)) return result;
        void response.status(result.status).header('content-type', result.contentType);
        for (const [name, value] of Object.entries(result.headers)) {
          if (value !== undefined) void response.header(name, value);
        }
        return result.body;
      }),
    );
  }
}
