import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import type { Parser } from '../http/request';

/** Keeps supertest from parsing a response, so that its body is its text. */
export const asText: Parser<string> = (response, done) => {
  const stream = response as unknown as NodeJS.ReadableStream;
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => (text += chunk));
  stream.on('end', () => done(null, text));
};

export function readCsv(text: string) {
  return parse<Record<string, string>>(text, { columns: true, recordDelimiter: '\r\n' });
}

/** A row of an export as NDJSON. */
export type ExportLine = Record<string, string | number | boolean | null>;

/** Parses the rows of NDJSON. */
export const linesOf = (text: string) =>
  JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as ExportLine[];

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
