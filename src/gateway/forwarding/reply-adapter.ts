import { FastifyAdapter } from '@nestjs/platform-fastify';
import { FastifyReply } from 'fastify';
import { Reply } from './reply';

/**
 * Sends a Reply unchanged. Nest would choose the status and the serialisation itself. An interceptor would send every
 * request through Observables, which takes a tenth of a request's time.
 */
export class ReplyAdapter extends FastifyAdapter {
  override reply(response: FastifyReply, result: unknown, status?: number) {
    if (!(result instanceof Reply)) return super.reply(response, result, status);
    void response.status(result.status).header('content-type', result.contentType);
    for (const [name, value] of Object.entries(result.headers)) {
      if (value !== undefined) void response.header(name, value);
    }
    return response.send(result.body);
  }
}
