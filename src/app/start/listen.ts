import { FastifyInstance } from 'fastify';
import { BACKLOG } from '../../http/connections/acceptors';
import { RunningConfig, StartError } from '../../platform/config/config';
import { codeOf } from '../../platform/errors/error-code';

/**
 * Listens on the configured address.
 * @throws StartError if this process cannot have the address.
 */
export async function listen(
  server: Pick<FastifyInstance, 'listen'>,
  { port, host }: Pick<RunningConfig, 'port' | 'host'>,
): Promise<string> {
  try {
    // Not app.listen: Nest would log a failure in words of its own.
    return await server.listen({ port, host, backlog: BACKLOG });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE')
      throw new StartError(`port ${port} is in use. Set PORT to another port, or to 0 for any free port.`);
    if (code === 'EACCES')
      throw new StartError(`this user may not listen on port ${port}. Set PORT to another port.`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new StartError('HOST must be an address of this machine.');
    throw error;
  }
}
