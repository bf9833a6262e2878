import { FastifyAdapter } from '@nestjs/platform-fastify';
import { FastifyReply } from 'fastify';
import { Reply } from './reply';

/**
 * Puts a Reply on the wire as it is: Nest would answer with a status and a serialisation of its own. No interceptor does
 * this, because one alone, even if it does nothing, sends every request through Observables: a tenth of what a request costs.
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
