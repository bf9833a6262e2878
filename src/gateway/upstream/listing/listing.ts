import { createHash, Hash } from 'node:crypto';
import { Pool } from 'undici';
import { readExactJson } from '../../../platform/json/exact-json';
import { isObject } from '../../../platform/json/is-object';
import { FailureCode, readEnvelopeStatus } from '../answers/answer';
import { decodedBy, decodersOf, isCodingFault } from '../transport/content-coding';
import { KeyRemover } from '../transport/key-remover';
import { failureOf } from '../transport/undici-adapter';
import { ListingSplitter, MalformedListing } from './listing-splitter';

/** The end of reading a long list. */
export interface Listing {
  /** Null if complete with a reported success. `rejected` without a reported success. */
  failure: FailureCode | 'rejected' | null;
  httpStatus: number | null;
  /** As received. */
  bytes: number;
  /** SHA-256 of the bytes as received, before decoding. Null if the body was incomplete. */
  sha256: Buffer | null;
}

interface ListingRequest {
  path: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: Buffer | null;
  timeoutMs: number;
  /** Ends the reading early. */
  signal: AbortSignal | undefined;
}

/**
 * Requests a list that may exceed memory, once. Passes the elements on in batches as they arrive, and pauses
 * the stream while a batch is processed. Only the end shows whether the batches were complete. Throws only
 * errors of `onBatch`.
 */
export async function streamListing(
  pool: Pool,
  { path, method, headers, body, timeoutMs, signal }: ListingRequest,
  keyRemover: KeyRemover,
  onBatch: (elements: unknown[]) => Promise<void>,
): Promise<Listing> {
  const sha256 = createHash('sha256');
  const listing: Listing = { failure: null, httpStatus: null, bytes: 0, sha256: null };
  const splitter = new ListingSplitter((text) => readExactJson(keyRemover.fromText(text)) as unknown[]);
  const deadline = AbortSignal.timeout(timeoutMs);
  const consumer = new BatchConsumer(onBatch);
  try {
    const response = await pool.request({
      path,
      method,
      headers,
      body,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    listing.httpStatus = response.statusCode;
    const decoders = decodersOf(response.headers['content-encoding']?.toString() ?? null);
    const refused = failureOfHead(response.statusCode) ?? (decoders ? null : 'unreadable');
    if (refused || !decoders) {
      response.body.on('error', () => undefined).destroy(); // An error after our own abort is expected.
      return { ...listing, failure: refused };
    }
    const received = countedInto(listing, sha256, response.body);
    for await (const chunk of decodedBy(decoders, received))
      for (const batch of splitter.push(chunk)) await consumer.consume(batch);
    return { ...listing, failure: failureAtEnd(splitter), sha256: sha256.digest() };
  } catch (error) {
    consumer.rethrow();
    if (error instanceof MalformedListing || isCodingFault(error))
      return { ...listing, failure: 'unreadable' };
    if (deadline.aborted) return { ...listing, failure: 'timeout' };
    if (signal?.aborted) return { ...listing, failure: 'stopped' };
    return { ...listing, failure: failureOf(error, listing.httpStatus === null ? 'waiting' : 'answering') };
  }
}

/** Counts and hashes the bytes as received. */
async function* countedInto(
  listing: Listing,
  sha256: Hash,
  body: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  for await (const chunk of body) {
    listing.bytes += chunk.length;
    sha256.update(chunk);
    yield chunk;
  }
}

/** Separates the errors of the consumer from those of the connection. */
class BatchConsumer {
  private failed: { error: unknown } | undefined;

  constructor(private readonly take: (elements: unknown[]) => Promise<void>) {}

  async consume(batch: unknown[]): Promise<void> {
    try {
      await this.take(batch);
    } catch (error) {
      this.failed = { error };
      throw error;
    }
  }

  rethrow(): void {
    if (this.failed) throw this.failed.error;
  }
}

/** Like `toAnswer`, without the text of a rejection. */
function failureOfHead(status: number): Listing['failure'] {
  if (status >= 300 && status < 400) return 'redirect';
  if (status === 408) return 'timeout';
  if (status >= 400 && status < 500) return 'rejected';
  return status >= 500 ? 'server_error' : null;
}

function failureAtEnd(splitter: ListingSplitter): Listing['failure'] {
  const envelope = splitter.end();
  const claimed = isObject(envelope) ? readEnvelopeStatus(envelope) : undefined;
  if (claimed === 'rejected') return 'rejected';
  return claimed === 'succeeded' && splitter.listed ? null : 'unreadable';
}
