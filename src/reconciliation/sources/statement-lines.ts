import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { codeOf } from '../../platform/errors/error-code';
import { SourceFault } from './source-read';

interface ParsedRow {
  record: string[];
  info: { lines: number };
}

interface StatementLine {
  /** First line of the row, from 1. */
  line: number;
  cells: string[];
}

/** A statement that cannot be read to its end. The message is a predicate of the file. */
export class BrokenStatement extends SourceFault {
  readonly failure = 'unreadable';
}

/** Maximum length of a line in bytes. An unclosed quote must not load the whole file into memory. */
const MAX_LINE_BYTES = 1_048_576;
const MAX_BYTES = 1_073_741_824;

/** Reads a CSV file as it arrives. It accepts RFC 4180 and the variants of spreadsheets. */
export class StatementLines {
  bytes = 0;
  private readonly hash = createHash('sha256');

  constructor(
    private readonly source: Readable,
    private readonly delimiter: string,
  ) {}

  /** Returns the SHA-256 of all bytes, once they have been read. */
  sha256(): Buffer {
    return this.hash.digest();
  }

  /**
   * Reads the lines, including the first and without empty ones.
   * @throws BrokenStatement
   */
  async *lines(): AsyncGenerator<StatementLine> {
    const parser = parse({
      bom: true,
      info: true,
      delimiter: this.delimiter,
      max_record_size: MAX_LINE_BYTES,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n'],
    });
    const feeding = pipeline(this.source, (bytes: AsyncIterable<Buffer>) => this.counted(bytes), parser);
    feeding.catch(() => undefined); // The parser ends with the same error.
    try {
      let returns = 0; // The parser counts a carriage return within a row as a line of its own.
      for await (const { record, info } of parser as AsyncIterable<ParsedRow>) {
        const text = record.join('');
        returns += text.split('\r').length - 1;
        const line = info.lines - returns - (text.split('\n').length - 1);
        if (record.length > 1 || record[0] !== '') yield { line, cells: record };
      }
      await feeding;
    } catch (error) {
      throw toBroken(error);
    }
  }

  private async *counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      this.bytes += chunk.length;
      if (this.bytes > MAX_BYTES) throw new BrokenStatement('is larger than 1 GiB; import it in parts');
      this.hash.update(chunk);
      yield chunk;
    }
  }
}

/** Converts an error of the parser, whose message quotes the file. */
function toBroken(error: unknown): unknown {
  const code = codeOf(error);
  const { lines } = error as { lines?: number };
  if (code === 'CSV_QUOTE_NOT_CLOSED') return new BrokenStatement('ends inside a quoted value');
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return new BrokenStatement(
      `has a line of more than 1 MiB, near line ${lines}: a quote may not be closed`,
    );
  }
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ABORT_ERR') {
    return new BrokenStatement('did not arrive completely');
  }
  return error;
}
