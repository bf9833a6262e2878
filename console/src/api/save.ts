import { raw, type RawHeaders } from './client';

export interface SaveProgress {
  bytes: number;
  /** Number of received lines, which is about the number of rows in CSV and NDJSON. */
  rows: number;
  /** Expected number of rows. Undefined if the proxy could not count them quickly. */
  total: number | undefined;
}

interface Options {
  signal?: AbortSignal | undefined;
  onProgress?: (progress: SaveProgress) => void;
  headers?: RawHeaders | undefined;
  /** Checks the file and its response headers before the file is saved. If it throws, nothing is saved. */
  check?: (file: Blob, headers: Headers) => Promise<unknown>;
}

/**
 * Downloads a file and saves it, with progress.
 * @throws ApiProblem, or the AbortError of `signal`. Nothing is saved then.
 */
export async function save(path: string, filename: string, options: Options = {}): Promise<void> {
  const { signal, headers, onProgress, check } = options;
  const response = await raw(path, { signal: signal ?? null, headers });
  const file = await readWhole(response, onProgress);
  await check?.(file, response.headers);
  signal?.throwIfAborted();
  keep(file, filename);
}

async function readWhole(response: Response, onProgress: Options['onProgress']): Promise<Blob> {
  const total = response.headers.get('x-total-count');
  const progress: SaveProgress = { bytes: 0, rows: 0, total: total === null ? undefined : Number(total) };
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = response.body?.getReader();
  onProgress?.({ ...progress });
  for (;;) {
    const { done = true, value } = (await reader?.read().catch(brokeOff)) ?? {};
    if (done || !value) break;
    parts.push(value);
    progress.bytes += value.length;
    for (const byte of value) if (byte === 10) progress.rows += 1;
    onProgress?.({ ...progress });
  }
  return new Blob(parts, { type: response.headers.get('content-type') ?? '' });
}

function brokeOff(error: unknown): never {
  if (error instanceof Error && error.name === 'AbortError') throw error;
  throw new Error('The download was interrupted. The file was discarded. Try again.');
}

/** Hands a file to the browser to save. */
export function keep(file: Blob, filename: string): void {
  const url = URL.createObjectURL(file);
  const link = Object.assign(document.createElement('a'), { href: url, download: filename });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // The browser has read it by then.
}
