import { Readable } from 'node:stream';
import { FastifyReply } from 'fastify';
import { CSV_TYPE } from './csv';

/** Answers with a CSV file that is sent while it is written. */
export function csvAnswer(reply: FastifyReply, filename: string, text: AsyncIterable<string>): Readable {
  void reply
    .header('content-type', CSV_TYPE)
    .header('content-disposition', `attachment; filename="${filename}"`);
  return Readable.from(text, { objectMode: false });
}
